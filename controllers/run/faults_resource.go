// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load/faults"
)

// resourceInjector creates a custom resource of another operator, with the rights of the
// experiment's ServiceAccount.
type resourceInjector struct{ r *Reconciler }

// inject creates the resource, and waits for the sign that its fault has started.
func (i resourceInjector) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	switch {
	case s.experiment.Spec.ServiceAccountName == "":
		// Admission refuses this. The operator must not use its own rights for the author.
		s.notInjected("fault %q: spec.serviceAccountName is missing: the operator creates the resource with the rights of this account", declared.Name)
		return next(), nil
	case status.Resource != nil && status.Resource.UID != "":
		return next(), i.awaitBegin(ctx, s, declared, status)
	}
	object, err := faults.Resource(declared, s.run)
	if err != nil {
		s.notInjected("fault %q: %v", declared.Name, err)
		return next(), nil
	}
	if status.Resource == nil {
		status.Resource = &v1alpha1.FaultResource{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName()}
		return onceWritten(), nil
	}
	return i.create(ctx, s, declared, status, object)
}

// create creates the resource. One that exists without being recorded makes the run invalid: it is
// unknown when it was created, and by whom.
func (i resourceInjector) create(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault, object *unstructured.Unstructured) (outcome, error) {
	namespaced, served, err := i.r.Cluster.IsNamespaced(object.GroupVersionKind())
	switch {
	case err != nil:
		return outcome{}, err
	case !served:
		s.notInjected("fault %q: the cluster does not serve %s %s: install its CRD", declared.Name, status.Resource.APIVersion, status.Resource.Kind)
	case !namespaced:
		s.notInjected("fault %q: %s %s is cluster-scoped, so it could affect other workloads", declared.Name, status.Resource.APIVersion, status.Resource.Kind)
	}
	if !served || !namespaced {
		status.Gone = true
		return next(), nil
	}
	if err := i.r.Cluster.Create(ctx, object); err != nil {
		return next(), i.notCreated(ctx, s, declared, status, err)
	}
	status.Resource.UID = object.GetUID()
	return waitFor(faultPollInterval), nil
}

// notCreated explains why the resource was not created, or finds the one that the operator created
// before it was stopped.
func (i resourceInjector) notCreated(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault, err error) error {
	if apierrors.IsAlreadyExists(err) {
		object := resourceOf(s, status)
		found, err := i.r.Cluster.Peek(ctx, object)
		if err != nil {
			return err
		}
		if found && metav1.IsControlledBy(object, s.run) {
			status.Resource.UID = object.GetUID()
			return nil
		}
	}
	if refusal := kube.AsRefusal(err); refusal == nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	status.Gone = true
	s.notInjected("fault %q: its resource can't be created: %v", declared.Name, err)
	return nil
}

// awaitBegin records the start of the fault. The run is invalid if the resource does not report it
// before the loads end.
func (i resourceInjector) awaitBegin(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	object := resourceOf(s, status)
	found, err := i.r.Cluster.Peek(ctx, object)
	switch {
	case err != nil:
		return err
	case !found:
		status.Gone = true
		s.notInjected("fault %q: %s %q was deleted before its status showed the fault", declared.Name, object.GetKind(), object.GetName())
	case faults.Shows(object, declared.Resource.Begun):
		s.recordBegin(declared, status, s.now)
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	return nil
}

// observe records when the resource reports the end of the fault, and deletes it when time is up.
func (i resourceInjector) observe(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	if !s.now.Before(status.Begin.Add(declared.DurationOrDefault())) {
		if err := i.remove(ctx, s, declared, status); err != nil {
			return err
		}
	}
	if status.Over == nil && declared.Resource.Over != nil && !status.Gone {
		object := resourceOf(s, status)
		found, err := i.r.Cluster.Peek(ctx, object)
		if err != nil {
			return err
		}
		if found && faults.Shows(object, *declared.Resource.Over) {
			status.Over = &metav1.MicroTime{Time: s.now}
		}
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	return nil
}

// remove deletes the resource, and records when it is gone.
func (i resourceInjector) remove(ctx context.Context, s *scope, _ v1alpha1.Fault, status *v1alpha1.RunFault) error {
	if status.Resource == nil || status.Gone {
		return nil
	}
	object := resourceOf(s, status)
	found, err := i.r.Cluster.Peek(ctx, object)
	if err != nil {
		return err
	}
	if status.Gone = !found || status.Resource.UID == "" && !metav1.IsControlledBy(object, s.run); status.Gone {
		if status.Over == nil && status.Begin != nil {
			status.Over = &metav1.MicroTime{Time: s.now}
		}
		return nil
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	return i.r.Cluster.DeleteExactly(ctx, object)
}

// resourceOf is the recorded resource of a fault.
func resourceOf(s *scope, status *v1alpha1.RunFault) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(status.Resource.APIVersion)
	object.SetKind(status.Resource.Kind)
	object.SetNamespace(s.run.Namespace)
	object.SetName(status.Resource.Name)
	object.SetUID(status.Resource.UID)
	return object
}
