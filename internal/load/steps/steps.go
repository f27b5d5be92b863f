// SPDX-License-Identifier: Apache-2.0

// Package steps is the timetable of a load that visits several levels. It is pure.
package steps

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// Variable of the script with the stages.
const Variable = "PERFLAB_STAGES"

// Steps are the levels of a load, one after the other, for the same time each. A warm-up at the
// middle level precedes them.
type Steps struct {
	Levels []int32
	WarmUp time.Duration
	// Step is the time at each level. Settle is its first part, which is not measured.
	Step, Settle time.Duration
}

// FromScenario returns the load that visits levels, and its steps; false if the scenario has none.
func FromScenario(scenario v1alpha1.Scenario, measurement v1alpha1.Measurement, levels []int32) (v1alpha1.Load, Steps, bool) {
	capacity := scenario.Capacity
	if capacity == nil {
		return v1alpha1.Load{}, Steps{}, false
	}
	load, found := capacity.LoadOf(scenario.Loads)
	if !found {
		return v1alpha1.Load{}, Steps{}, false
	}
	steps := Steps{Levels: levels, WarmUp: measurement.WarmUpOrDefault()}
	switch {
	case capacity.Step != nil:
		steps.Step = capacity.Step.Duration
	case load.Duration != nil:
		steps.Step = (load.Duration.Duration - steps.WarmUp) / time.Duration(capacity.LevelsOrDefault())
	}
	steps.Settle = steps.Step / 3
	if capacity.Settle != nil {
		steps.Settle = capacity.Settle.Duration
	}
	return load, steps, true
}

// WithDurations returns scenarios whose stepped loads have the duration, or the imports, of their
// levels.
func WithDurations(scenarios []v1alpha1.Scenario, measurement v1alpha1.Measurement) []v1alpha1.Scenario {
	timed := slices.Clone(scenarios)
	for i, scenario := range timed {
		stepped, timetable, found := FromScenario(scenario, measurement, nil)
		if !found || stepped.Duration != nil || stepped.Until != "" {
			continue
		}
		timed[i].Loads = slices.Clone(scenario.Loads)
		for n := range timed[i].Loads {
			load, levels := &timed[i].Loads[n], scenario.Capacity.LevelsOrDefault()
			switch {
			case load.Name != stepped.Name:
			case load.DataImport != nil:
				imports, capacity := *load.DataImport, *scenario.Capacity
				most := capacity.MaxOrDefault(stepped)
				mean := meanLevel(capacity.Min, most, levels)
				imports.Imports = levels + int32(timetable.WarmUps())
				if imports.Parallel == 0 {
					imports.Records = mean
				} else {
					imports.Imports *= mean
				}
				// The highest level is still the declared one.
				capacity.Max = &most
				load.DataImport, timed[i].Capacity = &imports, &capacity
			default:
				load.Duration = &metav1.Duration{Duration: timetable.WarmUp + time.Duration(levels)*timetable.Step}
			}
		}
	}
	return timed
}

// meanLevel is the mean of levels that span a range by equal factors.
func meanLevel(least, most, count int32) int32 {
	sum := 0.0
	for i := range count {
		sum += float64(least) * math.Pow(float64(most)/float64(least), float64(i)/float64(count-1))
	}
	return int32(math.Round(sum / float64(count)))
}

// Span is a part of the load's time, from its start.
type Span struct{ From, To time.Duration }

// Measured returns the measured time of each level.
func (s Steps) Measured() []Span {
	spans := make([]Span, len(s.Levels))
	for i := range spans {
		from := s.WarmUp + time.Duration(i)*s.Step
		spans[i] = Span{From: from + s.Settle, To: from + s.Step}
	}
	return spans
}

// milliseconds formats a duration for Go and for scripts.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// stage is one of k6's ramping executors.
type stage struct {
	Duration string `json:"duration"`
	Target   int32  `json:"target"`
}

// WarmUps is the number of units of work at the middle level before the first level, if each level is
// one: 1, or 0 without a warm-up.
func (s Steps) WarmUps() int {
	if s.WarmUp > 0 {
		return 1
	}
	return 0
}

// Units are the levels of all units of work in order, if each level is one: that of the warm-up, if
// there is one, and then each.
func (s Steps) Units() []int32 {
	if s.WarmUps() == 0 || len(s.Levels) == 0 {
		return s.Levels
	}
	return append([]int32{s.Middle()}, s.Levels...)
}

// Middle is the level of the warm-up: just-in-time compilers need more than the lowest one, and the
// highest may be an overload that lasts.
func (s Steps) Middle() int32 {
	sorted := slices.Sorted(slices.Values(s.Levels))
	return sorted[(len(sorted)-1)/2]
}

// Stages returns the stages of k6's ramping executors as JSON. The load changes within the
// first half of the time to settle: a jump would send many users' first requests at once.
func (s Steps) Stages() string {
	if len(s.Levels) == 0 {
		return "[]"
	}
	middle := s.Middle()
	stages := []stage{{"0ms", middle}}
	if s.WarmUp > 0 {
		stages = append(stages, stage{milliseconds(s.WarmUp), middle})
	}
	for _, level := range s.Levels {
		stages = append(stages, stage{milliseconds(s.Settle / 2), level}, stage{milliseconds(s.Step - s.Settle/2), level})
	}
	text, err := json.Marshal(stages)
	if err != nil {
		panic("stages are JSON: " + err.Error())
	}
	return string(text)
}
