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

// moduleSet are the modules: those that PerfLab makes and those it borrows.
type moduleSet struct{ Base }

// Provision starts the modules, once what they connect to is there.
func (m moduleSet) Provision(ctx context.Context, p *Scope) (Progress, error) {
	request := p.Request()
	intents := modules.Build(request, kafka.Env(request))
	if request.Reset == v1alpha1.ResetReschedule {
		cleared, err := m.deleteEarlierModules(ctx, p, intents)
		if err != nil {
			return Progress{}, err
		}
		if !cleared {
			return Progress{Readiness: environment.NotReady(v1alpha1.ReasonReplacing, "the pods of the run before are leaving their nodes")}, nil
		}
	}
	if err := p.ApplyAll(ctx, intents); err != nil {
		return Progress{}, err
	}
	observed, err := p.observe(ctx, intents, m.objectLabels(p))
	if err != nil {
		return Progress{}, err
	}
	borrowed, err := m.adopt(ctx, p)
	return Progress{Readiness: environment.Both(modules.Assess(request, observed), borrowed)}, err
}

// objectLabels a run's modules have these labels.
func (moduleSet) objectLabels(p *Scope) map[string]string {
	return naming.ComponentLabels(p.Run.Spec.Experiment, environment.ComponentModule)
}

// Stop takes the modules of the run before down and says true when their pods
// are gone as well. Borrowed workloads are not ours to delete, whatever their
// labels.
func (m moduleSet) Stop(ctx context.Context, p *Scope) (bool, error) {
	gone, err := Delete(ctx, p.Cluster, p.Experiment, m.objectLabels(p), deploymentKind)
	if err != nil {
		return false, err
	}
	pods, err := p.pods(ctx, m.objectLabels(p))
	return gone && len(pods) == 0, err
}

// deleteEarlierModules deletes the Deployments of other runs and says whether all pods of theirs
// are gone: only then the scheduler places the new ones as on empty nodes,
// whichever module they are of.
func (m moduleSet) deleteEarlierModules(ctx context.Context, p *Scope, intents []environment.Intent) (bool, error) {
	wanted := map[string]bool{}
	for _, intent := range intents {
		if intent.GetKind() != modules.WorkloadKind {
			continue
		}
		wanted[environment.FingerprintOf(intent)] = true
		current, err := p.Cluster.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
		if err != nil {
			return false, err
		}
		if current == nil || !isOutdated(current, environment.FingerprintOf(intent)) {
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

// TearDown gives back what was borrowed before anything goes that the borrowed
// modules use, and then takes away what was made.
func (m moduleSet) TearDown(ctx context.Context, down *Teardown) (TeardownState, error) {
	returned, err := down.ReleaseWorkloads(ctx, client.ObjectKeyFromObject(down.Experiment), down.Experiment)
	if err != nil {
		return TeardownBlocking, fmt.Errorf("giving back what was borrowed: %w", err)
	}
	if !returned {
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
