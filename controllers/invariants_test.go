// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"sync"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// invariants always hold, under any fault.
type invariants struct {
	*lab
	// made are the objects that must be created only once.
	made map[string]types.UID
	// final are the finished runs.
	final map[string]v1alpha1.RunPhase
	// planned is the plan, once it exists.
	planned string
	// before are the objects before the experiment.
	before map[string]string
}

// watch checks the invariants after every round.
func (l *lab) watch() *invariants {
	l.t.Helper()
	i := &invariants{lab: l, before: l.everything()}
	i.forget()
	others := l.eachRound
	l.eachRound = func() {
		if others != nil {
			others()
		}
		i.check()
	}
	return i
}

// forget allows objects to be recreated after a user has deleted them.
func (i *invariants) forget() {
	i.made, i.final = map[string]types.UID{}, map[string]v1alpha1.RunPhase{}
	clear(i.jobs)
}

// check fails the test if a run is duplicate, reverted or valid although it was invalid, or if the plan
// has changed.
func (i *invariants) check() {
	i.t.Helper()
	runs := i.runs()
	i.checkCreatedOnce(runs)
	on, valid := 0, int32(0)
	for _, run := range runs {
		if was, over := i.final[run.Name]; over && was != run.Status.Phase {
			i.t.Errorf("run %s was %s and is %s", run.Name, was, run.Status.Phase)
		}
		if !run.Status.Phase.IsFinal() {
			on++
			continue
		}
		i.final[run.Name] = run.Status.Phase
		if run.Status.Phase == v1alpha1.RunSucceeded {
			valid++
		}
	}
	if on > 1 {
		i.t.Errorf("%d runs are active at once", on)
	}
	for _, experiment := range i.experiments() {
		i.checkPlan(&experiment, valid)
	}
}

func (i *invariants) checkPlan(experiment *v1alpha1.PerfExperiment, valid int32) {
	i.t.Helper()
	status := &experiment.Status
	if i.planned != "" && status.PlanHash != i.planned {
		i.t.Errorf("the plan was %s and is %s", i.planned, status.PlanHash)
	}
	i.planned = status.PlanHash
	if experiment.DeletionTimestamp != nil {
		return
	}
	if status.Runs != nil && status.Runs.Done > valid {
		i.t.Errorf("%d runs are counted, %d are valid", status.Runs.Done, valid)
	}
	for _, result := range status.Results {
		if result.Runs > valid {
			i.t.Errorf("%s of arm %s comes from %d runs, %d are valid", result.Metric, result.Arm, result.Runs, valid)
		}
	}
}

// checkCreatedOnce checks objects that must not be created twice: a second run would be another
// measurement, a second load additional load.
func (i *invariants) checkCreatedOnce(runs []v1alpha1.PerfRun) {
	i.t.Helper()
	note := func(name string, uid types.UID) {
		if known, seen := i.made[name]; seen && known != uid {
			i.t.Errorf("%s was made twice", name)
		}
		i.made[name] = uid
	}
	for _, run := range runs {
		note("run "+run.Name, run.UID)
	}
	for _, kind := range []schema.GroupVersionKind{contract.TestRunKind, {Group: "batch", Version: "v1", Kind: "Job"}} {
		for _, object := range i.foreign(kind) {
			note(kind.Kind+" "+object.GetName()+" of "+ownerName(&object), object.GetUID())
		}
	}
}

// ownerName distinguishes objects of a run from those of an earlier one with its name, which a
// reconcile may still create before its end, and which are deleted with it.
func ownerName(object metav1.Object) string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return string(owner.UID)
	}
	return ""
}

// expectNothingLeft fails the test if objects of the experiment exist, or adopted ones are not
// restored.
func (i *invariants) expectNothingLeft() {
	i.t.Helper()
	if diff := cmp.Diff(i.before, i.everything()); diff != "" {
		i.t.Errorf("objects differ after the deletion of the experiment (-before +after):\n%s", diff)
	}
}

// listable are the kinds of objects in a namespace.
var listable struct {
	once  sync.Once
	kinds []schema.GroupVersionKind
	err   error
}

// kinds are those that the API server reports.
func (l *lab) kinds() []schema.GroupVersionKind {
	l.t.Helper()
	listable.once.Do(func() { listable.kinds, listable.err = discoverKinds(complete.Config(l.t)) })
	if listable.err != nil {
		l.t.Fatalf("discovering kinds: %v", listable.err)
	}
	return listable.kinds
}

func discoverKinds(config *rest.Config) ([]schema.GroupVersionKind, error) {
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := api.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	var kinds []schema.GroupVersionKind
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, served) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			// The API server creates events about addresses that it repairs.
			if resource.Kind != "Event" {
				kinds = append(kinds, version.WithKind(resource.Kind))
			}
		}
	}
	return kinds, nil
}

// everything is all objects in the namespace, of any kind, and the brokers' topics, after garbage
// collection. Pods are deleted with their workloads.
func (l *lab) everything() map[string]string {
	l.t.Helper()
	found := map[string]string{}
	for again := true; again; {
		again = false
		clear(found)
		for _, kind := range l.kinds() {
			for _, object := range l.foreign(kind) {
				again = l.isGarbage(&object) || again
				found[kind.Kind+" "+object.GetName()] = l.withoutPods(&object)
			}
		}
	}
	if l.outside.withoutStrimzi {
		// The external brokers' topics. Others are deleted with their topics.
		for _, topic := range l.brokers.names() {
			found["topic "+topic] = ""
		}
	}
	return maps.Clone(found)
}

// isGarbage deletes an object whose owner no longer exists.
func (l *lab) isGarbage(object *unstructured.Unstructured) bool {
	l.t.Helper()
	owner := metav1.GetControllerOf(object)
	if owner == nil || l.exists(owner) || object.GetDeletionTimestamp() != nil {
		return false
	}
	l.remove(object)
	return true
}

func (l *lab) withoutPods(object *unstructured.Unstructured) string {
	l.t.Helper()
	if object.GetKind() == "Pod" {
		return ""
	}
	return storedBytes(l.t, object)
}

// deleteExperiment deletes it as a user does, and waits until it is deleted.
func (i *invariants) deleteExperiment() {
	i.t.Helper()
	for _, experiment := range i.experiments() {
		i.remove(&experiment)
	}
	i.gone()
}

// gone waits until the experiment is deleted and the caches have noticed.
func (i *invariants) gone() {
	i.t.Helper()
	i.until("the end of the experiment", func() bool { return len(i.experiments()) == 0 })
	i.play()
	i.expectNothingLeft()
}
