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

// Base is what all components have in common: a name, a condition, and objects
// that are found by label. It is a component of which nothing is built or proved.
type Base struct {
	// Condition speaks of it.
	Condition string
	// Name of the part in a sentence.
	Name string
	// labels of the objects it is made of, by v1alpha1.LabelComponent.
	labels []string
	// kinds of the objects that outlive a run, in the order in which they are
	// taken down; nil: nothing of it does.
	kinds func(kube.Cluster) ([]schema.GroupVersionKind, error)
}

// Operator is somebody else's program without which a part can't be built.
type Operator struct {
	Kind schema.GroupKind
	Name string
}

// Progress says how far a part is.
type Progress struct {
	environment.Readiness
	// RequeueAfter asks for another look when this much time has gone by. Zero: a watch
	// will tell.
	RequeueAfter time.Duration
}

// Verification is what reading a part back gave.
type Verification struct {
	// Differences between what runs and what was declared, one sentence each.
	Differences []string
	// Pending says what may still change or can't be read yet; nil: the proof
	// is complete.
	Pending *environment.Readiness
	// Fault says why nobody knows what was measured.
	Fault *results.Fault
	// Pods that run the part.
	Pods []corev1.Pod
}

// pending is a proof that has to be asked for again.
func pending(readiness environment.Readiness) Verification {
	return Verification{Pending: &readiness}
}

// TeardownState says how far a part is on its way out.
type TeardownState int

const (
	// TeardownComplete says that nothing of it is left.
	TeardownComplete TeardownState = iota
	// TeardownPending says that it is on its way; others may go meanwhile.
	TeardownPending
	// TeardownBlocking says that it still needs the others.
	TeardownBlocking
)

// Describe returns the part itself.
func (p Base) Describe() Base { return p }

// RequiredOperators nobody.
func (Base) RequiredOperators(environment.Request) []Operator { return nil }

// Provision builds nothing.
func (Base) Provision(context.Context, *Scope) (Progress, error) {
	return Progress{Readiness: notDeclared()}, nil
}

// Render makes nothing.
func (Base) Render(context.Context, *Scope, environment.Request) ([]environment.Intent, error) {
	return nil, nil
}

// Verify has nothing to compare.
func (Base) Verify(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error) {
	return Verification{}, nil
}

// VerifyAfterLoad has nothing to compare.
func (Base) VerifyAfterLoad(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error) {
	return Verification{}, nil
}

// CountRestarts counts nothing.
func (Base) CountRestarts(context.Context, *Scope, *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	return nil, nil
}

// FindComponent finds the part an object is of by its label, or else that of the
// condition. What is of none is of the loads.
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

// Kinds are those that components consist of and the cluster serves, but for pods and
// ConfigMaps, which no pass reads from the manager's cache.
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
	return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system has none"}
}
