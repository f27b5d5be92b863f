// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestDesign(t *testing.T) {
	judge(t, valid, map[string]rule{
		"more runs than meant": refuse("spec.design.maxRuns", "2 arms, 2 scenarios and 60 blocks make 240 runs, more than design.maxRuns of 200: write maxRuns: 240 if that is intended, or fewer blocks",
			change{"spec.design.blocks", "60"}),
		"as many runs as allowed": accept(change{"spec.design.blocks", "50"}),
		"more runs and meant":     accept(change{"spec.design", "{blocks: 60, maxRuns: 240}"}),
		"few blocks":              warn("3 blocks give results, but no verdict: raise design.blocks to 6", change{"spec.design.blocks", "3"}),
		"warm and recreated":      warn("keepWarm has no effect, because every run rebuilds everything", change{"spec.keepWarm", "true"}, change{"spec.reset", "Recreate"}),
		"an arm that changes nothing": warn(`arm "changed" is the same as arm "as-is", so any difference between them is noise`,
			change{"spec.arms.1.set", ""}),
		"two arms alike": warn(`arm "third" is the same as arm "changed"`,
			change{"spec.arms.2", "{name: third, set: {kafka: {topics: [{group: data-import, partitions: 4}]}}}"}),
		"two things at once": warn(`arm "changed" differs from the baseline in 2 settings`,
			change{"spec.arms.1.set.modules", "[{name: gateway, replicas: 2}]"}),
	})
}

func TestDesignBoundsRuns(t *testing.T) {
	judge(t, valid, map[string]rule{
		"with a twin": refuse("spec.design.maxRuns", "2 arms, the A/A control, 2 scenarios and 50 blocks make 300 runs, more than design.maxRuns of 200: write maxRuns: 300",
			change{"spec.design", "{blocks: 50, calibrate: true}"}),
		"with blocks that are added": refuse("spec.design.maxRuns", "2 arms, 2 scenarios and up to 60 blocks make 240 runs",
			change{"spec.design", "{blocks: 6, target: {halfWidthPercent: 3, maxBlocks: 60}}"}),
		"fewer at the most than at the least": refuse("spec.design", "design.target.maxBlocks must be at least design.blocks",
			change{"spec.design", "{blocks: 12, target: {halfWidthPercent: 3, maxBlocks: 10}}"}),
		"as many blocks as there are": accept(change{"spec.design", "{blocks: 12, target: {halfWidthPercent: 3, maxBlocks: 12}, budget: 48h}"}),
		"a budget for nothing": refuse("spec.design", "design.budget limits the blocks that design.target adds: add a target, or remove budget or blocks",
			change{"spec.design", "{blocks: 6, budget: 48h}"}),
		"verdicts as soon as they are there": accept(change{"spec.design", "{blocks: 8, target: {verdicts: true, maxBlocks: 20}, budget: 48h}"}),
		"two targets": refuse("spec.design.target", "a target needs exactly one of halfWidthPercent (intervals of that half-width) and verdicts: true (a verdict on every primary metric)",
			change{"spec.design", "{target: {halfWidthPercent: 3, verdicts: true, maxBlocks: 12}}"}),
		"no target": refuse("spec.design.target", "a target needs exactly one of halfWidthPercent", change{"spec.design", "{target: {verdicts: false, maxBlocks: 12}}"}),
		"no room for a verdict": refuse("spec.design.target", "design.target.maxBlocks must be at least 6 with verdicts: a verdict needs 6 blocks",
			change{"spec.design", "{blocks: 2, target: {verdicts: true, maxBlocks: 5}}"}),
		"a target of nothing": refuse("spec.design.target.halfWidthPercent", "design.target.halfWidthPercent must be from 1 to 100",
			change{"spec.design", "{target: {halfWidthPercent: 0, maxBlocks: 12}}"}),
	})
}

