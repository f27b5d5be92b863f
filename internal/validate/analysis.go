// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/analysis"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/results"
)

// judgeAnalysis judges the question: whether the metrics that decide it can be
// measured, as far as that is known before a run.
func judgeAnalysis(j *judgement, spec *v1alpha1.PerfExperimentSpec, variants []variant) {
	path := field.NewPath("spec", "analysis")
	loads := loadsOf(spec.Scenarios)
	for _, list := range []struct {
		name    string
		metrics []string
	}{{"primary", spec.Analysis.Primary}, {"guards", spec.Analysis.Guards}} {
		for i, metric := range list.metrics {
			judgeMetric(j, path.Child(list.name).Index(i), metric, spec.Scenarios)
		}
	}
	if len(loads) > 0 && len(analysis.QuestionOf(spec).Primary) == 0 {
		j.warn("no metric decides, for of a script it is not known which of its transactions matter: every comparison is exploratory, and no arm can win; name the metrics that decide in analysis.primary, for example " + loads[0] + "/<transaction>/average")
	}
	if len(variants) == 1 && !spec.Design.Calibrate {
		j.warn("there is no arm beside the baseline: its runs are summed up, and nothing is compared")
	}
}

func judgeMetric(j *judgement, path *field.Path, metric string, scenarios []v1alpha1.Scenario) {
	loads := loadsOf(scenarios)
	name, window := comparison.CutWindow(metric)
	load, rest, _ := strings.Cut(name, "/")
	fault := ""
	switch {
	case slices.Contains(loads, load):
		fault = faultOfLoadMetric(scenarios, load, rest, window)
	case analysis.IsServer(load):
		fault = faultOfServerMetric(name)
	default:
		fault = fmt.Sprintf("the metric is of load %q, and no scenario has one of this name: begin with one there is (%s), or with a part of the system (%s)",
			load, strings.Join(loads, ", "), strings.Join(analysis.Components, ", "))
	}
	if fault == "" {
		fault = faultOfWindow(window, loads)
	}
	if fault != "" {
		j.refuse(field.Invalid(path, metric, fault))
	}
}

func faultOfWindow(window string, loads []string) string {
	during, isDuring := strings.CutPrefix(window, "during-")
	switch {
	case isDuring && !slices.Contains(loads, during):
		return fmt.Sprintf("the window is while load %q is on, and no scenario has one of this name: write during- with one there is (%s)",
			during, strings.Join(loads, ", "))
	case window != "" && !results.IsWindow(window):
		return fmt.Sprintf("there is no window %q: write alone, after, or during- with the name of an import", window)
	default:
		return ""
	}
}

// loadsOf are the names of all loads, in the order in which they are written.
func loadsOf(scenarios []v1alpha1.Scenario) []string {
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
