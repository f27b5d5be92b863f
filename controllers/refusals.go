// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
)

// refusedPause is the time between two tries of a write that was refused. What
// is in its way, a policy, a quota or an object, tells nobody when it goes.
const refusedPause = 10 * time.Second

// refusalOf says why a write is not made, where people can do something about
// it; false: it is another error.
func refusalOf(err error) (environment.Readiness, bool) {
	switch refusal := kube.RefusalOf(err); {
	case apierrors.IsConflict(err):
		return environment.Readiness{}, false
	case refusal != nil:
		return environment.NotReady(reasonOf(refusal), environment.Sentence(refusal.Error())), true
	case kube.IsPassing(err):
		return environment.NotReady(v1alpha1.ReasonRetrying, environment.Sentence(err.Error())), true
	default:
		return environment.Readiness{}, false
	}
}

func reasonOf(refusal *kube.Refusal) string {
	switch refusal.Owner {
	case kube.Foreign:
		return v1alpha1.ReasonNameTaken
	case kube.Earlier:
		return v1alpha1.ReasonReplacing
	default:
		return v1alpha1.ReasonRefused
	}
}

// cannot tells why a step can't go on, and waits with it until the phase has had
// its time. What the API server can't do for now is left to the back-off of
// failed passes, once it has been told.
func (s *runScope) cannot(step step, err error) (outcome, error) {
	readiness, told := refusalOf(err)
	if !told {
		return outcome{}, err
	}
	component := ""
	if refusal := kube.RefusalOf(err); refusal != nil {
		component = refusal.Component
	}
	of := partOf(component, step.condition)
	s.tell(of.condition, readiness)
	if s.fault != nil {
		s.held = readiness.Message
		return waitFor(refusedPause), nil
	}
	waiting := s.notReady(of.name, readiness)
	if readiness.Reason == v1alpha1.ReasonRetrying && s.fault == nil {
		return outcome{}, err
	}
	waiting.after = refusedPause
	return waiting, nil
}

// refused notes what is in the way of an experiment's next write. Other errors
// are passed on, and those that may pass as well.
func (s *experimentScope) refused(err error) error {
	readiness, told := refusalOf(err)
	if !told {
		return err
	}
	s.refusal = &readiness
	if readiness.Reason == v1alpha1.ReasonRetrying {
		return err
	}
	s.after = refusedPause
	return nil
}
