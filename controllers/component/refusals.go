// SPDX-License-Identifier: Apache-2.0

package component

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/text/prose"
)

// RefusalRetryInterval is how often a refused write is retried. The end of the cause, such as a
// policy, a quota or an object, triggers no event.
const RefusalRetryInterval = 10 * time.Second

// RefusalReadiness is the readiness after a refused write that people can fix, or after a read
// that failed for now. It returns false for other errors.
func RefusalReadiness(err error) (environment.Readiness, bool) {
	switch refusal := kube.AsRefusal(err); {
	case apierrors.IsConflict(err):
		return environment.Readiness{}, false
	case refusal != nil:
		return environment.NotReady(refusalReason(refusal), refusal.Sentence()), true
	case kube.IsTransient(err) || kube.IsLogUnavailable(err):
		return environment.NotReady(v1alpha1.ReasonRetrying, prose.Sentence(err.Error())), true
	default:
		return environment.Readiness{}, false
	}
}

func refusalReason(refusal *kube.Refusal) string {
	switch refusal.Owner {
	case kube.OwnerOther:
		return v1alpha1.ReasonNameTaken
	case kube.OwnerEarlier:
		return v1alpha1.ReasonReplacing
	default:
		return v1alpha1.ReasonRefused
	}
}