func TestAnalysis(t *testing.T) {
	const primary = "spec.analysis.primary"
	const script = "{configMap: {name: search, key: main.js}}"
	scripts := []change{
		{"spec.scenarios", "[{name: search, loads: [{name: search, script: " + script + "}]}]"},
	}
	judge(t, valid, map[string]rule{
		"metrics there may be": accept(change{"spec.analysis", "{primary: [cico/Check-In/average, 'cico/Check-In/p95@alone', 'cico/Check-In/p95@during-create-5k', create-5k/duration, module/gateway/cpu/average], guards: [cico/Check-Out/p95]}"}),
		"a load there is not": refuse(primary+"[1]", `the metric refers to load "cic", and no scenario has a load of this name: start with an existing load (cico, create-5k), or with a component of the system (module, postgres, kafka, custom, system, node)`,
			change{"spec.analysis", "{primary: [cico/Check-In/average, cic/Check-In/average]}"}),
		"a guard there is not": refuse("spec.analysis.guards[0]", `the metric refers to load "cic"`, change{"spec.analysis", "{guards: [cic/Check-In/average]}"}),
		"a window there is not": refuse(primary+"[0]", `the window refers to load "create", and no scenario has a load of this name: write during- and the name of an existing load (cico, create-5k)`,
			change{"spec.analysis", "{primary: ['cico/Check-In/p95@during-create']}"}),
		"a transaction there is not": refuse(primary+"[0]", `load "cico" has no transaction "Chekc-In": did you mean Check-In? Write one of its transactions (Check-In, Check-Out), for example cico/Check-In/average`,
			change{"spec.analysis", "{primary: [cico/Chekc-In/p95]}"}),
		"a statistic there is not": refuse(primary+"[0]", `"p94" is not a statistic of a transaction: end with one of these (average, p50, p75, p95, p99, max, samples, errors)`,
			append(scripts, change{"spec.analysis", "{primary: [search/keyword/p94]}"})...),
		"no metric":      refuse(primary+"[0]", "a metric is load/transaction/statistic", change{"spec.analysis", "{primary: [cico]}"}),
		"a metric twice": refuse(primary+"[1]", "Duplicate value", change{"spec.analysis", "{primary: [cico/Check-In/p95, cico/Check-In/p95]}"}),
		"no margin":      refuse("spec.analysis.marginPercent", "greater than or equal to 1", change{"spec.analysis", "{marginPercent: 0}"}),
		"sure of all":    refuse("spec.analysis.confidencePercent", "analysis.confidencePercent must be from 51 to 99", change{"spec.analysis", "{confidencePercent: 100}"}),
		"a script alone": warn("there is no primary metric, because a script does not declare which of its transactions matter", scripts...),
		"a script's own": accept(append(scripts, change{"spec.analysis", "{primary: [search/keyword/p95]}"})...),
		"summaries of several runners": warn(`percentiles of several runners can't be merged from k6's own summaries, so load "search" has none`,
			change{"spec.scenarios", "[{name: search, loads: [{name: search, parallelism: 2, script: {configMap: {name: search, key: main.js}, image: 'k6:1'}}]}]"}),
		"nothing to compare":     warn("the baseline is the only arm", change{"spec.arms", "[{name: as-is, baseline: true}]"}),
		"a twin to compare":      accept(change{"spec.arms", "[{name: as-is, baseline: true}]"}, change{"spec.design.calibrate", "true"}),
		"an order that is fixed": warn("in a fixed order of runs, any change over time looks like an effect", change{"spec.design.order", "Fixed"}),
	})
}

