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

// RefusalRetryInterval is the time between two tries of a write that was refused. What
// is in its way, a policy, a quota or an object, tells nobody when it goes.
const RefusalRetryInterval = 10 * time.Second

// RefusalReadiness says why a write is not made, where people can do something about
// it, or why something can't be read for now; false: it is another error.
func RefusalReadiness(err error) (environment.Readiness, bool) {
	switch refusal := kube.RefusalOf(err); {
	case apierrors.IsConflict(err):
		return environment.Readiness{}, false
	case refusal != nil:
		return environment.NotReady(refusalReason(refusal), refusal.Sentence()), true
	case kube.IsPassing(err) || kube.IsUnread(err):
		return environment.NotReady(v1alpha1.ReasonRetrying, prose.Sentence(err.Error())), true
	default:
		return environment.Readiness{}, false
	}
}

func refusalReason(refusal *kube.Refusal) string {
	switch refusal.Owner {
	case kube.Foreign:
		return v1alpha1.ReasonNameTaken
	case kube.Earlier:
		return v1alpha1.ReasonReplacing
	default:
		return v1alpha1.ReasonRefused
	}
}
