// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// judgeNotes rejects notes about unknown scenarios.
func judgeNotes(found *judgement, notes []v1alpha1.Note, scenarios []v1alpha1.Scenario) {
	names := make([]string, 0, len(scenarios))
	for _, scenario := range scenarios {
		names = append(names, scenario.Name)
	}
	for i, note := range notes {
		if note.Scenario != "" && !slices.Contains(names, note.Scenario) {
			found.refuse(field.Invalid(field.NewPath("spec", "notes").Index(i).Child("scenario"), note.Scenario,
				fmt.Sprintf("there is no such scenario: write one of %s, or remove it to show the note below all scenarios", prose.Enumerate(names))))
		}
	}
}
