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

// moduleSet are the modules: those that PerfLab makes and those it borrows.
type moduleSet struct{ Part }

// Provision starts the modules, once what they connect to is there.
func (m moduleSet) Provision(ctx context.Context, p *Pass) (Progress, error) {
	request := p.Request()
	intents := modules.Build(request, kafka.Env(request))
	if request.Reset == v1alpha1.ResetReschedule {
		cleared, err := m.clear(ctx, p, intents)
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
	observed, err := p.observe(ctx, intents, m.objectsOf(p))
	if err != nil {
		return Progress{}, err
	}
	borrowed, err := m.borrow(ctx, p)
	return Progress{Readiness: environment.Combine(modules.Assess(request, observed), borrowed)}, err
}

// objectsOf a run's modules have these labels.
func (moduleSet) objectsOf(p *Pass) map[string]string {
	return naming.ComponentLabels(p.Run.Spec.Experiment, environment.ComponentModule)
}

// Stop takes the modules of the run before down and says true when their pods
// are gone as well. Borrowed workloads are not ours to delete, whatever their
// labels.
func (m moduleSet) Stop(ctx context.Context, p *Pass) (bool, error) {
	gone, err := Delete(ctx, p.Cluster, p.Experiment, m.objectsOf(p), deploymentKind)
	if err != nil {
		return false, err
	}
	pods, err := p.pods(ctx, m.objectsOf(p))
	return gone && len(pods) == 0, err
}

// clear deletes the Deployments of other runs and says whether all pods of theirs
// are gone: only then the scheduler places the new ones as on empty nodes,
// whichever module they are of.
func (m moduleSet) clear(ctx context.Context, p *Pass, intents []environment.Intent) (bool, error) {
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
		if current == nil || !outdated(current, environment.ReadFingerprint(intent)) {
			continue
		}
		if err := p.Cluster.Delete(ctx, p.Experiment, current); err != nil {
			return false, err
		}
	}
	pods, err := p.pods(ctx, m.objectsOf(p))
	return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return !wanted[pod.Annotations[v1alpha1.AnnotationFingerprint]]
	}), err
}

// TearDown gives back what was borrowed before anything goes that the borrowed
// modules use, and then takes away what was made.
func (m moduleSet) TearDown(ctx context.Context, down *Demolition) (Departure, error) {
	returned, err := down.GiveBack(ctx, client.ObjectKeyFromObject(down.Experiment), down.Experiment)
	if err != nil {
		return Holding, fmt.Errorf("giving back what was borrowed: %w", err)
	}
	if !returned {
		return Holding, nil
	}
	departure, err := m.Part.TearDown(ctx, down)
	if err != nil || departure != Gone {
		return departure, err
	}
	left, err := down.Cluster.Pods(ctx, down.Experiment.Namespace, client.MatchingLabels(naming.ComponentLabels(down.Experiment.Name, environment.ComponentModule)))
	if err != nil || len(left) > 0 {
		return Leaving, err
	}
	return Gone, nil
}
