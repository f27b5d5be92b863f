// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"math"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

// wanted is the target power.
const wanted = 0.8

// Power is the statistical power of the design for a primary metric.
type Power struct {
	// Scenario and Metric of the piloted spread; empty if it is assumed for all.
	Scenario string `json:"scenario,omitempty"`
	Metric   string `json:"metric,omitempty"`
	// CVPercent is the coefficient of variation of runs of one arm within blocks, in
	// percent.
	CVPercent float64 `json:"cvPercent"`
	// Runs in the pilot; 0 if the spread is assumed.
	Runs int `json:"runs,omitempty"`
	// Family is the number of primary comparisons in the adjustment of p-values.
	Family int `json:"family"`
	// Blocks that these numbers assume.
	Blocks int32 `json:"blocks"`
	// DetectablePercent is the smallest slowdown with 80 % power; 0 if there is none.
	DetectablePercent float64 `json:"detectablePercent,omitempty"`
	// HalfWidthPercent is the expected half-width of intervals; 0 if there are none.
	HalfWidthPercent float64 `json:"halfWidthPercent,omitempty"`
	// BlocksForMargin give 80 % power for a slowdown of the margin; 0 if that takes more
	// than a thousand.
	BlocksForMargin int `json:"blocksForMargin,omitempty"`
	// IfAlike are the probabilities of verdicts on an arm that equals the baseline,
	// IfSlower on one that is slower by the margin.
	IfAlike  Chances `json:"ifAlike"`
	IfSlower Chances `json:"ifSlower"`
	// BlocksForVerdicts give either correct verdict with 80 % power; 0 if that takes more
	// than a thousand.
	BlocksForVerdicts int `json:"blocksForVerdicts,omitempty"`
	// BlocksForTarget give the half-width of design.target; 0 without a target, or if that
	// takes more than a thousand.
	BlocksForTarget int `json:"blocksForTarget,omitempty"`
	// Interim are the interim analyses of design.target.verdicts; the numbers above are for
	// the last.
	Interim *InterimAnalyses `json:"interimAnalyses,omitempty"`
}

// Chances are the probabilities of the verdicts, in percent.
type Chances struct {
	Equivalent   float64 `json:"equivalentPercent"`
	Apart        float64 `json:"betterOrWorsePercent"`
	Inconclusive float64 `json:"inconclusivePercent"`
}

func newChances(of stats.Chances) Chances {
	return Chances{100 * of.Equivalent, 100 * of.Apart, 100 * (1 - of.Equivalent - of.Apart)}
}

// String formats the probabilities in percent.
func (c Chances) String() string {
	return fmt.Sprintf("Equivalent %.0f %%, Better or Worse %.0f %%, Inconclusive %.0f %%", c.Equivalent, c.Apart, c.Inconclusive)
}

// InterimAnalyses are the first and the last one, and the mean number of blocks until the experiment stops:
// under no effect, and if each arm is slower by twice the margin.
type InterimAnalyses struct {
	First           int     `json:"first"`
	Last            int     `json:"last"`
	MeanBlocksAlike float64 `json:"meanBlocksAlike"`
	MeanBlocksApart float64 `json:"meanBlocksApart"`
}

// newInterimAnalyses returns the interim analyses of a design whose last one is given.
func newInterimAnalyses(design stats.Design, interim stats.InterimAnalyses, marginPercent int32) *InterimAnalyses {
	margin := float64(marginPercent)
	low, high := comparison.Ratio.Margin(margin, 1)
	plan := &InterimAnalyses{First: interim.First, Last: interim.Last}
	plan.MeanBlocksAlike, _ = design.MeanBlocks(interim, 0, low, high)
	plan.MeanBlocksApart, _ = design.MeanBlocks(interim, math.Log1p(2*margin/100), low, high)
	return plan
}

// String describes when an experiment stops.
func (l InterimAnalyses) String() string {
	return fmt.Sprintf("about %.0f blocks if no arm differs, %.0f if each is slower by twice the margin", l.MeanBlocksAlike, l.MeanBlocksApart)
}

// Spread is the variation of runs of one arm within blocks.
type Spread struct {
	Scenario, Metric string
	// CV is the coefficient of variation.
	CV float64
	// Runs that it is estimated from.
	Runs int
}

// Pilot estimates the spread of an experiment's primary metrics from earlier runs of any
// arms. It leaves out metrics without a ratio scale, which have no coefficient of
// variation.
func Pilot(spec *v1alpha1.PerfExperimentSpec, table *comparison.Table) []Spread {
	var found []Spread
	for _, scenario := range table.Scenarios() {
		for _, metric := range analysisplan.New(spec).Primary {
			series, measured := table.Series(scenario, metric, table.Arms())
			if !measured || series.Scale != comparison.Ratio {
				continue
			}
			if deviation := residualDeviation(series, len(table.Arms())); deviation > 0 {
				found = append(found, Spread{scenario, metric, deviation, len(series.Scaled)})
			}
		}
	}
	return found
}

// residualDeviation returns the standard deviation of the residuals of arms and blocks; for
// a single arm, that of its runs.
func residualDeviation(series comparison.Series, arms int) float64 {
	if arms > 1 {
		model, err := stats.FitBlocks(series.Scaled, arms, len(series.Blocks), series.Scaled[0].Arm)
		if err != nil || model.DegreesOfFreedom < 1 {
			return 0
		}
		return model.Deviation
	}
	values := make([]float64, 0, len(series.Scaled))
	for _, cell := range series.Scaled {
		values = append(values, cell.Value)
	}
	if len(values) < 2 {
		return 0
	}
	return stats.Describe(values).StandardDeviation
}

