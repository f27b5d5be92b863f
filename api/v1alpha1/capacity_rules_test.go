// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

func TestCapacityRules(t *testing.T) {
	const place = "spec.scenarios[0].capacity"
	capacity := func(text string) change { return change{"spec.scenarios.0.capacity", text} }
	const objectives = "objectives: [{metric: cico/Check-In/p95, max: 1s}]"
	judge(t, map[string]rule{
		"of users":                accept(capacity("{min: 1, " + objectives + "}")),
		"of a script":             accept(capacity("{load: cico, min: 5, max: 60, levels: 4, step: 2m, settle: 30s, " + objectives + "}")),
		"a share":                 accept(capacity("{min: 1, objectives: [{metric: postgres/primary/cpu/percentOfLimit, max: '80 %'}]}")),
		"a least throughput":      accept(capacity("{min: 1, objectives: [{metric: cico/iterationsPerSecond, min: '20'}]}")),
		"no objectives":           refuse(place+".objectives", "Required value", capacity("{min: 1}")),
		"an empty list of them":   refuse(place+".objectives", "should have at least 1 items", capacity("{min: 1, objectives: []}")),
		"objective twice":         refuse(place+".objectives[1]", "Duplicate value", capacity("{min: 1, objectives: [{metric: a/b, max: 1s}, {metric: a/b, max: 2s}]}")),
		"neither max nor min":     refuse(place+".objectives[0]", "an objective needs exactly one of max and min", capacity("{min: 1, objectives: [{metric: a/b}]}")),
		"both max and min":        refuse(place+".objectives[0]", "an objective needs exactly one of max and min", capacity("{min: 1, objectives: [{metric: a/b, max: 1s, min: 1s}]}")),
		"a limit without numbers": refuse(place+".objectives[0].max", "write a number with an optional unit: for example 1s, 500ms, 1% or 0.8", capacity("{min: 1, objectives: [{metric: a/b, max: fast}]}")),
		"a range upside down":     refuse(place, "capacity.min must be lower than capacity.max", capacity("{min: 60, max: 5, "+objectives+"}")),
		"from nothing":            refuse(place+".min", "capacity.min must be from 1 to 1000000", capacity("{min: 0, "+objectives+"}")),
		"three levels":            refuse(place+".levels", "greater than or equal to 4", capacity("{min: 1, levels: 3, "+objectives+"}")),
		"a step without unit":     refuse(place+".step", "write a duration with its unit", capacity("{min: 1, step: '120', "+objectives+"}")),
	})
}
