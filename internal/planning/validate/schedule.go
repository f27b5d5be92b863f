// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/recurrence"
)

// Schedule validates a schedule, and its template as an experiment.
func Schedule(schedule *v1alpha1.PerfSchedule, known Known) (field.ErrorList, []string) {
	faults := recurrence.Check(&schedule.Spec, field.NewPath("spec"))
	made, doubts := Experiment(recurrence.Experiment(schedule, naming.ImageChangeExperiment(schedule, 0, nil), "", ""), known)
	for _, fault := range made {
		fault.Field = withinTemplate(fault.Field)
		faults = append(faults, fault)
	}
	warnings := make([]string, 0, len(doubts))
	for _, doubt := range doubts {
		// A warning ends with its path.
		warnings = append(warnings, strings.ReplaceAll(doubt, "(spec.", "(spec.template.spec."))
	}
	return faults, warnings
}

// withinTemplate returns the path of an experiment's field within a schedule.
func withinTemplate(place string) string {
	if rest, within := strings.CutPrefix(place, "spec"); within {
		return "spec.template.spec" + rest
	}
	return place
}
