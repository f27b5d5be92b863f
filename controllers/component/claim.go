// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// Claim makes this operator responsible for an unclaimed experiment and reports whether it
// changed the object. The caller must write it with an optimistic lock, so that only one
// operator succeeds.
func (t *Tools) Claim(experiment *v1alpha1.PerfExperiment) bool {
	if t.OperatorNamespace == "" || ClaimedBy(experiment) != "" {
		return false
	}
	if experiment.Annotations == nil {
		experiment.Annotations = map[string]string{}
	}
	experiment.Annotations[v1alpha1.AnnotationOperator] = t.OperatorNamespace
	return true
}

// HoldsClaim reports whether this operator is responsible for the experiment.
func (t *Tools) HoldsClaim(experiment *v1alpha1.PerfExperiment) bool {
	return ClaimedBy(experiment) == t.OperatorNamespace
}

// ClaimedBy returns the namespace of the operator that is responsible for the experiment, or an
// empty string.
func ClaimedBy(experiment *v1alpha1.PerfExperiment) string {
	return experiment.Annotations[v1alpha1.AnnotationOperator]
}

// OtherOperatorMessage is the condition message for an experiment of another operator.
func (t *Tools) OtherOperatorMessage(experiment *v1alpha1.PerfExperiment) string {
	return fmt.Sprintf("the operator in namespace %q manages this experiment, so the one in %q ignores it: "+
		"make sure that no two operators watch a namespace; if the first is uninstalled, transfer the experiment: kubectl annotate perfexperiment %s -n %s %s-",
		ClaimedBy(experiment), t.OperatorNamespace, experiment.Name, experiment.Namespace, v1alpha1.AnnotationOperator)
}
