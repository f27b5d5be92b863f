// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/naming"
)

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind(modules.WorkloadKind)
	moduleKinds    = []schema.GroupVersionKind{deploymentKind, corev1.SchemeGroupVersion.WithKind("Service")}
)

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete

// moduleSet is all modules: those that PerfLab creates and those it adopts.
type moduleSet struct{ Base }

// Provision starts the modules. Their servers are ready.
func (m moduleSet) Provision(ctx context.Context, p *Scope) (Progress, error) {
	request := p.Request()
	intents := modules.Build(request, kafka.Env(request))
	if request.Reset == v1alpha1.ResetReschedule {
		cleared, err := m.deleteEarlierModules(ctx, p, intents)
		if err != nil {
			return Progress{}, err
		}
		if !cleared {
			return Progress{Readiness: environment.NotReady(v1alpha1.ReasonReplacing, "waiting for the pods of the previous run to be deleted")}, nil
		}
	}
	if err := p.ApplyAll(ctx, intents); err != nil {
		return Progress{}, err
	}
	observed, err := p.observe(ctx, intents, m.objectLabels(p))
	if err != nil {
		return Progress{}, err
	}
	adopted, err := m.adopt(ctx, p)
	return Progress{Readiness: environment.Combine(modules.Assess(request, observed), adopted)}, err
}

// objectLabels are the labels of the objects of a run's modules.
func (moduleSet) objectLabels(p *Scope) map[string]string {
	return naming.ComponentLabels(p.Run.Spec.Experiment, environment.ComponentModule)
}

// Stop deletes the modules of the previous run and reports whether they and their pods are
// gone. It does not delete adopted workloads, whatever their labels.
func (m moduleSet) Stop(ctx context.Context, p *Scope) (bool, error) {
	gone, err := Delete(ctx, p.Cluster, p.Experiment, m.objectLabels(p), deploymentKind)
	if err != nil {
		return false, err
	}
	pods, err := p.pods(ctx, m.objectLabels(p))
	return gone && len(pods) == 0, err
}

// deleteEarlierModules deletes the Deployments of other runs and reports whether all of their
// pods are gone. Only then does the scheduler place the new pods as on empty nodes.
func (m moduleSet) deleteEarlierModules(ctx context.Context, p *Scope, intents []environment.Intent) (bool, error) {
	wanted := map[string]bool{}
	for _, intent := range intents {
		if intent.GetKind() != modules.WorkloadKind {
			continue
		}
		wanted[environment.ReadFingerprint(intent)] = true
		current, err := p.Cluster.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
		if err != nil {
			return false, err
		}
		if current == nil || !isOutdated(current, environment.ReadFingerprint(intent)) {
			continue
		}
		if err := p.Cluster.Delete(ctx, p.Experiment, current); err != nil {
			return false, err
		}
	}
	pods, err := p.pods(ctx, m.objectLabels(p))
	return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return !wanted[pod.Annotations[v1alpha1.AnnotationFingerprint]]
	}), err
}

// TearDown releases adopted workloads, which still use the other components, and then deletes
// the created modules.
func (m moduleSet) TearDown(ctx context.Context, down *Teardown) (TeardownState, error) {
	released, err := down.ReleaseWorkloads(ctx, client.ObjectKeyFromObject(down.Experiment), down.Experiment)
	if err != nil {
		return TeardownBlocking, fmt.Errorf("releasing adopted workloads: %w", err)
	}
	if !released {
		return TeardownBlocking, nil
	}
	departure, err := m.Base.TearDown(ctx, down)
	if err != nil || departure != TeardownComplete {
		return departure, err
	}
	left, err := down.Cluster.Pods(ctx, down.Experiment.Namespace, client.MatchingLabels(naming.ComponentLabels(down.Experiment.Name, environment.ComponentModule)))
	if err != nil || len(left) > 0 {
		return TeardownPending, err
	}
	return TeardownComplete, nil
}
