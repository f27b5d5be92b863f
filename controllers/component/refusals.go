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

// RefusedPause is the time between two tries of a write that was refused. What
// is in its way, a policy, a quota or an object, tells nobody when it goes.
const RefusedPause = 10 * time.Second

// RefusalOf says why a write is not made, where people can do something about
// it, or why something can't be read for now; false: it is another error.
func RefusalOf(err error) (environment.Readiness, bool) {
	switch refusal := kube.AsRefusal(err); {
	case apierrors.IsConflict(err):
		return environment.Readiness{}, false
	case refusal != nil:
		return environment.NotReady(reasonOf(refusal), refusal.Sentence()), true
	case kube.IsTransient(err) || kube.IsLogUnavailable(err):
		return environment.NotReady(v1alpha1.ReasonRetrying, prose.Sentence(err.Error())), true
	default:
		return environment.Readiness{}, false
	}
}

func reasonOf(refusal *kube.Refusal) string {
	switch refusal.Owner {
	case kube.OwnerOther:
		return v1alpha1.ReasonNameTaken
	case kube.OwnerEarlier:
		return v1alpha1.ReasonReplacing
	default:
		return v1alpha1.ReasonRefused
	}
}
