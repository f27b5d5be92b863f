// SPDX-License-Identifier: Apache-2.0

// Package arms returns the configurations that an experiment compares: the listed arms, or
// every combination of the levels of its factors, each with its complete system. It is
// pure.
package arms

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
)

// Arm is one configuration.
type Arm struct {
	Name     string
	Baseline bool
	// Twin marks the A/A control: the baseline's configuration under another name.
	Twin bool
	// System with the arm's settings applied.
	System v1alpha1.System
}

// All returns the arms of an experiment in declared order; in a matrix the first factor
// varies slowest. The A/A control, if there is one, comes last.
func All(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) []Arm {
	all := declared(spec, Defaulted(spec, system))
	baseline, found := Baseline(all)
	if !spec.Design.Calibrate || !found {
		return all
	}
	return append(all, Arm{Name: twinName(baseline.Name, all), Twin: true, System: baseline.System})
}

// Recorded returns the arms in a status, without their systems.
func Recorded(statuses []v1alpha1.ArmStatus) []Arm {
	listed := make([]Arm, 0, len(statuses))
	for _, arm := range statuses {
		listed = append(listed, Arm{Name: arm.Name, Baseline: arm.Baseline, Twin: arm.Twin})
	}
	return listed
}

// RecordedSystem returns the system of an arm's runs; nil if it has none.
func RecordedSystem(runs []v1alpha1.PerfRun, arm string) *v1alpha1.System {
	for i := range runs {
		if runs[i].Spec.Arm == arm {
			return &runs[i].Spec.System
		}
	}
	return nil
}

func declared(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) []Arm {
	if spec.Matrix != nil {
		return combined(spec.Matrix, system)
	}
	listed := make([]Arm, 0, len(spec.Arms))
	for _, arm := range spec.Arms {
		listed = append(listed, Arm{Name: arm.Name, Baseline: arm.Baseline, System: Resolve(system, arm.Set)})
	}
	return listed
}

// maxName is the length limit of an arm's name.
const maxName = 40

// twinName returns the baseline's name with the suffix "-twin", truncated if it is too long
// and numbered if it is taken.
func twinName(baseline string, taken []Arm) string {
	for n := 1; ; n++ {
		ending := "-twin"
		if n > 1 {
			ending += fmt.Sprintf("-%d", n)
		}
		name := strings.TrimRight(baseline[:min(len(baseline), maxName-len(ending))], "-") + ending
		if _, found := Named(taken, name); !found {
			return name
		}
	}
}

// Twin returns the A/A control; false if there is none.
func Twin(all []Arm) (Arm, bool) { return find(all, func(arm Arm) bool { return arm.Twin }) }

// Baseline returns the baseline; false if there is none.
func Baseline(all []Arm) (Arm, bool) { return find(all, func(arm Arm) bool { return arm.Baseline }) }

// Named returns the arm of this name; false if there is none.
func Named(all []Arm, name string) (Arm, bool) {
	return find(all, func(arm Arm) bool { return arm.Name == name })
}

func find(all []Arm, matches func(Arm) bool) (Arm, bool) {
	at := slices.IndexFunc(all, matches)
	if at < 0 {
		return Arm{}, false
	}
	return all[at], true
}

// Combination is one level of every factor of a matrix.
type Combination struct {
	// Name of the arm: the levels' names, joined by "-".
	Name     string
	Baseline bool
	// Levels in the order of the factors.
	Levels []v1alpha1.Level
}

// Combinations returns the combinations of a matrix that are not excluded; the first factor
// varies slowest.
func Combinations(matrix *v1alpha1.Matrix) []Combination {
	every := [][]v1alpha1.Level{nil}
	for _, factor := range matrix.Factors {
		var longer [][]v1alpha1.Level
		for _, shorter := range every {
			for _, level := range factor.Levels {
				longer = append(longer, append(slices.Clone(shorter), level))
			}
		}
		every = longer
	}
	baseline := baselineName(matrix)
	var kept []Combination
	for _, levels := range every {
		if excluded(matrix, levels) {
			continue
		}
		name := joined(levels)
		kept = append(kept, Combination{Name: name, Baseline: name == baseline, Levels: levels})
	}
	return kept
}

func combined(matrix *v1alpha1.Matrix, system v1alpha1.System) []Arm {
	var all []Arm
	for _, combination := range Combinations(matrix) {
		arm := Arm{Name: combination.Name, Baseline: combination.Baseline, System: system}
		for _, level := range combination.Levels {
			arm.System = Resolve(arm.System, level.Set)
		}
		all = append(all, arm)
	}
	return all
}

// excluded reports whether the matrix excludes the combination. An entry without levels
// excludes nothing.
func excluded(matrix *v1alpha1.Matrix, levels []v1alpha1.Level) bool {
	for _, entry := range matrix.Exclude {
		matches := 0
		for i, factor := range matrix.Factors {
			if wanted, named := entry[factor.Name]; named && wanted == levels[i].Name {
				matches++
			}
		}
		if len(entry) > 0 && matches == len(entry) {
			return true
		}
	}
	return false
}

func baselineName(matrix *v1alpha1.Matrix) string {
	var levels []v1alpha1.Level
	for _, factor := range matrix.Factors {
		levels = append(levels, baselineLevel(factor))
	}
	return joined(levels)
}

// baselineLevel returns the level marked as baseline, or the first.
func baselineLevel(factor v1alpha1.Factor) v1alpha1.Level {
	if len(factor.Levels) == 0 {
		// Admission rejects a factor without levels.
		return v1alpha1.Level{}
	}
	at := slices.IndexFunc(factor.Levels, func(level v1alpha1.Level) bool { return level.Baseline })
	return factor.Levels[max(at, 0)]
}

func joined(levels []v1alpha1.Level) string {
	names := make([]string, 0, len(levels))
	for _, level := range levels {
		names = append(names, level.Name)
	}
	return strings.Join(names, "-")
}
