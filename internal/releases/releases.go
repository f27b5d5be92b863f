// SPDX-License-Identifier: Apache-2.0

// Package releases compares the measurements of an experiment with those of earlier releases.
// It finds where a metric changed, by how much, and what differs there. It is pure.
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

// ErrNoHistory means that there is no series.
var ErrNoHistory = errors.New("no history")

// ErrErrorRateTooSmall means that the error rate of one analysis of one series is smaller than
// permutations can resolve.
var ErrErrorRateTooSmall = errors.New("error rate too small for the permutation test")

// Options select the series and the error rate.
type Options struct {
	// Metrics, Arms and Scenarios by name. Empty: the primary metrics, the arms except the A/A
	// control, and the scenarios of the latest experiment.
	Metrics, Arms, Scenarios []string
	// ErrorRatePercent is the probability that any of the series is reported as changed
	// although none changed. 0: 5.
	ErrorRatePercent float64
	// Analyses is the number of analyses that share the error rate in equal parts (Lan and
	// DeMets 1983, the linear rule): one after each release. 0: 1.
	Analyses int
}

const defaultErrorRatePercent = 5

// Point has the measurements of one experiment.
type Point struct {
	// Release is the experiment's annotation perflab.dev/release, in one line that fits a
	// table, or its name.
	Release, Experiment, Namespace string
	// Time when the first load started.
	Time time.Time
	// Values of the runs of complete blocks, in the metric's unit.
	Values []float64
	// Center of the values, and its 95 % interval over the runs; NaN for one run.
	Center, Low, High float64

	measurements *Measurements
	// armIndex is the index of the series' arm in measurements.
	armIndex int
}

// Change is a point where a series changes.
type Change struct {
	// At is the index of the first point after the change.
	At int
	// Delta compares the points from here to the next change with those since the previous
	// change, with its 95 % interval: in percent on the ratio scale, else in the unit.
	Delta, Low, High float64
	// P of the permutation test that detected the change.
	P float64
	// Verdict is Better, Worse, Equivalent for a change within the margin of the latest
	// experiment, or None if the metric's direction is unknown.
	Verdict verdict.Verdict
	// Differences describes what differs between the previous point and At.
	Differences []string
}

// Series is a metric of an arm under a scenario.
type Series struct {
	Scenario, Metric, Unit, Arm string
	Scale                       comparison.Scale
	Points                      []Point
	Changes                     []Change
}

// History has the series of all releases.
type History struct {
	Series []Series
	// ErrorRatePercent of all series together, over all Analyses.
	ErrorRatePercent float64
	Analyses         int
	// Notes describe what is omitted.
	Notes []string
}

// errorRate of one analysis of one series.
func (h *History) errorRate() float64 {
	return h.ErrorRatePercent / 100 / float64(len(h.Series)) / float64(h.Analyses)
}

// Regressed returns the series whose last change is Worse.
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

// NewHistory sorts the experiments by time, collects the values of their runs in series and
// detects changes. It fails with ErrNoHistory if no experiment has a complete block or a
// selected series, and with ErrErrorRateTooSmall.
func NewHistory(measured []Measurements, options Options) (*History, error) {
	history := &History{ErrorRatePercent: cmp.Or(options.ErrorRatePercent, defaultErrorRatePercent), Analyses: cmp.Or(options.Analyses, 1)}
	all := history.selectPoints(measured)
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no experiment has a complete block", ErrNoHistory)
	}
	last := all[len(all)-1]
	for _, wanted := range selectSeries(last, options) {
		if series, found := history.newSeries(wanted, all); found {
			history.Series = append(history.Series, series)
		}
	}
	if len(history.Series) == 0 {
		return nil, fmt.Errorf("%w: no valid run has these metrics, scenarios and arms", ErrNoHistory)
	}
	if rate := history.errorRate(); rate < minErrorRate {
		return nil, fmt.Errorf("%w: %g %% for %d series and %d analyses: select fewer series or increase the rate", ErrErrorRateTooSmall, history.ErrorRatePercent, len(history.Series), history.Analyses)
	}
	return history, history.detectChanges(last.analysisQuestion())
}

