// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/planning/validate"
	"perflab.dev/perflab/internal/text/prose"
)

// maxFaults are told at once; who mends them is told the next.
const maxFaults = 3

// sound judges the experiment before its first run, as admission does: it may
// have been stored while nobody was asked, or before its system was there.
// Later nothing of it can change.
func (r *Reconciler) sound(ctx context.Context, s *scope, system *v1alpha1.System) (bool, error) {
	if s.begun() {
		return true, nil
	}
	scripts, err := kube.ConfigMaps(ctx, r.Live, s.experiment.Namespace, kinds.ConfigMaps(s.experiment.Spec.Scenarios))
	if err != nil {
		return false, err
	}
	s.judged = true
	s.faults, s.warnings = validate.Experiment(s.experiment, validate.Known{System: system, ConfigMaps: scripts, NoAccounts: r.Accounts == nil})
	if len(s.faults) > 0 && len(scripts) > 0 {
		// A script can be mended without a change of the experiment.
		s.after = missingSystemPause
	}
	return len(s.faults) == 0, nil
}

// begun reports whether there is a first run, which may be there before the
// status tells of it.
func (s *scope) begun() bool { return len(s.runs) > 0 || s.experiment.Status.StartTime != nil }

// faultMessage says what is wrong with the spec in one line.
func faultMessage(faults field.ErrorList) string {
	sentences := make([]string, 0, maxFaults)
	for _, fault := range faults[:min(len(faults), maxFaults)] {
		sentences = append(sentences, fault.Field+": "+oneLine(fault.Detail))
	}
	message := strings.Join(sentences, "; ")
	if more := len(faults) - len(sentences); more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	return message
}

// oneLine bounds a sentence that may quote what a person wrote.
func oneLine(sentence string) string {
	const most = 500
	return prose.Cut(strings.Join(strings.Fields(sentence), " "), most)
}

// boundedWarnings cuts warnings to what a status can list.
func boundedWarnings(warnings []string) []string {
	var bounded []string
	for i, warning := range warnings {
		if i == component.MaxWarnings-1 && len(warnings) > component.MaxWarnings {
			return append(bounded, fmt.Sprintf("and %d more", len(warnings)-i))
		}
		bounded = append(bounded, oneLine(warning))
	}
	return bounded
}