// powers returns the power for each piloted spread, or for the assumed one.
func powers(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, assumed Assumptions) []Power {
	family := familySize(spec, all)
	if family == 0 {
		return nil
	}
	spreads := assumed.Piloted
	if len(spreads) == 0 {
		spreads = []Spread{{CV: assumed.CV}}
	}
	var powers []Power
	for _, spread := range spreads {
		powers = append(powers, newPower(spec, len(all), family, spread))
	}
	return powers
}

func newPower(spec *v1alpha1.PerfExperimentSpec, arms, family int, spread Spread) Power {
	question := analysisplan.New(spec)
	design := stats.Design{
		Arms: arms, Blocks: int(spec.DesignOrDefault().Blocks), Deviation: spread.CV, Alpha: question.Alpha(), Family: family,
	}
	if question.Interim.Last > 0 {
		design.Blocks, design.Analysis = question.Interim.Last, question.Interim.At(question.Interim.Last)
	}
	power := Power{
		Scenario: spread.Scenario, Metric: spread.Metric, CVPercent: 100 * spread.CV, Runs: spread.Runs,
		Family: family, Blocks: int32(design.Blocks),
		DetectablePercent: effectPercent(design.Detectable(wanted)), HalfWidthPercent: effectPercent(design.HalfWidth()),
	}
	low, high := comparison.Ratio.Margin(float64(question.MarginPercent), 1)
	power.BlocksForMargin, _ = design.BlocksForEffect(high, wanted)
	power.BlocksForVerdicts, _ = design.BlocksForVerdicts(low, high, wanted)
	power.IfAlike, power.IfSlower = newChances(design.Chances(0, low, high)), newChances(design.Chances(high, low, high))
	if question.Interim.Last > 0 {
		power.Interim = newInterimAnalyses(design, question.Interim, question.MarginPercent)
	}
	if question.HalfWidthPercent > 0 {
		power.BlocksForTarget, _ = design.BlocksForHalfWidth(math.Log1p(float64(question.HalfWidthPercent) / 100))
	}
	return power
}

// effectPercent converts a log effect to percent; 0 if there is none.
func effectPercent(effect float64) float64 {
	if math.IsInf(effect, 0) {
		return 0
	}
	return 100 * math.Expm1(effect)
}

// familySize counts the primary comparisons: each primary metric in each scenario that has
// its load, for every arm except the baseline and its A/A control, and for every additional
// pair.
func familySize(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm) int {
	candidates := len(arms.Pairs(spec.Analysis.Comparisons, spec.Matrix, all))
	for _, arm := range all {
		if !arm.Baseline && !arm.Twin {
			candidates++
		}
	}
	family := 0
	for _, name := range analysisplan.New(spec).Primary {
		primary := metric.Parse(name)
		for _, scenario := range spec.Scenarios {
			if primary.IsServer() || hasLoad(scenario, primary.Of) {
				family += candidates
			}
		}
	}
	return family
}

func hasLoad(scenario v1alpha1.Scenario, name string) bool {
	for _, load := range scenario.Loads {
		if load.Name == name {
			return true
		}
	}
	return false
}

// Sentences describe the power of the design, at a margin in percent.
func (p Power) Sentences(margin int32) []string {
	spread := fmt.Sprintf("if runs of one arm spread by %.3g %%", p.CVPercent)
	if p.Runs > 0 {
		spread = fmt.Sprintf("in %s, whose %d piloted runs spread by %.3g %%", metric.DisplayName(p.Metric, p.Scenario), p.Runs, p.CVPercent)
	}
	found := fmt.Sprintf("%s can't detect an effect of any size, %s", prose.Counted(p.Blocks, "block"), spread)
	if p.DetectablePercent > 0 {
		found = fmt.Sprintf("%s %s an effect of %.1f %% or more with 80 %% power, %s; intervals are about ±%.1f %%",
			prose.Counted(p.Blocks, "block"), prose.Verb(p.Blocks, "detects", "detect"), p.DetectablePercent, spread, p.HalfWidthPercent)
	}
	takes := fmt.Sprintf("detecting an effect as large as the margin of %d %% takes more than a thousand blocks", margin)
	if p.BlocksForMargin > 0 {
		takes = fmt.Sprintf("detecting an effect as large as the margin of %d %% takes %s", margin, prose.Counted(p.BlocksForMargin, "block"))
	}
	if p.BlocksForTarget > 0 {
		takes += fmt.Sprintf(", intervals as narrow as design.target take about %d", p.BlocksForTarget)
	}
	if p.BlocksForVerdicts > 0 {
		takes += fmt.Sprintf("; showing equivalence as well takes %d", p.BlocksForVerdicts)
	}
	alike := fmt.Sprintf("if an arm does not differ: %s", p.IfAlike)
	slower := fmt.Sprintf("if an arm is slower by the margin: %s", p.IfSlower)
	if p.Interim != nil {
		return []string{found, takes, alike, slower, fmt.Sprintf("interim analyses after each block from block %d on stop the experiment at verdicts: %s", p.Interim.First, p.Interim)}
	}
	return []string{found, takes, alike, slower}
}
