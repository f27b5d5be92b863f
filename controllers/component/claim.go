// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// Claim makes an experiment this operator's where it is nobody's, and reports
// whether it has changed it. The first to write it down has it: the write must
// fail over a newer version of the experiment.
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

// HoldsClaim reports whether the experiment is this operator's.
func (t *Tools) HoldsClaim(experiment *v1alpha1.PerfExperiment) bool {
	return ClaimedBy(experiment) == t.OperatorNamespace
}

// ClaimedBy is the operator whose experiment it is; empty: nobody's yet.
func ClaimedBy(experiment *v1alpha1.PerfExperiment) string {
	return experiment.Annotations[v1alpha1.AnnotationOperator]
}

// OtherOperatorMessage says what to do about an experiment of another operator.
func (t *Tools) OtherOperatorMessage(experiment *v1alpha1.PerfExperiment) string {
	return fmt.Sprintf("the operator in namespace %q works on this experiment, so the one in %q leaves it alone: "+
		"see to it that no two operators watch a namespace; if the first is gone, hand the experiment on: kubectl annotate perfexperiment %s -n %s %s-",
		ClaimedBy(experiment), t.OperatorNamespace, experiment.Name, experiment.Namespace, v1alpha1.AnnotationOperator)
}
