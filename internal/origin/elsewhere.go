// SPDX-License-Identifier: Apache-2.0

package origin

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
)

// Tool that put an experiment's loads on, where PerfLab did not; empty: PerfLab did.
// It stands in the declaration, which nobody can change.
func Tool(spec *v1alpha1.PerfExperimentSpec) string {
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			if load.Elsewhere != nil {
				return load.Elsewhere.Tool
			}
		}
	}
	return ""
}

// Elsewhere says of an experiment that PerfLab did not measure by what it was
// measured, and what it was read from: measured elsewhere by JMeter, read from
// run1.jtl. It is empty where PerfLab measured it.
func Elsewhere(experiment *v1alpha1.PerfExperiment) string {
	tool := Tool(&experiment.Spec)
	if tool == "" {
		return ""
	}
	said := "measured elsewhere by " + tool
	if files := strings.TrimSpace(experiment.Annotations[v1alpha1.AnnotationElsewhere]); files != "" {
		said += fmt.Sprintf(", read from %s", files)
	}
	return said
}
