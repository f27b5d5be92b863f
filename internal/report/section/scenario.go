// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/digits"
)

// scenario is a workload, with its measurements. Arms are compared within a scenario, never
// across.
type scenario struct {
	v1alpha1.Scenario
	// arms of the experiment.
	arms []arm
	// runs behind the page's numbers.
	runs journal
	// traces of all runs, by run.
	traces map[string]*Trace
	// marks of all runs.
	marks []mark
	// metrics that the runs have, sorted.
	metrics []metric.Metric
	cells   map[place]*values
	// confidence of the intervals, as a share.
	confidence float64
}

// armsInTables are the arms in the tables of servers. The A/A control would repeat the baseline's
// column; the CSV has it.
func (s *scenario) armsInTables() []arm {
	return slices.DeleteFunc(slices.Clone(s.arms), func(one arm) bool { return one.Twin })
}

// place identifies values.
type place struct{ metric, arm string }

// addRun adds the values of a valid run.
func (s *scenario) addRun(run *v1alpha1.PerfRun, reader *observation.Reader) error {
	if slices.ContainsFunc(s.validRuns(run.Spec.Arm), func(other *v1alpha1.PerfRun) bool { return other != run && other.Spec.Block == run.Spec.Block }) {
		return fmt.Errorf("%w: run %q: block %d of arm %q under scenario %q has two valid runs", ErrInput, run.Name, run.Spec.Block, run.Spec.Arm, s.Name)
	}
	trace := cmp.Or(s.traces[run.Name], emptyTrace)
	reader.Read(run.Name, trace.allObservations(run), func(of *v1alpha1.Observation, value float64) error {
		return s.add(run, of, value)
	})
	for _, request := range trace.requests {
		// The run's own observation takes precedence.
		_ = s.add(run, &v1alpha1.Observation{Metric: request.metric, Unit: metric.UnitMilliseconds}, request.value)
	}
	return nil
}

// errDuplicate means that a run has two values of one metric.
var errDuplicate = errors.New("the run has two values")

func (s *scenario) add(run *v1alpha1.PerfRun, of *v1alpha1.Observation, value float64) error {
	at := place{of.Metric, run.Spec.Arm}
	found := s.cells[at]
	if found == nil {
		found = &values{unit: of.Unit, confidence: s.confidence}
		s.cells[at] = found
	}
	if slices.Contains(found.blocks, run.Spec.Block) {
		return errDuplicate
	}
	found.blocks = append(found.blocks, run.Spec.Block)
	found.numbers = append(found.numbers, value)
	found.samples += of.Samples
	return nil
}

// finish lists the metrics and gives each the scale of its comparison, so that tables show the
// centers behind the deltas.
func (s *scenario) finish() {
	names := map[string]bool{}
	for at := range s.cells {
		names[at.metric] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		m := metric.Parse(name)
		s.metrics = append(s.metrics, m)
		own := s.allValues(name)
		var numbers []float64
		for _, found := range own {
			numbers = append(numbers, found.numbers...)
		}
		scale := comparison.ChooseScale(s.unit(name), numbers)
		if m.IsSlope() {
			// A change is not a ratio, even if it happens to be positive in every run.
			scale = comparison.Difference
		}
		for _, found := range own {
			found.scale = scale
		}
		setPlaces(own, fewestPlaces(own))
	}
}

// allValues are the values of a metric, for all arms that have it.
func (s *scenario) allValues(metric string) []*values {
	var all []*values
	for _, arm := range s.arms {
		if found := s.at(metric, arm.Name); found != nil {
			all = append(all, found)
		}
	}
	return all
}

// display is the common format of a metric's centers.
func (s *scenario) display(metric string) display {
	return commonDisplay(s.unit(metric), s.allValues(metric))
}

// setPlaces sets the decimal places of values for every table and sentence, without zeros at the
// end of all of them, and returns the number of places.
func setPlaces(all []*values, places int) int {
	isZero := func(found *values) bool {
		return digits.Round(found.center(), places) == digits.Round(found.center(), places-1)
	}
	for places > 0 && len(all) > 0 && !slices.ContainsFunc(all, func(found *values) bool { return !isZero(found) }) {
		places--
	}
	for _, found := range all {
		found.places = places
	}
	return places
}

// fewestPlaces is the number of places that the least certain center supports, or more, so that
// no denominator of a ratio reads as zero.
func fewestPlaces(all []*values) int {
	if len(all) == 0 {
		return 0
	}
	fewest := digits.MaxPlaces
	for _, found := range all {
		fewest = min(fewest, digits.Decimals(found.center(), found.halfWidth()))
	}
	for _, found := range all {
		if center := found.center(); found.scale == comparison.Ratio && digits.Round(center, fewest) == 0 {
			fewest = digits.FirstPlace(center)
		}
	}
	return fewest
}

