// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/planning/generator"
	"perflab.dev/perflab/internal/text/prose"
)

// Capacity describes how runs of a scenario find a capacity.
type Capacity struct {
	Scenario string `json:"scenario"`
	Load     string `json:"load"`
	// Unit of the levels.
	Unit   string `json:"unit"`
	Min    int32  `json:"min"`
	Max    int32  `json:"max"`
	Levels int32  `json:"levels"`
	// Step is the time at each level, of which Measured counts.
	Step     Duration `json:"step"`
	Measured Duration `json:"measured"`
	// Generator is what k6 needs at the highest level; nil if that is unknown.
	Generator *generator.Need `json:"generator,omitempty"`
}

func capacities(spec *v1alpha1.PerfExperimentSpec, configMaps kind.ConfigMaps) []Capacity {
	var all []Capacity
	for _, scenario := range spec.Scenarios {
		load, timetable, found := steps.FromScenario(scenario, spec.Measurement, nil)
		if !found {
			continue
		}
		one := Capacity{
			Scenario: scenario.Name, Load: load.Name, Unit: kinds.LevelUnit(load),
			Min: scenario.Capacity.Min, Max: scenario.Capacity.MaxOrDefault(load), Levels: scenario.Capacity.LevelsOrDefault(),
			Step: Duration(timetable.Step), Measured: Duration(timetable.Step - timetable.Settle),
		}
		if need, known := generator.AtLevel(load, one.Max, configMaps); known {
			one.Generator = &need
		}
		all = append(all, one)
	}
	return all
}

// String describes the levels in a sentence.
func (c Capacity) String() string {
	unit := ""
	if c.Unit != "1" {
		unit = " " + c.Unit
	}
	each := "each until its imports are finished"
	if c.Step > 0 {
		each = fmt.Sprintf("for %s each, of which %s are measured", c.Step, c.Measured)
	}
	text := fmt.Sprintf("%s: each run visits %s of %s from %d to %d%s, %s; the first run of an arm spans the range, later runs concentrate around its capacity",
		c.Scenario, prose.Counted(c.Levels, "level"), c.Load, c.Min, c.Max, unit, each)
	if c.Generator != nil {
		text += fmt.Sprintf(". At the highest level, %s", c.Generator)
	}
	return text
}
