// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
)

// judgeAnalysis checks whether the primary metrics can be measured, as far as that is known
// before a run.
func judgeAnalysis(j *judgement, spec *v1alpha1.PerfExperimentSpec, variants []variant, scripts *scripts) {
	path := field.NewPath("spec", "analysis")
	loads := loadNames(spec.Scenarios)
	for _, list := range []struct {
		name    string
		metrics []string
	}{{"primary", spec.Analysis.Primary}, {"guards", spec.Analysis.Guards}} {
		for i, name := range list.metrics {
			judgeMetric(j, path.Child(list.name).Index(i), name, spec.Scenarios, scripts)
		}
	}
	judgePairs(j, path.Child("comparisons"), spec, variants)
	if len(loads) > 0 && len(analysisplan.New(spec).Primary) == 0 {
		j.warn("there is no primary metric, because a script does not declare which of its transactions matter: every comparison is exploratory, and no arm can win; list the primary metrics in analysis.primary, for example %s", metric.Name(loads[0], "<transaction>", metric.Average))
	}
	if len(variants) == 1 && !spec.Design.Calibrate {
		j.advise("the baseline is the only arm: its runs are summarized, and nothing is compared")
	}
}

// judgePairs validates the additional comparisons.
func judgePairs(j *judgement, path *field.Path, spec *v1alpha1.PerfExperimentSpec, variants []variant) {
	const enough = 3
	switch pairs := spec.Analysis.Comparisons; {
	case pairs == v1alpha1.PairsWithinLevels && spec.Matrix == nil:
		j.refuse(field.Invalid(path, pairs, "pairs within levels need a matrix, and there is none: write All or Chain"))
	case pairs != "" && len(variants) < enough:
		j.warn("analysis.comparisons has no effect, because with fewer than three arms the only pairs are those with the baseline")
	}
}

func judgeMetric(j *judgement, path *field.Path, name string, scenarios []v1alpha1.Scenario, scripts *scripts) {
	fault := metricNameFault(name, scenarios)
	if fault == "" {
		fault = windowFault(name, loadNames(scenarios))
	}
	if fault != "" {
		j.refuse(field.Invalid(path, name, fault))
		return
	}
	if doubt := transactionWarning(name, scripts); doubt != "" {
		j.add(Warning{Warning: kind.Warningf(path, "%s: %s", name, doubt)})
	}
}

func metricNameFault(written string, scenarios []v1alpha1.Scenario) string {
	loads := loadNames(scenarios)
	name, window := metric.CutWindow(written)
	first, rest := metric.CutOwner(name)
	switch {
	case name == metric.Cost:
		return ""
	case slices.Contains(loads, first):
		return loadMetricFault(scenarios, first, rest, window)
	case first == metric.System:
		return fmt.Sprintf("the system as a whole has no such metric: write %s, or start with a component of it", metric.Cost)
	case slices.Contains(metric.Components(), first):
		if fault, isFault := metric.CutFault(window); isFault {
			return lagMetricFault(name, fault, scenarios)
		}
		return serverMetricFault(name)
	}
	return fmt.Sprintf("the metric refers to load %q, and no scenario has a load of this name: start with an existing load (%s), or with a component of the system (%s)",
		first, strings.Join(loads, ", "), strings.Join(metric.Components(), ", "))
}

func windowFault(written string, loads []string) string {
	_, window := metric.CutWindow(written)
	during, isDuring := metric.CutDuring(window)
	switch {
	case isDuring && !slices.Contains(loads, during):
		return fmt.Sprintf("the window refers to load %q, and no scenario has a load of this name: write during- and the name of an existing load (%s)",
			during, strings.Join(loads, ", "))
	case window != "" && !metric.IsWindow(window):
		return fmt.Sprintf("%q is not a window: write alone, after, during- and the name of an import, or fault- and the name of a fault", window)
	default:
		return ""
	}
}

// loadNames returns the names of all loads, in declared order.
func loadNames(scenarios []v1alpha1.Scenario) []string {
	var names []string
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			if !slices.Contains(names, load.Name) {
				names = append(names, load.Name)
			}
		}
	}
	return names
}