func TestMatrix(t *testing.T) {
	const factors, exclude = "spec.matrix.factors", "spec.matrix.exclude"
	const partitions = `{name: partitions, levels: [{name: one}, {name: two, set: {kafka: {topics: [{group: data-import, partitions: 4}]}}}]}`
	const replicas = `{name: replicas, levels: [{name: few}, {name: many, set: {modules: [{name: gateway, replicas: 2}]}}]}`
	matrix := func(factors, exclude string) []change {
		return []change{{"spec.arms", ""}, {"spec.matrix", "{factors: [" + factors + "], exclude: [" + exclude + "]}"}}
	}
	// wide returns factors with the given numbers of levels.
	wide := func(levels ...int) string {
		var made []string
		for i, count := range levels {
			var names []string
			for n := range count {
				names = append(names, fmt.Sprintf("{name: l%d, set: {modules: [{name: gateway, env: [{name: F%d, value: v%d}]}]}}", n, i, n))
			}
			made = append(made, fmt.Sprintf("{name: f%d, levels: [%s]}", i, strings.Join(names, ",")))
		}
		return strings.Join(made, ",")
	}
	one := change{"spec.design.blocks", "6"}
	judge(t, valid, map[string]rule{
		"two by two":     accept(matrix(partitions+","+replicas, "")...),
		"all but one":    accept(matrix(partitions+","+replicas, "{partitions: two, replicas: many}")...),
		"unknown factor": refuse(exclude+"[0][heap]", `the matrix has no factor "heap": write one of its factors (partitions, replicas)`, matrix(partitions+","+replicas, "{heap: small}")...),
		"unknown level":  refuse(exclude+"[0][replicas]", `factor "replicas" has no level "some": write one of its levels (few, many)`, matrix(partitions+","+replicas, "{replicas: some}")...),
		"names no level": refuse(exclude+"[0]", "the entry does not name a level, so it excludes nothing", matrix(partitions+","+replicas, "{}")...),
		"nothing is left": refuse(exclude, "every combination is excluded: remove an entry",
			matrix(partitions+","+replicas, "{partitions: one}, {partitions: two}")...),
		"no baseline is left": refuse(exclude, "the combination of the baseline's levels is excluded, and the others are compared with it",
			matrix(partitions+","+replicas, "{partitions: one, replicas: few}")...),
		"two baselines": refuse(factors+"[0].levels", `factor "a" has 2 levels with baseline: true ("b", "c"): keep it at one of them`,
			matrix("{name: a, levels: [{name: b, baseline: true}, {name: c, baseline: true, set: {modules: [{name: gateway, replicas: 2}]}}]}", "")...),
		"names that meet": refuse(factors, `a-b-c: two combinations give an arm of this name: rename a level`,
			matrix("{name: f, levels: [{name: a}, {name: a-b}]}, {name: g, levels: [{name: c}, {name: b-c}]}", "")...),
		"names too long": refuse(factors, "has a name of 41 characters, and 40 are allowed: shorten the levels' names",
			matrix("{name: f, levels: [{name: aaaaaaaaaaaaaaaaaaaa}, {name: c}]}, {name: g, levels: [{name: bbbbbbbbbbbbbbbbbbbb}, {name: d}]}", "")...),
		"64 arms": accept(append(matrix(wide(8, 8), ""), one, change{"spec.design.maxRuns", "768"})...),
		"65 arms": refuse(factors, "the matrix has 72 arms, and an experiment can have 64: remove levels, or list combinations in exclude",
			append(matrix(wide(8, 3, 3), ""), change{"spec.design.maxRuns", "2000"})...),
		"262,144 combinations": refuse(factors, "the factors make 262144 combinations, and an experiment can have 64 arms: remove factors or levels", matrix(wide(8, 8, 8, 8, 8, 8), "")...),
		"unknown module in a level": refuse(factors+"[1].levels[1].set.modules[0].name", `level "many" of factor "replicas": the system has no module "inventory"`,
			matrix(partitions+",{name: replicas, levels: [{name: few}, {name: many, set: {modules: [{name: inventory, replicas: 2}]}}]}", "")...),
		"a level below the heap": refuse(factors+"[1].levels[1].set.modules[0].resources.limits.memory", `arms "one-small", "two-small": the heap of module "circulation" is 128Mi, larger than its memory limit of 64Mi`,
			matrix(partitions+",{name: memory, levels: [{name: large}, {name: small, set: {modules: [{name: circulation, resources: {limits: {memory: 64Mi}}}]}}]}", "")...),
		"a combination that can't be": refuse(factors+"[1].levels[1].set.kafka.brokers.replicas", `arm "three-one": the topics of group "pub-sub" have 3 replicas on 1 broker`,
			append(matrix("{name: copies, levels: [{name: one}, {name: three, set: {kafka: {topics: [{group: pub-sub, replicas: 3}]}}}]},"+
				"{name: brokers, levels: [{name: three}, {name: one, set: {kafka: {brokers: {replicas: 1}}}}]}", ""),
				change{"spec.system.kafka.topics.0.replicas", "1"})...).elsewhere(factors + "[0].levels[1].set.kafka.topics[0].replicas"),
		"a level that changes nothing": warn(`is the same as arm`, matrix(partitions+",{name: nothing, levels: [{name: a}, {name: b}]}", "")...),
	})
}

// elsewhere changes the expected path.
func (r rule) elsewhere(place string) rule {
	r.place = place
	return r
}
