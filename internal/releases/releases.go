// SPDX-License-Identifier: Apache-2.0

// Package releases sets what experiments measured beside what was measured of
// earlier releases, and says where a metric changed, by how much, and what
// differs there. It is pure.
package releases

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/changepoint"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/text/prose"
)

// ErrNothing says that there is no series to tell of.
var ErrNothing = errors.New("there is no history")

// ErrTooFine says that the error rate of one look at one series is smaller than
// permutations can tell.
var ErrTooFine = errors.New("permutations cannot show so small an error rate")

// Options say what is looked at, and how sure one wants to be.
type Options struct {
	// Metrics, Arms and Scenarios by name. Empty: the primary metrics, the arms
	// but a twin, and the scenarios of the experiment that was measured last.
	Metrics, Arms, Scenarios []string
	// ErrorRatePercent is the chance that of all series together, if nothing
	// changed in any, one is told to have changed. 0: 5.
	ErrorRatePercent float64
	// Looks among which that chance is shared, in equal parts (Lan and DeMets
	// 1983, the linear rule): as many as there will be, where one looks again
	// after each release. 0: 1.
	Looks int
}

const defaultErrorRatePercent = 5

// Point is what one experiment measured.
type Point struct {
	// Release is the experiment's annotation perflab.dev/release, in one line that fits
	// a table, or its name.
	Release, Experiment, Namespace string
	// Time at which its first load began.
	Time time.Time
	// Values of the runs of complete blocks, in the metric's unit.
	Values []float64
	// Center of the values, and its 95 % interval over the runs; NaN for one run.
	Center, Low, High float64

	measured *Measured
	// arm is the place of the series' arm among those measured.
	arm int
}

// Change is a place where a series changes.
type Change struct {
	// At is the index of the first point after it.
	At int
	// Delta of the points from here to the next change against those from the
	// change before, and its 95 % interval: percent on the ratio scale, else in
	// the unit.
	Delta, Low, High float64
	// P of the permutation test that found it.
	P float64
	// Verdict is Better, Worse, Equivalent for a change within the margin of the
	// experiment that was measured last, or None where the metric's direction is
	// unknown.
	Verdict verdict.Verdict
	// Differences are sentences on what differs between the point before and At.
	Differences []string
}

// Series is a metric of an arm under a scenario.
type Series struct {
	Scenario, Metric, Unit, Arm string
	Scale                       comparison.Scale
	Points                      []Point
	Changes                     []Change
}

// History is all that experiments tell of releases.
type History struct {
	Series []Series
	// ErrorRatePercent of all series together, over all Looks.
	ErrorRatePercent float64
	Looks            int
	// Notes are sentences on what was left out.
	Notes []string
}

// errorRate of one look at one series.
func (h *History) errorRate() float64 {
	return h.ErrorRatePercent / 100 / float64(len(h.Series)) / float64(h.Looks)
}

// Regressed are the series whose last change is Worse.
func (h *History) Regressed() []*Series {
	var worse []*Series
	for i := range h.Series {
		changes := h.Series[i].Changes
		if len(changes) > 0 && changes[len(changes)-1].Verdict == verdict.Worse {
			worse = append(worse, &h.Series[i])
		}
	}
	return worse
}

// Of puts the experiments in the order in which they were measured, and their
// runs' values into series. It fails with ErrNothing where none has a complete
// block, or none of what was asked for, and with ErrTooFine.
func Of(measured []Measured, options Options) (*History, error) {
	history := &History{ErrorRatePercent: cmp.Or(options.ErrorRatePercent, defaultErrorRatePercent), Looks: cmp.Or(options.Looks, 1)}
	all := history.inOrder(measured)
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no experiment has a complete block", ErrNothing)
	}
	last := all[len(all)-1]
	for _, wanted := range wantedOf(last, options) {
		if series, found := history.series(wanted, all); found {
			history.Series = append(history.Series, series)
		}
	}
	if len(history.Series) == 0 {
		return nil, fmt.Errorf("%w: no run that counts has any of these metrics under these scenarios in these arms", ErrNothing)
	}
	if rate := history.errorRate(); rate < finest {
		return nil, fmt.Errorf("%w: %g %% shared by %d series and %d looks; choose fewer of them, or a larger one", ErrTooFine, history.ErrorRatePercent, len(history.Series), history.Looks)
	}
	return history, history.find(last.asked())
}

