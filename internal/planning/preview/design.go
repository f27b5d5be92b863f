// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// long is the duration from which a cheaper design is proposed: more than a working
	// day.
	long = 8 * time.Hour
	// shortest is the shortest window that is halved: garbage collections and checkpoints
	// come minutes apart.
	shortest = 5 * time.Minute
	// mostBlocks is the limit of declared blocks.
	mostBlocks = 100
)

// Design is one possible design: its power and its duration.
type Design struct {
	Blocks int32 `json:"blocks"`
	Runs   int   `json:"runs"`
	// Alone is the only primary metric; empty for the declared ones.
	Alone string `json:"alone,omitempty"`
	// Scenarios are those with that metric's load, if there are others.
	Scenarios []string `json:"scenarios,omitempty"`
	// Windows that are shorter than declared.
	Windows []ShorterWindow `json:"windows,omitempty"`
	// Family is the number of primary comparisons in the adjustment of p-values.
	Family int `json:"family"`
	// CVPercent is the coefficient of variation of the most variable metric; in shorter
	// windows, its upper bound.
	CVPercent float64 `json:"cvPercent"`
	// DetectablePercent is the smallest slowdown with 80 % power on every primary metric; 0
	// if there is none.
	DetectablePercent float64 `json:"detectablePercent,omitempty"`
	// Interim are interim analyses: Blocks, Runs and WallTime are then means under no effect.
	Interim *InterimAnalyses `json:"interimAnalyses,omitempty"`
	// WallTime is the estimate for all runs.
	WallTime Duration `json:"wallTime"`
}

// ShorterWindow is a load with half its counted part.
type ShorterWindow struct {
	Scenario string   `json:"scenario"`
	Load     string   `json:"load"`
	Declared Duration `json:"declared"`
	Duration Duration `json:"duration"`
}

// finds reports whether a design detects an effect as large as the margin.
func (d Design) finds(margin int32) bool {
	return d.DetectablePercent > 0 && d.DetectablePercent <= float64(margin)
}

// variant is a changed declaration.
type variant struct {
	spec *v1alpha1.PerfExperimentSpec
	// spread is the factor of the assumed spread.
	spread float64
	design Design
}

// designs returns the declared design and up to four others, if it can't detect an effect
// as large as the margin or takes long; else none.
func designs(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, assumed Assumptions) []Design {
	if familySize(spec, all) == 0 {
		return nil
	}
	margin := analysisplan.New(spec).MarginPercent
	as := designer{arms: all, assumed: assumed, margin: margin}
	declared := variant{spec: spec, spread: 1}
	first := as.declared(declared)
	if first.finds(margin) && time.Duration(first.WallTime) <= long {
		return nil
	}
	found := slices.Concat([]Design{first}, as.enough(declared), as.untilVerdicts(declared))
	// The other designs have enough blocks for a verdict.
	blocks := max(spec.DesignOrDefault().Blocks, verdict.MinimumBlocks)
	base := as.with(declared, blocks)
	var changes []variant
	for _, change := range []func(variant) (variant, bool){alone, shorter} {
		changed, can := change(declared)
		if !can || base.noWorse(as.with(changed, blocks)) {
			continue
		}
		found = append(found, as.with(changed, blocks))
		if len(changes) > 0 {
			both, _ := change(changes[0])
			changes = append(changes, both)
		}
		changes = append(changes, changed)
	}
	return withoutWorse(append(found, as.cheapest(changes)...))
}

// cheapest returns the fastest variant that detects the margin.
func (d designer) cheapest(variants []variant) []Design {
	var found []Design
	for _, changed := range variants {
		found = append(found, d.enough(changed)...)
	}
	if len(found) == 0 {
		return nil
	}
	return []Design{slices.MinFunc(found, func(a, b Design) int { return cmp.Compare(a.WallTime, b.WallTime) })}
}

