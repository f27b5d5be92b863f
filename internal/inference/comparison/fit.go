// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
)

// fit is the model of one series on its scale.
type fit struct {
	scale    Scale
	baseline int
	// arms are the arms with runs, in order; blocks is the number of blocks with runs.
	arms   []int
	blocks int
	model  stats.BlockModel
	// runs are by arm, in the order of blocks, NaN if missing; plain as measured, scaled as fitted.
	plain, scaled map[int][]float64
	// place is the arm's number in the model.
	place map[int]int
	// uneven are the arms that spread more than the others, with the ratio.
	uneven map[int]float64
	// shared warnings apply to all arms, particular ones to an arm.
	shared     []Warning
	particular map[int][]Warning
}

func (s comparer) fit(observed *series) fit {
	result := fit{
		baseline: s.table.arms.number[s.options.Baseline],
		plain:    map[int][]float64{}, scaled: map[int][]float64{},
		place: map[int]int{}, particular: map[int][]Warning{},
		uneven: map[int]float64{},
	}
	blocks := s.collect(observed, &result)
	result.choose(observed.unit)
	var cells []stats.Cell
	for place, arm := range result.arms {
		result.place[arm] = place
		for block, value := range result.scaled[arm] {
			if !math.IsNaN(value) {
				cells = append(cells, stats.Cell{Arm: place, Block: block, Value: value})
			}
		}
	}
	if _, present := result.plain[result.baseline]; !present {
		result.shared = append(result.shared, Warning{CodeNoBaseline, "the baseline has no run of this metric"})
		result.baseline = -1
		return result
	}
	model, err := stats.FitBlocks(cells, len(result.arms), len(blocks), result.place[result.baseline])
	if err != nil {
		result.shared = append(result.shared, Warning{CodeNotFitted, err.Error()})
		result.baseline = -1
		return result
	}
	result.model = model
	result.listOutliers(cells, s.names(blocks))
	totals := blockTotals(cells, len(blocks))
	for _, arm := range result.arms {
		if times, found := result.unevenSpread(arm, totals); found {
			result.uneven[arm] = times
		}
	}
	return result
}

// collect copies the series' runs in order and lists the blocks with runs.
func (s comparer) collect(observed *series, result *fit) []int {
	var blocks []int
	for _, block := range s.blocks {
		for _, runs := range observed.runs {
			if block < len(runs) && runs[block].place != 0 {
				blocks = append(blocks, block)
				break
			}
		}
	}
	result.blocks = len(blocks)
	for _, arm := range s.arms {
		if arm >= len(observed.runs) || len(observed.runs[arm]) == 0 {
			continue
		}
		result.arms = append(result.arms, arm)
		values := make([]float64, len(blocks))
		for i, block := range blocks {
			values[i] = math.NaN()
			if block < len(observed.runs[arm]) && observed.runs[arm][block].place != 0 {
				values[i] = observed.runs[arm][block].value
			}
		}
		result.plain[arm] = values
	}
	return blocks
}

func (s comparer) names(blocks []int) []string {
	result := make([]string, len(blocks))
	for i, block := range blocks {
		result[i] = s.table.blocks.list[block]
	}
	return result
}

// choose selects the scale.
func (f *fit) choose(unit string) {
	f.scale = ChooseScale(unit, slices.Concat(slices.Collect(maps.Values(f.plain))...))
	if f.scale == Difference && unit != metric.UnitPercent {
		f.shared = append(f.shared, Warning{CodeNoLogarithms, "values at or below zero: compared as differences, not as ratios"})
	}
	for arm, values := range f.plain {
		f.scaled[arm] = f.scale.Transform(values)
	}
}

// effect returns the arm's effect, on the scale of the fit.
func (f *fit) effect(arm int) stats.Estimate {
	if f.baseline < 0 {
		return stats.Estimate{Value: math.NaN(), StandardError: math.NaN()}
	}
	return f.model.Effect(f.place[arm])
}

// differences to the baseline in the blocks with both.
func (f *fit) differences(arm int) []float64 {
	if f.baseline < 0 {
		return nil
	}
	var differences []float64
	for block, value := range f.scaled[arm] {
		if difference := value - f.scaled[f.baseline][block]; !math.IsNaN(difference) {
			differences = append(differences, difference)
		}
	}
	return differences
}

