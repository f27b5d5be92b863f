// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/results"
	"perflab.dev/perflab/internal/verdict"
)

// recommendations say what the numbers support and what they don't.
func recommendations(r *record) section {
	made := section{ID: "recommendations", Title: "Recommendations"}
	var supported []item
	for _, arm := range r.arms {
		if !arm.Baseline && !arm.Twin {
			supported = append(supported, r.recommend(arm.Name)...)
		}
	}
	if len(supported) > 0 {
		made.Blocks = append(made.Blocks, heading("What the numbers support"), block{List: supported})
	}
	if doubts := r.doubts(); len(doubts) > 0 {
		made.Blocks = append(made.Blocks, heading("What they don't"), block{List: doubts})
	}
	if len(made.Blocks) == 0 {
		made.Blocks = append(made.Blocks, paragraph("Nothing was compared, so there is nothing to recommend."))
	}
	return made
}

// primaryOf are an arm's comparisons that decide.
func (r *record) primaryOf(arm string) []comparison.Comparison {
	var found []comparison.Comparison
	for _, c := range r.answer.Comparisons {
		if c.Primary && c.Arm == arm {
			found = append(found, c)
		}
	}
	return found
}

func (r *record) recommend(arm string) []item {
	primary := r.primaryOf(arm)
	if len(primary) == 0 {
		return nil
	}
	better, worse := differing(primary, verdict.Better), differing(primary, verdict.Worse)
	equivalent, inconclusive := differing(primary, verdict.Equivalent), differing(primary, verdict.Inconclusive)
	all := len(primary)
	var items []item
	switch {
	case equivalent == all:
		items = append(items, item{Verdict: string(verdict.Equivalent), Text: fmt.Sprintf(
			"%s can stand in for %s: none of the %s that decide differs by %s%s%% or more.", arm, r.baseline(), prose.Counted(all, "metric"), plain(r.answer.marginPercent), space)})
	case worse > 0 && better > 0:
		items = append(items, item{Text: fmt.Sprintf(
			"%s is a trade. Better: %s. Worse: %s. Which weighs more is for people to say.", arm, phrases(primary, verdict.Better), phrases(primary, verdict.Worse))})
	case worse > 0:
		items = append(items, item{Verdict: string(verdict.Worse), Text: fmt.Sprintf("Stay with %s rather than %s: %s got worse, and no metric that decides got better.", r.baseline(), arm, phrases(primary, verdict.Worse))})
	case better > 0:
		items = append(items, r.winner(arm, primary))
	}
	if inconclusive > 0 {
		items = append(items, item{Verdict: string(verdict.Inconclusive), Text: r.undecided(arm, primary)})
	}
	return items
}

// winner is an arm that got better; guarded metrics may take that back.
func (r *record) winner(arm string, primary []comparison.Comparison) item {
	verdicts := r.answer.ArmVerdicts(arms.Arm{Name: arm})
	better := phrases(primary, verdict.Better)
	if verdicts != nil && !verdicts.Wins {
		return item{Text: fmt.Sprintf("%s does not win. Better: %s. Yet guarded metrics got worse: %s.", arm, better, listed(verdicts.WorseGuards))}
	}
	return item{Verdict: string(verdict.Better), Text: fmt.Sprintf("Prefer %s to %s: %s got better, and no metric that decides or is guarded got worse.", arm, r.baseline(), better)}
}

func (r *record) undecided(arm string, primary []comparison.Comparison) string {
	most, hopeless := 0, false
	for _, c := range primary {
		if c.Verdict == verdict.Inconclusive {
			most = max(most, c.FurtherBlocks)
			hopeless = hopeless || c.FurtherBlocks == 0
		}
	}
	text := fmt.Sprintf("Don't decide on %s of %s yet: the runs can't tell it from %s.", phrases(primary, verdict.Inconclusive), arm, r.baseline())
	if len(r.answer.uncalibrated) > 0 {
		return text
	}
	if hopeless || most == 0 {
		return text + " More blocks alone would hardly settle it; find out what makes the runs differ so much."
	}
	return text + fmt.Sprintf(" Raising design.blocks by about %d, to %d, would settle it with a chance of 80%s%%, if effect and spread are as seen.",
		most, most+int(r.Experiment.Spec.Design.Blocks), space)
}

// phrases names the metrics with a verdict, by scenario where there are several.
func phrases(all []comparison.Comparison, of verdict.Verdict) string {
	const most = 4
	var named []string
	several := slices.ContainsFunc(all, func(c comparison.Comparison) bool { return c.Scenario != all[0].Scenario })
	for _, c := range all {
		if c.Verdict != of {
			continue
		}
		text := metric.Parse(c.Metric).Phrase()
		if several {
			text = metric.Parse(c.Metric).Under(c.Scenario)
		}
		named = append(named, text)
	}
	if more := len(named) - most; more > 0 {
		named = append(named[:most], fmt.Sprintf("%d more", more))
	}
	return listed(named)
}

// ofDesign finds warnings of a design that doubts tells in the past, now that it
// was followed.
var ofDesign = regexp.MustCompile(`\bdesign\.(blocks|order)\b`)

