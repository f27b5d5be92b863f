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

// maxFaults bounds the faults in a message; the next ones are reported once those are fixed.
const maxFaults = 3

// validate checks the experiment before its first run, as admission does: it may have been stored
// while admission was off, or before its system existed. After the first run nothing of it can
// change.
func (r *Reconciler) validate(ctx context.Context, s *scope, system *v1alpha1.System) (bool, error) {
	if s.hasBegun() {
		return true, nil
	}
	scripts, err := kube.ConfigMaps(ctx, r.Live, s.Experiment.Namespace, kinds.ConfigMaps(s.Experiment.Spec.Scenarios))
	if err != nil {
		return false, err
	}
	s.spec.isMade = true
	s.spec.faults, s.spec.warnings = validate.Experiment(s.Experiment, validate.Known{System: system, ConfigMaps: scripts, NoAccounts: r.Accounts == nil})
	if len(s.spec.faults) > 0 && len(scripts) > 0 {
		// A script can be fixed without a change of the experiment.
		s.Requeue(missingSystemPause)
	}
	return len(s.spec.faults) == 0, nil
}

// faultMessage describes in one line what is wrong with the spec.
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

// oneLine bounds a sentence that may quote a user's text.
func oneLine(sentence string) string {
	const most = 500
	return prose.Cut(strings.Join(strings.Fields(sentence), " "), most)
}

// bounded cuts warnings to what a status can list.
func bounded(warnings []string) []string {
	var listed []string
	for i, warning := range warnings {
		if i == component.MaxWarnings-1 && len(warnings) > component.MaxWarnings {
			return append(listed, fmt.Sprintf("and %d more", len(warnings)-i))
		}
		listed = append(listed, oneLine(warning))
	}
	return listed
}