// detectChanges analyzes the series in parallel.
func (h *History) detectChanges(question analysisplan.Question) error {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range h.Series {
		all.Go(func() error { return h.Series[i].detectChanges(question, h.errorRate()) })
	}
	return all.Wait()
}

// selectPoints returns the experiments with a complete block, sorted by time. It adds a note
// for each of the others.
func (h *History) selectPoints(measured []Measurements) []*Measurements {
	var all []*Measurements
	for i := range measured {
		one := &measured[i]
		if !one.HasCompleteBlock() {
			h.addNote("%q is omitted: it has no complete block", one.Name)
			continue
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b *Measurements) int { return a.Began.Compare(b.Began) })
	h.noteExternalTools(all)
	return all
}

// noteExternalTools adds a note for each tool whose results were imported.
func (h *History) noteExternalTools(all []*Measurements) {
	by := map[string][]string{}
	for _, one := range all {
		if one.Tool != "" {
			by[one.Tool] = append(by[one.Tool], strconv.Quote(one.Name))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(by)) {
		h.addNote("%s %s measured elsewhere by %s: PerfLab did not observe the environment", prose.Enumerate(by[tool]), prose.Verb(len(by[tool]), "was", "were"), tool)
	}
}

func (h *History) addNote(format string, values ...any) {
	if sentence := fmt.Sprintf(format, values...); !slices.Contains(h.Notes, sentence) {
		h.Notes = append(h.Notes, sentence)
	}
}

// seriesKey identifies a series.
type seriesKey struct {
	scenario    v1alpha1.Scenario
	metric, arm string
}

// selectSeries returns the selected series in the order of the latest experiment.
func selectSeries(last *Measurements, options Options) []seriesKey {
	metrics := options.Metrics
	if len(metrics) == 0 {
		metrics = last.Question.Primary
	}
	var wanted []seriesKey
	for i := range last.Scenarios {
		scenario := last.Scenarios[i].Declared
		if len(options.Scenarios) > 0 && !slices.Contains(options.Scenarios, scenario.Name) {
			continue
		}
		for _, metric := range metrics {
			for _, arm := range last.Arms {
				if slices.Contains(options.Arms, arm.Name) || len(options.Arms) == 0 && !arm.Twin {
					wanted = append(wanted, seriesKey{scenario, metric, arm.Name})
				}
			}
		}
	}
	return wanted
}

// newSeries collects the points of the experiments that declare the same scenario.
func (h *History) newSeries(wanted seriesKey, all []*Measurements) (Series, bool) {
	made := Series{Scenario: wanted.scenario.Name, Metric: wanted.metric, Arm: wanted.arm}
	for _, one := range all {
		scenario := one.scenario(made.Scenario)
		if scenario == nil {
			continue
		}
		if !equality.Semantic.DeepEqual(scenario.Declared, wanted.scenario) {
			h.addNote("%q is omitted: it declares a different scenario %q", one.Name, made.Scenario)
			continue
		}
		arm := one.armIndex(made.Arm)
		values, unit := scenario.values(made.Metric, arm)
		switch {
		case len(values) == 0 && arm >= 0 && one.OmittedMetrics > 0:
			h.addNote("%q omits %s because of their size, possibly %s", one.Name, prose.Counted(one.OmittedMetrics, "metric"), made.Metric)
			continue
		case len(values) == 0:
			continue
		case len(made.Points) == 0:
			made.Unit = unit
		case made.Unit != unit:
			h.addNote("%q is omitted: it measured %s in %q, others in %q", one.Name, made.Metric, unit, made.Unit)
			continue
		}
		made.Points = append(made.Points, one.newPoint(arm, values))
	}
	if len(made.Points) == 0 {
		return made, false
	}
	if more := len(made.Points) - MaxPoints; more > 0 {
		made.Points = made.Points[more:]
		h.addNote("the first %d of %d points are omitted: the limit is %d", more, more+MaxPoints, MaxPoints)
	}
	made.summarize()
	return made, true
}

func (m *Measurements) newPoint(arm int, values []float64) Point {
	return Point{Release: m.Release, Experiment: m.Name, Namespace: m.Namespace, Time: m.Began, Values: values, measurements: m, armIndex: arm}
}

// summarize chooses the scale of all points and computes the center of each.
func (s *Series) summarize() {
	var all []float64
	for i := range s.Points {
		all = append(all, s.Points[i].Values...)
	}
	s.Scale = comparison.ChooseScale(s.Unit, all)
	for i := range s.Points {
		point := &s.Points[i]
		point.Center = s.Scale.Center(point.Values)
		low, high := stats.Mean(s.Scale.Transform(point.Values)).Interval(confidence)
		point.Low, point.High = s.unscale(low), s.unscale(high)
	}
}

const confidence = 0.95

// unscale converts a value on the scale to the metric's unit.
func (s *Series) unscale(scaled float64) float64 {
	if s.Scale == comparison.Ratio {
		return math.Exp(scaled)
	}
	return scaled
}

// detectChanges finds the points where the series changes.
func (s *Series) detectChanges(question analysisplan.Question, errorRate float64) error {
	points := make([]changepoint.Point, len(s.Points))
	for i := range s.Points {
		points[i].Values = s.Scale.Transform(s.Points[i].Values)
	}
	found, err := changepoint.Find(points, changepoint.Options{ErrorRate: errorRate, Permutations: permutationCount(errorRate)})
	if err != nil {
		return fmt.Errorf("detecting changes of %s in %q under %q: %w", s.Metric, s.Arm, s.Scenario, err)
	}
	for _, change := range found {
		low, high := change.Delta.Interval(confidence)
		s.Changes = append(s.Changes, Change{
			At: change.At, P: change.P,
			Delta: s.Scale.Display(change.Delta.Value), Low: s.Scale.Display(low), High: s.Scale.Display(high),
			Verdict: s.verdict(question, &change), Differences: s.differences(change.At),
		})
	}
	return nil
}

const (
	// MaxPoints limits the points of a series to the newest: the computation is quadratic.
	MaxPoints = 300
	// maxPermutations take seconds. minErrorRate is the smallest rate that they resolve.
	maxPermutations = 99_999
	minErrorRate    = 1e-4
)

// permutationCount is large enough that twenty permutations may be as extreme as a change at
// the edge of its half of the rate. This determines the p-value to within a quarter, except at
// the smallest rates.
func permutationCount(errorRate float64) int {
	const reached, least = 2 * 20, 999
	return min(max(least, int(math.Ceil(reached/errorRate))-1), maxPermutations)
}

// verdict on a detected change: its direction, if it exceeds the margin.
func (s *Series) verdict(question analysisplan.Question, change *changepoint.Change) verdict.Verdict {
	low, high := s.Scale.Margin(float64(question.MarginPercent), s.unscale(change.Before))
	direction := question.Direction(s.Metric, s.Unit)
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

// MinPoints is the number of points that a series needs to show a change in its middle at an
// error rate: fewer points have too few permutations.
func MinPoints(errorRate float64) int {
	const most = 1000
	for points := 4; points < most; points++ {
		half := points / 2
		orders := math.Exp(logFactorial(points) - logFactorial(half) - logFactorial(points-half))
		// The mirror image of a step is as extreme, and steps have half of the rate.
		if 2/orders <= errorRate/2 {
			return points
		}
	}
	return most
}

func logFactorial(n int) float64 {
	value, _ := math.Lgamma(float64(n) + 1)
	return value
}
