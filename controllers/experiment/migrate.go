// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/fit"
)

// migrateWarnings separates, in a status that an operator without artifacts wrote, the warnings
// about the spec and what the report lacks. Those operators knew warnings by their beginnings.
func migrateWarnings(status *v1alpha1.PerfExperimentStatus) {
	if len(status.SpecWarnings) > 0 || slices.ContainsFunc(status.Artifacts, func(made v1alpha1.ArtifactStatus) bool { return made.Name != v1alpha1.ArtifactAnalysis }) {
		return
	}
	for _, warning := range status.Warnings {
		switch {
		case strings.HasPrefix(warning, reportLacks), strings.HasPrefix(warning, reportHides):
			status.SetArtifact(v1alpha1.ArtifactStatus{
				Name: v1alpha1.ArtifactReport, State: v1alpha1.ArtifactCurrent, Reason: v1alpha1.ReasonIncomplete,
				Message: strings.TrimPrefix(warning, aboutReport),
			})
		case !strings.HasPrefix(warning, aboutReport) && !strings.HasPrefix(warning, aboutHistory) &&
			!strings.HasPrefix(warning, aboutRun) && !strings.HasPrefix(warning, aboutLabel) && !strings.HasPrefix(warning, fit.Begins):
			status.SpecWarnings = append(status.SpecWarnings, warning)
		}
	}
}

// Beginnings of warnings of operators without artifacts.
const (
	aboutHistory = "the history in the cluster "
	aboutReport  = "the report in the cluster "
	reportLacks  = aboutReport + "lacks "
	reportHides  = aboutReport + "does not show all of its notes: "
	aboutRun     = "left out: PerfRun"
	aboutLabel   = "without its label: PerfRun"
)