// at finds the values of a metric; nil if no valid run has it.
func (s *scenario) at(metric, arm string) *values { return s.cells[place{metric, arm}] }

// unit of a metric, from any arm that has it.
func (s *scenario) unit(metric string) string {
	for _, arm := range s.arms {
		if found := s.at(metric, arm.Name); found != nil {
			return found.unit
		}
	}
	return ""
}

// validRuns are the valid runs of an arm.
func (s *scenario) validRuns(arm string) journal {
	return s.runs.only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Arm == arm })
}

// transactions of a load, in order.
func (s *scenario) transactions(load string) []string {
	var names []string
	for _, m := range s.metrics {
		if m.Of == load && m.IsTransaction() && !slices.Contains(names, m.Transaction) {
			names = append(names, m.Transaction)
		}
	}
	return names
}

// typicalRun is the valid run of an arm with the median value, among those with raw results.
func (s *scenario) typicalRun(arm, metric string) *v1alpha1.PerfRun {
	found := s.at(metric, arm)
	if found == nil {
		return nil
	}
	value := func(run *v1alpha1.PerfRun) float64 { return found.numbers[slices.Index(found.blocks, run.Spec.Block)] }
	traced := s.validRuns(arm).only(func(run *v1alpha1.PerfRun) bool {
		return s.traces[run.Name] != nil && run.Status.Timings.LoadStart != nil && slices.Contains(found.blocks, run.Spec.Block)
	})
	if len(traced) == 0 {
		return nil
	}
	slices.SortStableFunc(traced, func(a, b *v1alpha1.PerfRun) int { return cmp.Compare(value(a), value(b)) })
	return traced[(len(traced)-1)/2]
}

// values of one metric, arm and scenario, one per block, in the order of blocks.
type values struct {
	unit       string
	confidence float64
	blocks     []int32
	numbers    []float64
	samples    int64
	// scale is the metric's, places is the number of decimal places in texts; both are the same
	// for all arms.
	scale  comparison.Scale
	places int
}

// center is the value of an arm: the geometric mean of its runs if the metric is compared as a
// ratio, otherwise their mean.
func (v *values) center() float64 {
	if v == nil || len(v.numbers) == 0 {
		return math.NaN()
	}
	return v.scale.Center(v.numbers)
}

// shareText is the center of a share in percent, with one decimal place at most.
func (v *values) shareText() string {
	if v == nil || len(v.numbers) == 0 {
		return digits.Dash
	}
	return digits.Fixed(v.center(), min(v.places, 1))
}

// scaledTo converts to the unit of a display.
func (v *values) scaledTo(d display) *values {
	scaled := *v
	scaled.unit, scaled.places, scaled.numbers = d.unit, d.places(v.places), slices.Clone(v.numbers)
	for i := range scaled.numbers {
		scaled.numbers[i] *= d.factor
	}
	return &scaled
}

// interval of the center; NaN with fewer than two runs.
func (v *values) interval() (low, high float64) {
	if v == nil || len(v.numbers) < 2 {
		return math.NaN(), math.NaN()
	}
	low, high = stats.Mean(v.scale.Transform(v.numbers)).Interval(v.confidence)
	if v.scale == comparison.Ratio {
		return math.Exp(low), math.Exp(high)
	}
	return low, high
}

// displayedInterval is NaN with fewer runs than a verdict needs.
func (v *values) displayedInterval() (low, high float64) {
	if len(v.numbers) < verdict.MinimumBlocks {
		return math.NaN(), math.NaN()
	}
	return v.interval()
}

// halfWidth of the center's interval.
func (v *values) halfWidth() float64 {
	low, high := v.interval()
	return (high - low) / 2
}

// peak is the maximum of all runs, because a mean of maxima is not a maximum.
func (v *values) peak() float64 { return slices.Max(v.numbers) }

// sum of all runs.
func (v *values) sum() float64 {
	sum := 0.0
	for _, number := range v.numbers {
		sum += number
	}
	return sum
}

// text formats the center.
func (v *values) text() string {
	if v == nil {
		return digits.Dash
	}
	return digits.Fixed(v.center(), v.places)
}

// textIn formats the center in a display's unit.
func (v *values) textIn(in display) string {
	if v == nil {
		return digits.Dash
	}
	return in.text(v.center(), v.places)
}

// textWithUnit formats the center with its unit.
func (v *values) textWithUnit() string {
	in := newDisplay(v.unit, v.center())
	if center := v.center(); v.unit == metric.UnitCount && digits.IsInteger(center) {
		return digits.Fixed(center, 0)
	}
	return withUnit(in.text(v.center(), v.places), in.unit)
}

// commonDisplay is the common format of centers.
func commonDisplay(unit string, all []*values) display {
	centers := make([]float64, len(all))
	for i, found := range all {
		centers[i] = found.center()
	}
	return newDisplay(unit, centers...)
}
