// SPDX-License-Identifier: Apache-2.0

// Package earlier completes statuses of earlier versions of PerfLab, which wrote some facts only
// into messages. It is the only package that parses messages of PerfLab: the wording is that of
// those versions, and does not change with today's. It is pure.
package earlier

import (
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// Experiment adds the design warnings to the status of an experiment.
func Experiment(status *v1alpha1.PerfExperimentStatus) {
	if len(status.DesignWarnings) > 0 {
		return
	}
	for _, warning := range status.Warnings {
		if ofDesign.MatchString(warning) {
			status.DesignWarnings = append(status.DesignWarnings, warning)
		}
	}
}

var ofDesign = regexp.MustCompile(`^[Tt]here is no arm beside the baseline|\bdesign\.(blocks|order)\b`)

// Run adds the facts in the warnings of a run to its status. It changes nothing that the run
// shares with a shallow copy.
func Run(run *v1alpha1.PerfRun) {
	status := &run.Status
	isLeftOut, isWarm, isRendered := len(status.LeftOut) > 0, status.AdvisedWarmUp != nil, status.Evidence != nil && status.Evidence.RenderedChange != nil
	for _, warning := range status.Warnings {
		if part, found := leftOut(warning, run.Spec.Scenario); found && !isLeftOut {
			status.LeftOut = append(status.LeftOut, part)
		}
		if advised, found := warmUp(warning); found && !isWarm && (status.AdvisedWarmUp == nil || advised > status.AdvisedWarmUp.Duration) {
			status.AdvisedWarmUp = &metav1.Duration{Duration: advised}
		}
		if strings.Contains(warning, "not built as run ") && !isRendered {
			setRenderedChange(status, warning)
			isRendered = true
		}
	}
}

// leftOut parses a warning about omitted data of a valid run.
func leftOut(warning string, scenario v1alpha1.Scenario) (v1alpha1.LeftOut, bool) {
	what, found := strings.CutPrefix(warning, "left out ")
	if !found {
		return v1alpha1.LeftOut{}, false
	}
	if message, isWhole := strings.CutPrefix(what, "over the whole run: "); isWhole {
		return v1alpha1.LeftOut{Message: message}, true
	}
	windows := []string{metric.Alone, metric.After}
	for _, load := range scenario.Loads {
		windows = append(windows, metric.During(load.Name))
	}
	for _, window := range windows {
		where := strings.Replace(window, "during-", "during ", 1)
		if message, isHere := strings.CutPrefix(what, where+": "); isHere {
			return v1alpha1.LeftOut{Window: window, Message: message}, true
		}
	}
	return v1alpha1.LeftOut{}, false
}

// warmUp parses the warm-up that a warning proposes.
func warmUp(warning string) (time.Duration, bool) {
	_, after, found := strings.Cut(warning, "set measurement.warmUp to ")
	value, _, _ := strings.Cut(after, ",")
	advised, err := time.ParseDuration(value)
	return advised, found && err == nil
}

func setRenderedChange(status *v1alpha1.PerfRunStatus, warning string) {
	completed := &v1alpha1.RunEvidence{}
	if status.Evidence != nil {
		*completed = *status.Evidence
	}
	completed.RenderedChange = &v1alpha1.RenderedChange{Message: warning}
	status.Evidence = completed
}

// Artifacts separates the warnings about the spec from those about the report, in a status by an
// operator without artifacts.
func Artifacts(status *v1alpha1.PerfExperimentStatus) {
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
		case !slices.ContainsFunc(notOfSpec, func(beginning string) bool { return strings.HasPrefix(warning, beginning) }):
			status.SpecWarnings = append(status.SpecWarnings, warning)
		}
	}
}

// Beginnings of warnings of operators without artifacts.
const (
	aboutReport = "the report in the cluster "
	reportLacks = aboutReport + "lacks "
	reportHides = aboutReport + "does not show all of its notes: "
)

// notOfSpec are the beginnings of those that are not about the spec.
var notOfSpec = []string{
	aboutReport, "the history in the cluster ", "left out: PerfRun", "without its label: PerfRun", "not everything fits into the status: ",
}