// withoutWorse removes designs that an earlier one equals or betters in both effect and
// time.
func withoutWorse(all []Design) []Design {
	kept := all[:1:1]
	for _, one := range all[1:] {
		if !slices.ContainsFunc(kept, func(other Design) bool { return other.noWorse(one) }) {
			kept = append(kept, one)
		}
	}
	return kept
}

// noWorse reports whether a design detects as small an effect in as short a time, on at
// least as many metrics.
func (d Design) noWorse(than Design) bool {
	if d.Interim != nil {
		return false
	}
	if d.Alone != "" && d.Alone != than.Alone {
		return false
	}
	finds := than.DetectablePercent == 0 || d.DetectablePercent > 0 && d.DetectablePercent <= than.DetectablePercent
	return finds && d.WallTime <= than.WallTime
}

// designer holds the common input of all designs.
type designer struct {
	arms    []arms.Arm
	assumed Assumptions
	margin  int32
}

// with returns a variant with this many blocks.
func (d designer) with(changed variant, blocks int32) Design {
	design := changed.design
	design.Blocks, design.Family = blocks, familySize(changed.spec, d.arms)
	design.Runs = int(blocks) * len(d.arms) * len(changed.spec.Scenarios)
	perBlock := time.Duration(0)
	for _, scenario := range changed.spec.Scenarios {
		perBlock += d.assumed.scenario(scenario) + d.assumed.Overhead
	}
	design.WallTime = Duration(perBlock * time.Duration(int(blocks)*len(d.arms)))
	tried := d.trial(changed, blocks)
	design.CVPercent, design.DetectablePercent = 100*tried.Deviation, effectPercent(tried.Detectable(wanted))
	return design
}

// enough returns a variant with the fewest blocks that have power for either verdict; none
// if no valid number has.
func (d designer) enough(changed variant) []Design {
	low, high := comparison.Ratio.Margin(float64(d.margin), 1)
	blocks, can := d.trial(changed, 1).BlocksForVerdicts(low, high, wanted)
	if !can || blocks > mostBlocks {
		return nil
	}
	return []Design{d.with(changed, int32(max(blocks, verdict.MinimumBlocks)))}
}

// untilVerdicts returns a variant that stops at verdicts, with the smallest maximum of
// blocks that has power for either.
func (d designer) untilVerdicts(changed variant) []Design {
	if changed.spec.DesignOrDefault().Target != nil {
		return nil
	}
	low, high := comparison.Ratio.Margin(float64(d.margin), 1)
	tried := d.trial(changed, 1)
	blocks, can := tried.BlocksForVerdicts(low, high, wanted)
	if !can {
		return nil
	}
	// Interim analyses cost a few blocks at the end.
	for last := max(blocks, verdict.MinimumBlocks+1); last <= mostBlocks; last++ {
		interim := stats.InterimAnalyses{First: verdict.MinimumBlocks, Last: last}
		tried.Blocks, tried.Analysis = last, interim.At(last)
		if !tried.Answers(low, high, wanted) {
			continue
		}
		return []Design{d.looking(changed, interim)}
	}
	return nil
}

// declared returns a variant with the declared number of blocks.
func (d designer) declared(changed variant) Design {
	if interim := analysisplan.New(changed.spec).Interim; interim.Last > 0 {
		return d.looking(changed, interim)
	}
	return d.with(changed, changed.spec.DesignOrDefault().Blocks)
}

// looking returns a variant with interim analyses.
func (d designer) looking(changed variant, interim stats.InterimAnalyses) Design {
	tried := d.trial(changed, int32(interim.Last)) //nolint:gosec // At most mostBlocks.
	tried.Analysis = interim.At(interim.Last)
	plan := newInterimAnalyses(tried, interim, d.margin)
	design := d.with(changed, int32(math.Ceil(plan.MeanBlocksAlike)))
	design.Interim, design.DetectablePercent = plan, effectPercent(tried.Detectable(wanted))
	return design
}