// find looks for changes in all series, in as many at once as there are processors.
func (h *History) find(asked analysisplan.Question) error {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range h.Series {
		all.Go(func() error { return h.Series[i].find(asked, h.errorRate()) })
	}
	return all.Wait()
}

// inOrder leaves out what has no complete block, with a note.
func (h *History) inOrder(measured []Measured) []*Measured {
	var all []*Measured
	for i := range measured {
		one := &measured[i]
		if !one.IsPoint() {
			h.say("%q has no complete block and is left out", one.Name)
			continue
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b *Measured) int { return a.Began.Compare(b.Began) })
	h.sayElsewhere(all)
	return all
}

// sayElsewhere names, once for each tool, what PerfLab did not measure.
func (h *History) sayElsewhere(all []*Measured) {
	by := map[string][]string{}
	for _, one := range all {
		if one.Tool != "" {
			by[one.Tool] = append(by[one.Tool], strconv.Quote(one.Name))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(by)) {
		h.say("%s %s measured elsewhere by %s: PerfLab saw nothing of what they ran on", prose.Enumerate(by[tool]), prose.Verb(len(by[tool]), "was", "were"), tool)
	}
}

func (h *History) say(format string, values ...any) {
	if sentence := fmt.Sprintf(format, values...); !slices.Contains(h.Notes, sentence) {
		h.Notes = append(h.Notes, sentence)
	}
}

// name of a series.
type name struct {
	scenario    v1alpha1.Scenario
	metric, arm string
}

// wantedOf are the series asked for, in the order of the experiment measured last.
func wantedOf(last *Measured, options Options) []name {
	metrics := options.Metrics
	if len(metrics) == 0 {
		metrics = last.Question.Primary
	}
	var wanted []name
	for i := range last.Scenarios {
		scenario := last.Scenarios[i].Declared
		if len(options.Scenarios) > 0 && !slices.Contains(options.Scenarios, scenario.Name) {
			continue
		}
		for _, metric := range metrics {
			for _, arm := range last.Arms {
				if slices.Contains(options.Arms, arm.Name) || len(options.Arms) == 0 && !arm.Twin {
					wanted = append(wanted, name{scenario, metric, arm.Name})
				}
			}
		}
	}
	return wanted
}

// series gathers the points of experiments that loaded the scenario alike.
func (h *History) series(wanted name, all []*Measured) (Series, bool) {
	made := Series{Scenario: wanted.scenario.Name, Metric: wanted.metric, Arm: wanted.arm}
	for _, one := range all {
		scenario := one.scenario(made.Scenario)
		if scenario == nil {
			continue
		}
		if !equality.Semantic.DeepEqual(scenario.Declared, wanted.scenario) {
			h.say("%q declares scenario %q differently: its numbers are not of the same load and are left out", one.Name, made.Scenario)
			continue
		}
		arm := one.arm(made.Arm)
		values, unit := scenario.values(made.Metric, arm)
		switch {
		case len(values) == 0 && arm >= 0 && one.LeftOut > 0:
			h.say("%q is kept without %s, which would have been too much: %s may have been among them", one.Name, prose.Counted(one.LeftOut, "metric"), made.Metric)
			continue
		case len(values) == 0:
			continue
		case len(made.Points) == 0:
			made.Unit = unit
		case made.Unit != unit:
			h.say("%q measured %s in %q, others in %q: it is left out", one.Name, made.Metric, unit, made.Unit)
			continue
		}
		made.Points = append(made.Points, one.point(arm, values))
	}
	if len(made.Points) == 0 {
		return made, false
	}
	if more := len(made.Points) - MostPoints; more > 0 {
		made.Points = made.Points[more:]
		h.say("the first %d of %d points are left out: changes are sought among %d", more, more+MostPoints, MostPoints)
	}
	made.describe()
	return made, true
}

func (m *Measured) point(arm int, values []float64) Point {
	return Point{Release: m.Release, Experiment: m.Name, Namespace: m.Namespace, Time: m.Began, Values: values, measured: m, arm: arm}
}

// describe chooses the scale of all points, and gives each its center.
func (s *Series) describe() {
	var all []float64
	for i := range s.Points {
		all = append(all, s.Points[i].Values...)
	}
	s.Scale = comparison.ScaleOf(s.Unit, all)
	for i := range s.Points {
		point := &s.Points[i]
		point.Center = s.Scale.Center(point.Values)
		low, high := stats.Mean(s.Scale.Of(point.Values)).Interval(confidence)
		point.Low, point.High = s.plain(low), s.plain(high)
	}
}

const confidence = 0.95

// plain brings a value on the scale back to the metric's unit.
func (s *Series) plain(scaled float64) float64 {
	if s.Scale == comparison.Ratio {
		return math.Exp(scaled)
	}
	return scaled
}

// find looks for the places where the series changes.
func (s *Series) find(asked analysisplan.Question, errorRate float64) error {
	points := make([]changepoint.Point, len(s.Points))
	for i := range s.Points {
		points[i].Values = s.Scale.Of(s.Points[i].Values)
	}
	found, err := changepoint.Find(points, changepoint.Options{ErrorRate: errorRate, Permutations: permutations(errorRate)})
	if err != nil {
		return fmt.Errorf("looking for changes of %s in %q under %q: %w", s.Metric, s.Arm, s.Scenario, err)
	}
	for _, change := range found {
		low, high := change.Delta.Interval(confidence)
		s.Changes = append(s.Changes, Change{
			At: change.At, P: change.P,
			Delta: s.Scale.Told(change.Delta.Value), Low: s.Scale.Told(low), High: s.Scale.Told(high),
			Verdict: s.verdict(asked, &change), Differences: s.differences(change.At),
		})
	}
	return nil
}

const (
	// MostPoints of a series are looked at, the last ones: the time it takes grows with
	// their square.
	MostPoints = 300
	// mostPermutations take seconds, and finest is the rate that they still tell.
	mostPermutations = 99_999
	finest           = 1e-4
)

// permutations are enough that twenty of them may reach as far as a change at
// the edge of its half of the rate: its p-value is then known to within a quarter,
// but at the finest rates.
func permutations(errorRate float64) int {
	const reached, least = 2 * 20, 999
	return min(max(least, int(math.Ceil(reached/errorRate))-1), mostPermutations)
}

// verdict on a change that the permutation test found: its direction, if it is
// larger than what does not matter.
func (s *Series) verdict(asked analysisplan.Question, change *changepoint.Change) verdict.Verdict {
	low, high := s.Scale.Margin(float64(asked.MarginPercent), s.plain(change.Before))
	direction := asked.Direction(s.Metric, s.Unit)
	switch worse := change.Delta.Value > 0 == (direction == verdict.LowerIsBetter); {
	case change.Delta.Value > low && change.Delta.Value < high:
		return verdict.Equivalent
	case direction == verdict.UnknownDirection:
		return verdict.None
	case worse:
		return verdict.Worse
	}
	return verdict.Better
}

// Shortest is the number of points a series needs at least to show a change in its
// middle at an error rate: fewer can't be put in so many orders.
func Shortest(errorRate float64) int {
	const most = 1000
	for points := 4; points < most; points++ {
		half := points / 2
		orders := math.Exp(lgamma(points) - lgamma(half) - lgamma(points-half))
		// The mirror image of a step reaches as far, and steps have half of the rate.
		if 2/orders <= errorRate/2 {
			return points
		}
	}
	return most
}

func lgamma(n int) float64 {
	value, _ := math.Lgamma(float64(n) + 1)
	return value
}