// doubts are the reasons to trust the verdicts less, or to ask otherwise.
func (r *record) doubts() []item {
	var sentences []string
	say := func(format string, values ...any) { sentences = append(sentences, fmt.Sprintf(format, values...)) }
	if len(r.answer.uncalibrated) > 0 {
		say("The experiment is not calibrated: %s is configured as %s and yet differs from it (see the noise floor). Every verdict is Inconclusive until the cause is found.", r.twin(), r.baseline())
	}
	if r.twin() == "" && len(r.arms) > 1 {
		say("There is no twin of the baseline, so the noise floor was not measured: nothing shows what this system makes of no difference at all. Add design.calibrate: true.")
	}
	for _, confounded := range r.confounded() {
		say("%s.", capital(confounded.Warning()))
	}
	if blocks := r.Experiment.Spec.Design.Blocks; blocks > 0 && blocks < verdict.MinimumBlocks {
		say("%s %s too few for a verdict, which takes %d: the deltas describe these runs and no others.", prose.Counted(blocks, "block"), prose.Verb(blocks, "is", "are"), verdict.MinimumBlocks)
	}
	if r.Experiment.Spec.Design.Order == v1alpha1.OrderFixed {
		say("The runs were done in a fixed order, in which drift looks like an effect. Use design.order: Randomized.")
	}
	if r.Experiment.Spec.Reset == v1alpha1.ResetNone {
		say("Modules ran on from one run to the next (reset: None), so a run may carry what the one before it left behind.")
	}
	sentences = append(sentences, r.lopsided()...)
	sentences = append(sentences, r.refused()...)
	sentences = append(sentences, r.saturated()...)
	sentences = append(sentences, r.warming()...)
	for _, warning := range slices.Concat(r.answer.Warnings, r.Experiment.Status.Warnings) {
		sentence := capital(strings.TrimSuffix(warning, ".")) + "."
		if !ofDesign.MatchString(warning) && !slices.Contains(sentences, sentence) {
			sentences = append(sentences, sentence)
		}
	}
	items := make([]item, 0, len(sentences))
	for _, sentence := range sentences {
		items = append(items, item{Text: sentence})
	}
	return items
}

// confounded arms, from the system that the runs carry.
func (r *record) confounded() []arms.Confounded {
	spec := r.Experiment.Spec
	if spec.SystemRef == nil {
		return arms.ConfoundedOf(&spec, spec.System)
	}
	// A run of the baseline carries what the PerfSystem was.
	for _, run := range r.journal {
		if run.Spec.Arm == r.baseline() && !setsAnything(&spec, r.baseline()) {
			return arms.ConfoundedOf(&spec, run.Spec.System)
		}
	}
	return nil
}

func setsAnything(spec *v1alpha1.PerfExperimentSpec, name string) bool {
	for _, arm := range spec.Arms {
		if arm.Name == name {
			return arm.Set != nil
		}
	}
	return true
}

// lopsided: attempts of some arms failed, those of others did not.
func (r *record) lopsided() []string {
	invalid := map[string]int{}
	total := 0
	for _, run := range r.journal {
		if run.Status.Phase == v1alpha1.RunInvalid {
			invalid[run.Spec.Arm]++
			total++
		}
	}
	const few = 3
	for arm, count := range invalid {
		if total >= few && count == total && len(r.arms) > 1 {
			return []string{fmt.Sprintf("All %d attempts that did not count were of %s. What is left of it may be its good days; see why they failed.", total, arm)}
		}
	}
	return nil
}

// refused: values that must not be compared, because requests failed.
func (r *record) refused() []string {
	var where []string
	for _, c := range r.answer.Comparisons {
		for _, warning := range c.Warnings {
			at := c.Arm + " under " + c.Scenario
			if c.Primary && strings.HasPrefix(warning, "not compared:") && !slices.Contains(where, at) {
				where = append(where, at)
			}
		}
	}
	if len(where) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Error shares differ for %s, so response times there are of other requests and are not compared.", listed(where))}
}

// warming: runs that count in which the system was still warming up after the
// warm-up.
func (r *record) warming() []string {
	var longest time.Duration
	count := 0
	for _, run := range r.journal {
		advised := time.Duration(0)
		for _, warning := range run.Status.Warnings {
			if own, is := results.WarmUpAdvised(warning); is && run.Status.Phase == v1alpha1.RunSucceeded {
				advised = max(advised, own)
			}
		}
		if advised > 0 {
			count++
		}
		longest = max(longest, advised)
	}
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("In %s response times still fell after the warm-up, so averages and percentiles hold some of it. A measurement.warmUp of %s would leave that out; let the loads last longer by as much.",
		prose.Counted(count, "run"), prose.Duration(longest))}
}

// busy is the use of a server, in percent, from which its queue, and not the
// arm, may be what is measured.
const busy = 90

func (r *record) saturated() []string {
	var sentences []string
	for _, scenario := range r.scenarios {
		for _, m := range r.metrics[scenario.Name] {
			isServer := m.Component == metric.Postgres || m.Component == metric.Kafka
			if !isServer || m.Resource != metric.CPU || m.Window != "" || m.Statistic == metric.Slope {
				continue
			}
			for _, arm := range r.arms {
				found := r.at(scenario.Name, m.Name, arm.Name)
				if found != nil && found.unit == metric.UnitPercent && found.mean() > busy {
					sentences = append(sentences, fmt.Sprintf("%s under %s in %s is %s: near its limit the server, not the setting, may be what is measured.",
						capital(m.Phrase()), scenario.Name, arm.Name, withUnit(found.shown(r.confidence()), found.unit)))
				}
			}
		}
	}
	return sentences
}
