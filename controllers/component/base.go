// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/measure/results"
)

// Base implements Component for one that builds and verifies nothing. Components embed it and
// replace methods.
type Base struct {
	// Condition reports the component's readiness.
	Condition string
	// Name in messages.
	Name string
	// labels are the values of v1alpha1.LabelComponent of its objects.
	labels []string
	// kinds returns the kinds of its objects that outlive a run, in the order of their
	// deletion. Nil: no object outlives a run.
	kinds func(kube.Cluster) ([]schema.GroupVersionKind, error)
}

// Operator is a third-party operator that a component requires.
type Operator struct {
	Kind schema.GroupKind
	Name string
}

// Progress is the provisioning state of a component.
type Progress struct {
	environment.Readiness
	// RequeueAfter is when to reconcile again. Zero: a watch triggers the next reconcile.
	RequeueAfter time.Duration
}

// Verification is the result of comparing the running system with its declaration.
type Verification struct {
	// Differences between the running system and the declaration, a sentence each.
	Differences []string
	// Pending is what may still change or cannot be read yet. Nil: the verification is
	// complete.
	Pending *environment.Readiness
	// Fault is why the measurements are invalid.
	Fault *results.Fault
	// Pods of the component.
	Pods []corev1.Pod
}

// pending returns a verification to repeat.
func pending(readiness environment.Readiness) Verification {
	return Verification{Pending: &readiness}
}

// TeardownState is the deletion state of a component.
type TeardownState int

const (
	// TeardownComplete means that nothing is left.
	TeardownComplete TeardownState = iota
	// TeardownPending means that deletion is in progress. Other components may be deleted as
	// well.
	TeardownPending
	// TeardownBlocking means that the component still uses other components.
	TeardownBlocking
)

// Describe returns the base of a component.
func (p Base) Describe() Base { return p }

// RequiredOperators returns none.
func (Base) RequiredOperators(environment.Request) []Operator { return nil }

// Provision builds nothing.
func (Base) Provision(context.Context, *Scope) (Progress, error) {
	return Progress{Readiness: notDeclared()}, nil
}

// Render returns nothing.
func (Base) Render(context.Context, *Scope, environment.Request) ([]environment.Intent, error) {
	return nil, nil
}

// Verify compares nothing.
func (Base) Verify(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error) {
	return Verification{}, nil
}

// VerifyAfterLoad compares nothing.
func (Base) VerifyAfterLoad(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error) {
	return Verification{}, nil
}

// CountRestarts counts nothing.
func (Base) CountRestarts(context.Context, *Scope, *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	return nil, nil
}

// FaultCandidates returns none.
func (Base) FaultCandidates(context.Context, *Scope, v1alpha1.KillFault) ([]corev1.Pod, error) {
	return nil, nil
}

// Restart restarts nothing.
func (Base) Restart(context.Context, *Scope, v1alpha1.RestartFault, RestartMark) (RestartMark, error) {
	return RestartMark{}, nil
}

// EndRestart takes back nothing.
func (Base) EndRestart(context.Context, *Scope, v1alpha1.RestartFault) error { return nil }

// Switchover changes no primary.
func (Base) Switchover(context.Context, *Scope, v1alpha1.SwitchoverFault, string, time.Time) (time.Time, error) {
	return time.Time{}, nil
}

// FindComponent returns the component of an object's label, or else that of a condition. Other
// objects and conditions belong to the loads.
func FindComponent(label, condition string) Base {
	at := slices.IndexFunc(All, func(c Component) bool { return label != "" && slices.Contains(c.Describe().labels, label) })
	if at < 0 {
		at = slices.IndexFunc(All, func(c Component) bool { return c.Describe().Condition == condition })
	}
	if at < 0 {
		return Base{Condition: v1alpha1.ConditionLoadsComplete, Name: "the loads"}
	}
	return All[at].Describe()
}

// Kinds returns the kinds of the components' objects that the cluster serves. It leaves out
// pods and ConfigMaps, which reconciles do not read from the manager's cache.
func Kinds(cluster kube.Cluster) ([]schema.GroupVersionKind, error) {
	var found []schema.GroupVersionKind
	for _, component := range All {
		of := component.Describe().kinds
		if of == nil {
			continue
		}
		kinds, err := of(cluster)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			if kind == podKind || kind.Kind == "ConfigMap" {
				continue
			}
			_, served, err := cluster.Serves(kind.GroupKind())
			if err != nil {
				return nil, err
			}
			if served {
				found = append(found, kind)
			}
		}
	}
	return found, nil
}

func fixedKinds(kinds ...schema.GroupVersionKind) func(kube.Cluster) ([]schema.GroupVersionKind, error) {
	return func(kube.Cluster) ([]schema.GroupVersionKind, error) { return kinds, nil }
}

func notDeclared() environment.Readiness {
	return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system does not declare any"}
}