// trial returns the statistical design for the most variable metric, which has the least
// power.
func (d designer) trial(changed variant, blocks int32) stats.Design {
	most := 0.0
	for _, spread := range d.spreads(changed.design.Alone) {
		most = max(most, spread.CV)
	}
	return stats.Design{
		Arms: len(d.arms), Blocks: int(blocks), Deviation: most * changed.spread,
		Alpha: analysisplan.New(changed.spec).Alpha(), Family: familySize(changed.spec, d.arms),
	}
}

// spreads returns the spreads of one metric, or of all if it is empty or was not piloted.
func (d designer) spreads(alone string) []Spread {
	own := slices.DeleteFunc(slices.Clone(d.assumed.Piloted), func(spread Spread) bool { return spread.Metric != alone })
	switch {
	case len(own) > 0:
		return own
	case len(d.assumed.Piloted) > 0:
		return d.assumed.Piloted
	}
	return []Spread{{CV: d.assumed.CV}}
}

// alone keeps the first of several primary metrics, and the scenarios that have its load.
func alone(from variant) (variant, bool) {
	primary := analysisplan.New(from.spec).Primary
	if len(primary) < 2 {
		return from, false
	}
	changed := from
	changed.spec, changed.design.Alone = from.spec.DeepCopy(), primary[0]
	changed.spec.Analysis.Primary = primary[:1:1]
	if first := metric.Parse(primary[0]); !first.IsServer() {
		changed.spec.Scenarios = slices.DeleteFunc(changed.spec.Scenarios, func(scenario v1alpha1.Scenario) bool { return !hasLoad(scenario, first.Of) })
	}
	if len(changed.spec.Scenarios) == 0 {
		return from, false
	}
	if len(changed.spec.Scenarios) < len(from.spec.Scenarios) {
		for _, scenario := range changed.spec.Scenarios {
			changed.design.Scenarios = append(changed.design.Scenarios, scenario.Name)
		}
	}
	return changed, true
}

// shorter halves the counted part of long loads. With half as many requests the spread
// grows by a factor of √2 if it is random; by less if whole runs are fast or slow.
func shorter(from variant) (variant, bool) {
	changed := from
	changed.spec, changed.spread = from.spec.DeepCopy(), from.spread*math.Sqrt2
	changed.design.Windows = nil
	for i := range changed.spec.Scenarios {
		scenario := &changed.spec.Scenarios[i]
		for j := range scenario.Loads {
			load := &scenario.Loads[j]
			whole, isCounted := counted(*load, changed.spec.Measurement)
			if !isCounted || whole/2 < shortest {
				continue
			}
			declared := load.Duration.Duration
			load.Duration.Duration = (declared - whole/2).Round(time.Second)
			changed.design.Windows = append(changed.design.Windows, ShorterWindow{
				Scenario: scenario.Name, Load: load.Name, Declared: Duration(declared), Duration: Duration(load.Duration.Duration),
			})
		}
	}
	return changed, len(changed.design.Windows) > 0
}

// counted returns the counted part of a load: without its ramp-up, warm-up and tail.
func counted(load v1alpha1.Load, measurement v1alpha1.Measurement) (time.Duration, bool) {
	if load.Duration == nil || load.Until != "" || kinds.IsBatch(load) {
		return 0, false
	}
	before := measurement.WarmUpOrDefault()
	if users := load.CheckInCheckOut; users != nil && users.RampUp != nil {
		before = max(before, users.RampUp.Duration)
	}
	return load.Duration.Duration - before - measurement.TailOrDefault(), true
}

// String lists what differs from the declaration.
func (d Design) String() string {
	text := prose.Counted(d.Blocks, "block")
	if d.Interim != nil {
		text = fmt.Sprintf("%d to %d blocks, until verdicts", d.Interim.First, d.Interim.Last)
	}
	if d.Alone != "" {
		text += ", only primary metric " + d.Alone
	}
	if len(d.Windows) > 0 {
		text += ", windows half as long"
	}
	return text
}
