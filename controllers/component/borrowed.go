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

// borrow changes the modules that are already there over to what the
// run declares and says how far they are. As long as one of them can't be
// borrowed, none is touched.
func (m moduleSet) borrow(ctx context.Context, p *Pass) (environment.Readiness, error) {
	loans, err := m.Loans(ctx, p)
	if err != nil || len(loans) == 0 {
		return environment.Ready(""), err
	}
	if slices.ContainsFunc(loans, func(loan workloads.Adoption) bool { return loan.Refusal != nil }) {
		return workloads.Assess(loans, p.Now), nil
	}
	for i := range loans {
		refusal, err := m.change(ctx, p, &loans[i])
		if err != nil {
			return environment.Readiness{}, err
		}
		if refusal != nil {
			return *refusal, nil
		}
		if loans[i].Pods, err = m.podsOf(ctx, p, loans[i].Object); err != nil {
			return environment.Readiness{}, err
		}
		loans[i].Events = p.EventsOf(ctx, loans[i].Pods, p.Now)
	}
	return workloads.Assess(loans, p.Now), nil
}

// Loans are the run's borrowed modules. What the cache shows is good enough for
// those that were changed before; it leaves out who owns which field, so the
// others are read anew.
func (m moduleSet) Loans(ctx context.Context, p *Pass) ([]workloads.Adoption, error) {
	return m.loans(ctx, p, p.Request())
}

func (m moduleSet) loans(ctx context.Context, p *Pass, request environment.Request) ([]workloads.Adoption, error) {
	prefix := kafka.Env(request)
	var loans []workloads.Adoption
	for _, module := range request.AdoptedModules() {
		key := client.ObjectKey{Namespace: request.Namespace, Name: module.WorkloadRef.Name}
		kind := appsv1.SchemeGroupVersion.WithKind(string(cmp.Or(module.WorkloadRef.Kind, v1alpha1.WorkloadDeployment)))
		env := modules.AdoptedEnv(request, prefix, module)
		object, err := p.Cluster.Get(ctx, kind, key)
		if err != nil {
			return nil, err
		}
		loan := workloads.Adopt(request, module, env, object)
		if object != nil && (!loan.IsApplied() || len(loan.Contested()) > 0) {
			if object, err = getLive(ctx, p.Live, object); err != nil {
				return nil, err
			}
			loan = workloads.Adopt(request, module, env, object)
		}
		if fields := loan.Contested(); len(fields) > 0 {
			loan.RefuseContested(fields, object, string(kube.FieldOwner))
		}
		loans = append(loans, loan)
	}
	return loans, nil
}

// getLive reads an object past the cache; nil when it is gone.
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

// change applies what the run changes in a workload, once per run. It says why
// the API server refuses, if it does.
func (m moduleSet) change(ctx context.Context, p *Pass, loan *workloads.Adoption) (*environment.Readiness, error) {
	if loan.IsApplied() {
		return nil, nil
	}
	lives, err := m.isWanted(ctx, p)
	if err != nil {
		return nil, err
	}
	if !lives {
		// Nobody would give back what is borrowed now.
		refusal := environment.NotReady(v1alpha1.ReasonDeleting, "the experiment is being deleted")
		return &refusal, nil
	}
	return nil, p.Cluster.ApplyFields(ctx, loan.ApplyIntent(string(kube.FieldOwner)))
}

// isWanted asks the API server, not the cache, whether the run and its
// experiment are there to stay.
func (m moduleSet) isWanted(ctx context.Context, p *Pass) (bool, error) {
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

// podsOf are the pods that a workload selects and controls.
func (m moduleSet) podsOf(ctx context.Context, p *Pass, object *unstructured.Unstructured) ([]corev1.Pod, error) {
	selector, err := workloads.Selector(object)
	if err != nil {
		return nil, err
	}
	lineage := LineageOf(object)
	if err := p.addReplicaSets(ctx, lineage); err != nil {
		return nil, err
	}
	all, err := p.everyPod(ctx)
	return slices.DeleteFunc(lineage.Pods(all), func(pod corev1.Pod) bool { return !selector.Matches(labels.Set(pod.Labels)) }), err
}

// addBorrowedPods adds, by module, the pods of borrowed modules that were made
// for the run.
func (m moduleSet) addBorrowedPods(ctx context.Context, p *Pass, pods map[string][]corev1.Pod) error {
	loans, err := m.Loans(ctx, p)
	if err != nil {
		return err
	}
	for _, loan := range loans {
		if loan.Object == nil {
			continue
		}
		if loan.Pods, err = m.podsOf(ctx, p, loan.Object); err != nil {
			return err
		}
		pods[loan.Module.Name] = loan.CurrentPods()
	}
	return nil
}

// ProveAgain finds workloads that somebody has changed back under the loads:
// nobody knows what was measured then.
func (m moduleSet) ProveAgain(ctx context.Context, p *Pass, _ *v1alpha1.EffectiveSystem) (Proof, error) {
	loans, err := m.Loans(ctx, p)
	if err != nil {
		return Proof{}, err
	}
	for _, loan := range loans {
		if loan.Refusal == nil && loan.IsApplied() {
			continue
		}
		message := fmt.Sprintf("%s %q is no longer as this run has made it", loan.Module.WorkloadRef.Kind, loan.Module.WorkloadRef.Name)
		if loan.Refusal != nil {
			message = loan.Refusal.Message
		}
		return Proof{Fault: &results.Fault{Reason: v1alpha1.ReasonWorkloadContested, Message: "while the loads were on, " + message}}, nil
	}
	return Proof{}, nil
}
