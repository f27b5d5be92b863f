// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// faultTrial is a kind of experiment that compares the cost of a fault. The trial's values are
// the outages of its runs, in 1/400 of the base.
type faultTrial struct {
	trial
	// base is the outage of the baseline, in seconds.
	base float64
	// rate is the number of transactions per second, which arrive as a Poisson process.
	rate float64
	// stuck is the share of outages that are three times as long.
	stuck float64
	// dropsCensored excludes runs that do not recover, which is common practice.
	dropsCensored bool
	// statistic is the name of the compared statistic.
	statistic string
}

// Times of a simulated run, in seconds.
const (
	faultAt      = 30
	faultObserve = 60
	faultRuns    = faultAt + faultObserve + 5
)

// faultOutcome is the result of many experiments.
type faultOutcome struct {
	outcome
	// censored counts runs that do not recover.
	censored share
	// unanswered counts experiments without a comparison.
	unanswered share
}

func (o faultOutcome) plus(other faultOutcome) faultOutcome {
	return faultOutcome{o.outcome.plus(other.outcome), o.censored.plus(other.censored), o.unanswered.plus(other.unanswered)}
}

// once simulates the results of the runs of an experiment, observes them as perflab does, and
// compares the arms.
func (f faultTrial) once(random *rand.Rand) (faultOutcome, error) {
	var seen faultOutcome
	table := comparison.NewTable()
	for block, runs := range f.run(random) {
		for arm, value := range runs {
			outage := f.base * value / center
			if random.Float64() < f.stuck {
				outage *= 3
			}
			cost, censored, err := f.observe(outage, random)
			if err != nil {
				return seen, err
			}
			seen.censored.add(censored)
			if f.dropsCensored && censored {
				continue
			}
			err = table.Add(comparison.Observation{Block: strconv.Itoa(block), Arm: strconv.Itoa(arm), Scenario: "s", Metric: f.statistic, Unit: metric.UnitSeconds, Value: cost})
			if err != nil {
				return seen, fmt.Errorf("simulating faults: %w", err)
			}
		}
	}
	found, err := table.Compare(f.options())
	seen.unanswered.add(err != nil || len(found) == 0 || found[0].Verdict == verdict.None)
	falsely := false
	for i := range found {
		one := &found[i]
		if effect := f.effect(i + 1); effect == 0 {
			falsely = seen.count(one, 0, i == 0) || falsely
		} else {
			seen.first.add(one.Verdict == verdict.Worse)
		}
	}
	seen.anyDifferent.add(falsely)
	return seen, nil
}

// observe simulates the transactions of a run and returns its cost. A censored run does not
// recover.
func (f faultTrial) observe(outage float64, random *rand.Rand) (cost float64, censored bool, err error) {
	start := time.Unix(1_700_000_000, 0).UTC()
	p := payload.New("load", "run", "1", start)
	for second := range faultRuns {
		// up is the share of the second in which transactions succeed.
		up := 1 - math.Min(math.Max(math.Min(float64(second+1), faultAt+outage)-math.Max(float64(second), faultAt), 0), 1)
		for range poisson(f.rate*up, random) {
			p.Record("Search", payload.OK, start.Add(time.Duration(second)*time.Second), 100*time.Millisecond)
		}
		for range poisson(f.rate*(1-up), random) {
			p.Record("Search", payload.Error, start.Add(time.Duration(second)*time.Second), 100*time.Millisecond)
		}
	}
	p.End, p.Final = start.Add(faultRuns*time.Second), true
	begin, end := metav1.NewMicroTime(start.Add(faultAt*time.Second)), metav1.NewMicroTime(start.Add((faultAt+faultObserve)*time.Second))
	faults := []v1alpha1.RunFault{{Name: "lost", Begin: &begin, End: &end}}
	measured := map[string]results.Measured{"load": results.FromHistograms(p)}
	results.SetDisturbed(measured, faults)
	scenario := &v1alpha1.Scenario{Loads: []v1alpha1.Load{{Name: "load", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 1}}}}
	observations, sentences := results.ObserveFaults(scenario, measured, v1alpha1.Measurement{}, faults)
	for _, one := range observations {
		if one.Metric == metric.In(metric.Name("load", f.statistic), metric.AfterFault("lost")) {
			cost, err = decimal.Parse(one.Value)
			return cost, len(sentences) > 0, err
		}
	}
	return 0, false, fmt.Errorf("simulating faults: no %s in %d observations: %q", f.statistic, len(observations), sentences)
}

