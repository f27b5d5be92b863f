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
func Schedule(schedule *v1alpha1.PerfSchedule, known Known) (field.ErrorList, Warnings) {
	faults := recurrence.Check(&schedule.Spec, field.NewPath("spec"))
	made, warnings := Experiment(recurrence.Experiment(schedule, naming.ImageChangeExperiment(schedule, 0, nil), "", ""), known)
	for _, fault := range made {
		fault.Field = withinTemplate(fault.Field)
		faults = append(faults, fault)
	}
	for i := range warnings {
		warnings[i].Path = withinTemplate(warnings[i].Path)
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
