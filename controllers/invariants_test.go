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

// invariants are what holds at any time, whatever befalls the operator.
type invariants struct {
	*lab
	// made are the objects that are to be made once.
	made map[string]types.UID
	// final are the runs that are over.
	final map[string]v1alpha1.RunPhase
	// planned is the plan, once there is one.
	planned string
	// before is what there was before the experiment.
	before map[string]string
}

// watch looks after every round whether all still holds.
func (l *lab) watch() *invariants {
	l.t.Helper()
	i := &invariants{lab: l, before: l.everything()}
	i.forget()
	others := l.eachRound
	l.eachRound = func() {
		if others != nil {
			others()
		}
		i.hold()
	}
	return i
}

// forget lets what was seen be made again, for a person has taken it away.
func (i *invariants) forget() {
	i.made, i.final = map[string]types.UID{}, map[string]v1alpha1.RunPhase{}
	clear(i.jobs)
}

// hold fails the test where a run is doubled, taken back or counted though it is
// invalid, or the plan has changed.
func (i *invariants) hold() {
	i.t.Helper()
	runs := i.runs()
	i.madeOnce(runs)
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
		i.t.Errorf("%d runs are on at once", on)
	}
	for _, experiment := range i.experiments() {
		i.holdPlan(&experiment, valid)
	}
}

func (i *invariants) holdPlan(experiment *v1alpha1.PerfExperiment, valid int32) {
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

// madeOnce looks at what must not be made twice: another run would be another
// measurement, another load another one on top.
func (i *invariants) madeOnce(runs []v1alpha1.PerfRun) {
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
			note(kind.Kind+" "+object.GetName()+" of "+ownerOf(&object), object.GetUID())
		}
	}
}

// ownerOf tells objects of a run from those of an earlier one of its name, which a
// pass that had begun before its end may still make, and which go with it.
func ownerOf(object metav1.Object) string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return string(owner.UID)
	}
	return ""
}

// nothingLeft fails the test if there is anything the experiment has brought
// about, or has not given back as it was.
func (i *invariants) nothingLeft() {
	i.t.Helper()
	if diff := cmp.Diff(i.before, i.everything()); diff != "" {
		i.t.Errorf("with the experiment gone, things are not as before it (-before +after):\n%s", diff)
	}
}

// listable are the kinds that a namespace can hold.
var listable struct {
	once  sync.Once
	kinds []schema.GroupVersionKind
	err   error
}

// kinds are those, as the API server tells.
func (l *lab) kinds() []schema.GroupVersionKind {
	l.t.Helper()
	listable.once.Do(func() { listable.kinds, listable.err = kindsOf(complete.Config(l.t)) })
	if listable.err != nil {
		l.t.Fatalf("asking for the kinds there are: %v", listable.err)
	}
	return listable.kinds
}

func kindsOf(config *rest.Config) ([]schema.GroupVersionKind, error) {
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
			// The API server tells of addresses it repairs, whenever it looks.
			if resource.Kind != "Event" {
				kinds = append(kinds, version.WithKind(resource.Kind))
			}
		}
	}
	return kinds, nil
}

// everything is all there is in the namespace and in the brokers, once the
// garbage is collected: objects of any kind, with what is in them. Pods come and
// go with their workloads.
func (l *lab) everything() map[string]string {
	l.t.Helper()
	found := map[string]string{}
	for again := true; again; {
		again = false
		clear(found)
		for _, kind := range l.kinds() {
			for _, object := range l.foreign(kind) {
				again = l.collected(&object) || again
				found[kind.Kind+" "+object.GetName()] = l.withoutPods(&object)
			}
		}
	}
	if l.outside.withoutStrimzi {
		// The brokers are somebody else's. Others go with their topics.
		for _, topic := range l.brokers.names() {
			found["topic "+topic] = ""
		}
	}
	return maps.Clone(found)
}

// collected takes an object away whose owner is gone.
func (l *lab) collected(object *unstructured.Unstructured) bool {
	l.t.Helper()
	owner := metav1.GetControllerOf(object)
	if owner == nil || l.isThere(owner) || object.GetDeletionTimestamp() != nil {
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
	return bytesOf(l.t, object)
}

// deleteExperiment deletes it as a person does, and waits until it is gone.
func (i *invariants) deleteExperiment() {
	i.t.Helper()
	for _, experiment := range i.experiments() {
		i.remove(&experiment)
	}
	i.gone()
}

// gone waits until the experiment is gone and everybody knows.
func (i *invariants) gone() {
	i.t.Helper()
	i.until("the end of the experiment", func() bool { return len(i.experiments()) == 0 })
	i.play()
	i.nothingLeft()
}
