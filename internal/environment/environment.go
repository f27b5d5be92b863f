// SPDX-License-Identifier: Apache-2.0

// Package environment renders the system of a run as objects (intents), and assesses their
// state in the cluster as a readiness with a reason. It is pure: it uses no client and no
// clock. Its subpackages, one per component, do not import each other.
package environment

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// SilenceThreshold is how long an object may have no status before its operator is reported
// as silent. The operator may still act: this is a message to users, not a failure.
const SilenceThreshold = 15 * time.Second

// LongSilenceThreshold is the threshold for an operator that has begun, and may have
// stopped since.
const LongSilenceThreshold = 25 * time.Second

// Request identifies the run for which an environment is built.
type Request struct {
	Namespace  string
	Experiment string
	// Run is the name of the run.
	Run   string
	Reset v1alpha1.ResetPolicy
	// KeepWarm means that Kafkas and PostgreSQLs of other configurations keep running next to the
	// run's own.
	KeepWarm bool
	System   v1alpha1.System
	// Owner is the experiment: the environment outlives the run.
	Owner metav1.OwnerReference
	// Names is the naming scheme of the experiment.
	Names naming.Scheme
	// StrikesPostgres: a fault of the experiment kills pods of PostgreSQL, so that they carry the
	// experiment's label.
	StrikesPostgres bool
	// Pulls are the settings for the images of its pods.
	Pulls Pulls
}

// Intent is a desired object, ready for server-side apply.
type Intent = *unstructured.Unstructured

// Observed is the state of one component in the cluster.
type Observed struct {
	// Objects are the component's existing objects by kind and name.
	Objects map[Key]*unstructured.Unstructured
	// Pods are the component's pods.
	Pods []corev1.Pod
	// Events of pods that have not been ready for a while.
	Events []corev1.Event
	// Refused is the API server's reason to reject pods of the component's operator; empty
	// if there is none, or it was not checked.
	Refused string
	// Now is the time of the observation.
	Now time.Time
}

// Key identifies an observed object.
type Key struct{ Kind, Name string }

// Get returns the object or nil.
func (o Observed) Get(kind, name string) *unstructured.Unstructured {
	return o.Objects[Key{Kind: kind, Name: name}]
}

// Readiness reports whether a component is as declared and, if not, why.
type Readiness struct {
	Ready bool
	// Reason is one of the condition reasons of the API.
	Reason string
	// Message is one sentence, stable between reconciles while nothing changes.
	Message string
	// Final: waiting does not help.
	Final bool
}

// Ready returns the readiness of a component that is as declared.
func Ready(message string) Readiness {
	return Readiness{Ready: true, Reason: v1alpha1.ReasonReady, Message: message}
}

// Check assesses a readiness, or leaves it to later checks.
type Check[T any] func(T) (Readiness, bool)

// RunChecks returns the result of the first check that decides.
func RunChecks[T any](checks []Check[T], about T) (Readiness, bool) {
	for _, check := range checks {
		if readiness, decided := check(about); decided {
			return readiness, true
		}
	}
	return Readiness{}, false
}

// Combine returns the readiness of two parts of a component: that of the first part that is
// not ready.
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

// NotReady returns the readiness of a component that is not.
func NotReady(reason, message string) Readiness {
	return Readiness{Reason: reason, Message: message}
}