// center of an arm's runs; NaN without any.
func (f *fit) center(arm int) float64 {
	var values []float64
	for _, value := range f.plain[arm] {
		if !math.IsNaN(value) {
			values = append(values, value)
		}
	}
	return f.scale.Center(values)
}

// display converts an effect for users: percent, or the unit.
func (f *fit) display(effect float64) float64 { return f.scale.Display(effect) }

func (f *fit) warnings(arm int) []Warning {
	warnings := append([]Warning{}, f.shared...)
	warnings = append(warnings, f.particular[arm]...)
	if f.baseline >= 0 {
		warnings = append(warnings, f.particular[f.baseline]...)
	}
	return warnings
}

// unevenLevel is the p-value under which an arm's spread is reported to be larger than that of
// the rest.
const unevenLevel = 0.01

// blockTotal is the sum of the runs of a block.
type blockTotal struct{ sum, runs float64 }

func blockTotals(cells []stats.Cell, blocks int) []blockTotal {
	totals := make([]blockTotal, blocks)
	for _, cell := range cells {
		totals[cell.Block].sum += cell.Value
		totals[cell.Block].runs++
	}
	return totals
}

// unevenSpread returns the ratio of an arm's spread to that of the others; false unless the F test
// of its part of the residual, its differences to the mean of the others, against the rest is
// significant.
func (f *fit) unevenSpread(arm int, blocks []blockTotal) (float64, bool) {
	var differences, weights []float64
	for block, value := range f.scaled[arm] {
		if others := blocks[block].runs - 1; others > 0 && !math.IsNaN(value) {
			differences = append(differences, value-(blocks[block].sum-value)/others)
			weights = append(weights, others/(others+1))
		}
	}
	own := float64(len(differences) - 1)
	rest := float64(f.model.DegreesOfFreedom) - own
	if own < 2 || rest < 2 {
		return 0, false
	}
	ownSquares := stat.Variance(differences, weights) * (floats.Sum(weights) - 1)
	restSquares := f.model.Deviation*f.model.Deviation*float64(f.model.DegreesOfFreedom) - ownSquares
	if restSquares <= 0 {
		return 0, false
	}
	ratio := ownSquares / own / (restSquares / rest)
	return math.Sqrt(ratio), distuv.F{D1: own, D2: rest}.Survival(ratio) < unevenLevel
}

// spreadWarning warns that the pooled interval is too narrow for an arm that spreads more than the
// others, or whose baseline does, with the interval of its own differences.
func (f *fit) spreadWarning(arm int, differences []float64, confidence float64) (Warning, bool) {
	for _, suspect := range []struct {
		arm  int
		name string
	}{{arm, "the arm"}, {f.baseline, "the baseline"}} {
		if times, found := f.uneven[suspect.arm]; found {
			low, high := stats.Mean(differences).Interval(confidence)
			return NewWarning(CodeUnevenSpread, "the spread of %s is %.1f times that of the other arms, so the interval is too narrow; the two arms alone give %+.3g to %+.3g",
				suspect.name, times, f.display(low), f.display(high)), true
		}
	}
	return Warning{}, false
}

// outlying is the probability that a sound series lists any run.
const outlying = 0.01

// listOutliers names the runs that the model can hardly explain: those whose externally studentised
// residual is beyond the t quantile of 1 % over all runs (Cook and Weisberg 1982). They are not
// removed: only a person can distinguish a broken run from a rare one. The same leverage is assumed
// for all, which is exact for complete blocks.
func (f *fit) listOutliers(cells []stats.Cell, blocks []string) {
	degrees := float64(f.model.DegreesOfFreedom)
	if f.model.DegreesOfFreedom < 3 || f.model.Deviation == 0 {
		return
	}
	critical := stats.TQuantile(1-outlying/2/float64(len(cells)), f.model.DegreesOfFreedom-1)
	spread := f.model.Deviation * math.Sqrt(degrees/float64(len(cells)))
	for i, cell := range cells {
		internal := f.model.Residuals[i] / spread
		if room := degrees - internal*internal; room > 0 && math.Abs(internal)*math.Sqrt((degrees-1)/room) <= critical {
			continue
		}
		if math.IsNaN(internal) {
			continue
		}
		arm := f.arms[cell.Arm]
		whose := "the arm"
		if arm == f.baseline {
			whose = "the baseline"
		}
		f.particular[arm] = append(f.particular[arm], NewWarning(CodeOutlier, "outlier: the run of %s in block %q is %.1f standard deviations from the model", whose, blocks[cell.Block], internal))
	}
}