// poisson draws the number of events with Knuth's method, in parts small enough for it to be
// exact.
func poisson(mean float64, random *rand.Rand) int {
	const part = 30
	count := 0
	for ; mean > 0; mean -= part {
		limit, product := math.Exp(-math.Min(mean, part)), random.Float64()
		for product > limit {
			count++
			product *= random.Float64()
		}
	}
	return count
}

// faultLines are the lines of the table.
var faultLines = []struct {
	name   string
	change func(*faultTrial)
	// isPromised marks lines to which the promises apply.
	isPromised bool
}{
	{"outages of 10 s that spread by 20 %", func(*faultTrial) {}, true},
	{"of 2 s, less than the noise of the load", func(f *faultTrial) { f.base = 2 }, true},
	{"none", func(f *faultTrial) { f.base = 1e-6 }, true},
	{"that spread by 50 %", func(f *faultTrial) { f.cv = 0.5 }, true},
	{"a tenth three times as long", func(f *faultTrial) { f.stuck = 0.1 }, true},
	{"skewed", func(f *faultTrial) { f.noise, f.cv = skewed, 0.5 }, true},
	{"12 blocks", func(f *faultTrial) { f.blocks = 12 }, true},
	{"4 arms", func(f *faultTrial) { f.arms = 4 }, true},
	{"recovery time", func(f *faultTrial) { f.statistic = metric.RecoveryTime }, true},
	{"recovery time, a tenth never recovers", func(f *faultTrial) { f.statistic, f.base, f.stuck = metric.RecoveryTime, 25, 0.1 }, true},
	{"twice as long, lost time", func(f *faultTrial) { f.effects = []float64{1} }, false},
	{"twice as long, recovery time", func(f *faultTrial) { f.effects, f.statistic = []float64{1}, metric.RecoveryTime }, false},
	{"30 s and 60 s, recovery time", func(f *faultTrial) { f.base, f.effects, f.statistic = 30, []float64{1}, metric.RecoveryTime }, false},
	{"30 s and 60 s, without runs that don't recover", func(f *faultTrial) {
		f.base, f.effects, f.statistic, f.dropsCensored = 30, []float64{1}, metric.RecoveryTime, true
	}, false},
}

// faults simulates experiments with a fault.
func (s *suite) faults() error {
	header := "outages\tcoverage %\tfalse positives per experiment %\tdon't recover %\tfound Worse %\tno answer %"
	return s.table("Cost of a fault: 2 equal arms, 8 blocks, 20 transactions a second, observed for 60 s, except for", header, func(line func(string, ...any)) error {
		for i, of := range faultLines {
			trial := faultTrial{trial: trial{noise: normal, cv: 0.2, arms: 2, blocks: 8, marginPercent: 5}, base: 10, rate: 20, statistic: metric.LostTime}
			of.change(&trial)
			count := max(s.experiments/4, 1)
			found, err := repeat(count, s.seed<<24+uint64(i), trial.once, faultOutcome.plus)
			if err != nil {
				return err
			}
			line("%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f", of.name, found.covered.percent(), found.anyDifferent.percent(), found.censored.percent(), found.first.percent(), found.unanswered.percent())
			if by := (&suite{experiments: count}); of.isPromised {
				s.expect(found.covered.percent() >= leastCovered-by.slack(), "faults, %s: coverage %.1f %%", of.name, found.covered.percent())
				s.expect(found.anyDifferent.percent() <= mostWrong+by.chance(), "faults, %s: %.1f %% of experiments have a false positive", of.name, found.anyDifferent.percent())
			}
		}
		return nil
	})
}
