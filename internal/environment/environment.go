// SPDX-License-Identifier: Apache-2.0

// Package environment turns the system of a run into objects (intents) and
// what the cluster says about them into a readiness with a reason. It is pure:
// it knows no client and no clock. Its subpackages, one per component, do not
// know each other.
package environment

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// SilenceThreshold is how long an object may stay without any sign of life from its
// operator before the operator is called silent. The operator may still wake
// up: silence is a reason shown to people, not a failure.
const SilenceThreshold = 15 * time.Second

// LongSilenceThreshold is the same for an operator that has begun: it may be gone after
// its first word.
const LongSilenceThreshold = 25 * time.Second

// Request says for which run an environment is wanted.
type Request struct {
	Namespace  string
	Experiment string
	// Run is the name of the run the environment is built for.
	Run   string
	Reset v1alpha1.ResetPolicy
	// KeepWarm: Kafkas and PostgreSQLs of other declarations stay up beside
	// the run's own.
	KeepWarm bool
	System   v1alpha1.System
	// Owner is the experiment: the environment outlives the run.
	Owner metav1.OwnerReference
	// Names are made by the scheme the experiment began with.
	Names naming.Scheme
}

// Intent is an object as it should be, ready for server-side apply.
type Intent = *unstructured.Unstructured

// Observed is what the cluster holds for one component.
type Observed struct {
	// Objects are the component's own objects as they are, by kind and name.
	// An object that is not there is absent.
	Objects map[Key]*unstructured.Unstructured
	// Pods are the component's pods.
	Pods []corev1.Pod
	// Events are those about pods that have not been ready for a while.
	Events []corev1.Event
	// Refused is what the API server has against pods the component's operator
	// can't make; empty: nothing, or nobody has asked.
	Refused string
	// Now is the time of the observation.
	Now time.Time
}

// Key finds an object among the observed.
type Key struct{ Kind, Name string }

// Get returns the object or nil.
func (o Observed) Get(kind, name string) *unstructured.Unstructured {
	return o.Objects[Key{Kind: kind, Name: name}]
}

// Readiness says whether a component is as declared and, if not, why.
type Readiness struct {
	Ready bool
	// Reason is one of the condition reasons of the API.
	Reason string
	// Message is one sentence, stable from pass to pass while nothing changes.
	Message string
	// Final: waiting changes nothing about it.
	Final bool
}

// Ready is the readiness of a component that is as declared.
func Ready(message string) Readiness {
	return Readiness{Ready: true, Reason: v1alpha1.ReasonReady, Message: message}
}

// Check decides how ready something is, or leaves it to the checks after it.
type Check[T any] func(T) (Readiness, bool)

// RunChecks returns what the first check says that decides, if one does.
func RunChecks[T any](checks []Check[T], about T) (Readiness, bool) {
	for _, check := range checks {
		if readiness, decided := check(about); decided {
			return readiness, true
		}
	}
	return Readiness{}, false
}

// Combine is the readiness of two parts of a component: that of the first that is
// not as declared.
func Combine(one, other Readiness) Readiness {
	if !one.Ready {
		return one
	}
	if !other.Ready || one.Message == "" {
		return other
	}
	if other.Message == "" {
		return one
	}
	return Ready(one.Message + "; " + other.Message)
}

// NotReady is the readiness of a component that is not.
func NotReady(reason, message string) Readiness {
	return Readiness{Reason: reason, Message: message}
}
