// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/measure/results"
)

// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list;watch;patch;update

// adopt applies what the run declares to existing workloads and reports their progress. It
// changes none while one of them is refused.
func (m moduleSet) adopt(ctx context.Context, p *Scope) (environment.Readiness, error) {
	adoptions, err := m.Adoptions(ctx, p)
	if err != nil || len(adoptions) == 0 {
		return environment.Ready(""), err
	}
	if slices.ContainsFunc(adoptions, func(adoption workloads.Adoption) bool { return adoption.Refusal != nil }) {
		return workloads.Assess(adoptions, p.Now), nil
	}
	for i := range adoptions {
		refusal, err := m.applyChanges(ctx, p, &adoptions[i])
		if err != nil {
			return environment.Readiness{}, err
		}
		if refusal != nil {
			return *refusal, nil
		}
		if adoptions[i].Pods, err = m.workloadPods(ctx, p, adoptions[i].Object); err != nil {
			return environment.Readiness{}, err
		}
		adoptions[i].Events = p.PodEvents(ctx, adoptions[i].Pods, p.Now)
	}
	return workloads.Assess(adoptions, p.Now), nil
}

// Adoptions returns the adopted modules of the run. The cached object is enough if the run's
// changes are applied. The cache does not hold field managers, so other objects are read from
// the API server.
func (m moduleSet) Adoptions(ctx context.Context, p *Scope) ([]workloads.Adoption, error) {
	return m.adoptions(ctx, p, p.Request())
}

func (m moduleSet) adoptions(ctx context.Context, p *Scope, request environment.Request) ([]workloads.Adoption, error) {
	prefix := kafka.Env(request)
	var adoptions []workloads.Adoption
	for _, module := range request.AdoptedModules() {
		key := client.ObjectKey{Namespace: request.Namespace, Name: module.WorkloadRef.Name}
		kind := appsv1.SchemeGroupVersion.WithKind(string(cmp.Or(module.WorkloadRef.Kind, v1alpha1.WorkloadDeployment)))
		env := modules.AdoptedEnv(request, prefix, module)
		object, err := p.Cluster.Get(ctx, kind, key)
		if err != nil {
			return nil, err
		}
		adoption := workloads.Adopt(request, module, env, object)
		if object != nil && (!adoption.IsApplied() || len(adoption.Contested()) > 0) {
			if object, err = getLive(ctx, p.Live, object); err != nil {
				return nil, err
			}
			adoption = workloads.Adopt(request, module, env, object)
		}
		if fields := adoption.Contested(); len(fields) > 0 {
			adoption.RefuseContested(fields, object, string(kube.FieldOwner))
		}
		adoptions = append(adoptions, adoption)
	}
	return adoptions, nil
}

// getLive reads an object from the API server. It returns nil if the object is gone.
func getLive(ctx context.Context, live client.Reader, seen *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(seen.GroupVersionKind())
	err := live.Get(ctx, client.ObjectKeyFromObject(seen), object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %q: %w", seen.GetKind(), seen.GetName(), err)
	}
	return object, nil
}

// applyChanges applies the run's changes to a workload, once. It returns why they are refused,
// if they are.
func (m moduleSet) applyChanges(ctx context.Context, p *Scope, adoption *workloads.Adoption) (*environment.Readiness, error) {
	if adoption.IsApplied() {
		return nil, nil
	}
	lives, err := m.ownersExist(ctx, p)
	if err != nil {
		return nil, err
	}
	if !lives {
		// Teardown may be over, and would not release the workload.
		refusal := environment.NotReady(v1alpha1.ReasonDeleting, "the experiment is being deleted")
		return &refusal, nil
	}
	return nil, p.Cluster.ApplyFields(ctx, adoption.ApplyIntent(string(kube.FieldOwner)))
}

// ownersExist reports whether the run and its experiment exist and are not being deleted,
// according to the API server.
func (m moduleSet) ownersExist(ctx context.Context, p *Scope) (bool, error) {
	for _, object := range []client.Object{&v1alpha1.PerfExperiment{}, &v1alpha1.PerfRun{}} {
		key := client.ObjectKey{Namespace: p.Run.Namespace, Name: p.Run.Name}
		if _, isExperiment := object.(*v1alpha1.PerfExperiment); isExperiment {
			key.Name = p.Run.Spec.Experiment
		}
		err := p.Live.Get(ctx, key, object)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("reading %q: %w", key.Name, err)
		}
		if object.GetDeletionTimestamp() != nil {
			return false, nil
		}
	}
	return true, nil
}

// workloadPods returns the pods that a workload selects and controls.
func (m moduleSet) workloadPods(ctx context.Context, p *Scope, object *unstructured.Unstructured) ([]corev1.Pod, error) {
	selector, err := workloads.Selector(object)
	if err != nil {
		return nil, err
	}
	lineage := NewLineage(object)
	if err := p.addReplicaSets(ctx, lineage); err != nil {
		return nil, err
	}
	all, err := p.allPods(ctx)
	return slices.DeleteFunc(lineage.Pods(all), func(pod corev1.Pod) bool { return !selector.Matches(labels.Set(pod.Labels)) }), err
}

// addAdoptedPods adds the pods of adopted modules that were created for the run, by module.
func (m moduleSet) addAdoptedPods(ctx context.Context, p *Scope, pods map[string][]corev1.Pod) error {
	adoptions, err := m.Adoptions(ctx, p)
	if err != nil {
		return err
	}
	for _, adoption := range adoptions {
		if adoption.Object == nil {
			continue
		}
		if adoption.Pods, err = m.workloadPods(ctx, p, adoption.Object); err != nil {
			return err
		}
		pods[adoption.Module.Name] = adoption.CurrentPods()
	}
	return nil
}

// VerifyAfterLoad finds workloads that someone changed during the load. The run is then
// invalid.
func (m moduleSet) VerifyAfterLoad(ctx context.Context, p *Scope, _ *v1alpha1.EffectiveSystem) (Verification, error) {
	adoptions, err := m.Adoptions(ctx, p)
	if err != nil {
		return Verification{}, err
	}
	for _, adoption := range adoptions {
		if adoption.Refusal == nil && adoption.IsApplied() {
			continue
		}
		message := fmt.Sprintf("%s %q no longer has the changes of this run", adoption.Module.WorkloadRef.Kind, adoption.Module.WorkloadRef.Name)
		if adoption.Refusal != nil {
			message = adoption.Refusal.Message
		}
		return Verification{Fault: &results.Fault{Reason: v1alpha1.ReasonWorkloadContested, Message: "during the load, " + message}}, nil
	}
	return Verification{}, nil
}
