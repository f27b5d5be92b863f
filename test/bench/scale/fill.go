// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

const (
	// templates is the namespace in which the first experiment of a kind runs.
	templates = "templates"
	// hands is the number of parallel writers.
	hands = 8
	// mostPasses is the maximum number of reconciles until an experiment with finished runs is
	// complete.
	mostPasses = 10
)

// filler fills a cluster with complete experiments of one kind. The operator's own reconciler
// runs the first experiment in the cluster, one run after the other. The other experiments get
// copies of its runs. The reconciler also writes their statuses, reports and digests, in a
// cluster in memory with only that experiment. The filler then puts all objects into etcd.
// Filling through the API server, which reads all objects for each list, would take six times
// as long.
type filler struct {
	cluster  *cluster
	declared *declaration
	tools    component.Tools
	// first is the first experiment as stored, and related are the objects that it refers to.
	// runs are its runs, by position, and records are their results.
	first   *v1alpha1.PerfExperiment
	related []client.Object
	runs    []v1alpha1.PerfRun
	records []*record
	// managed are the managed fields of a ConfigMap.
	managed []metav1.ManagedFieldsEntry
	// made is the number of experiments. namespaces lists the existing namespaces.
	made       int
	namespaces map[string]bool
}

func newFiller(ctx context.Context, c *cluster, declared *declaration) (*filler, error) {
	f := &filler{cluster: c, declared: declared, namespaces: map[string]bool{}, tools: component.Tools{
		OperatorNamespace: home, CollectorImage: "example.org/collector:1", CollectorRole: "perflab-collector",
		Events:      &events.FakeRecorder{},
		ClusterInfo: component.ClusterInfo{Version: "v0.4.0", Kubernetes: func() (string, error) { return "v1.35.4", nil }},
	}}
	var err error
	if f.related, err = f.house(ctx, templates); err != nil {
		return nil, err
	}
	return f, f.template(ctx)
}

// reconciler returns the operator's reconciler, which reads without a cache.
func (f *filler) reconciler(at client.Client) *experiment.Reconciler {
	tools := f.tools
	tools.Cluster, tools.Live = kube.Cluster{Client: at}, at
	return experiment.New(tools, time.Now, nil, retention.Policy{})
}

// house creates a namespace with the objects that the experiment refers to, and returns these
// objects as stored.
func (f *filler) house(ctx context.Context, namespace string) ([]client.Object, error) {
	if err := f.cluster.namespace(ctx, namespace); err != nil {
		return nil, err
	}
	var beside []client.Object
	for _, object := range f.declared.related {
		made := object.DeepCopyObject().(client.Object)
		made.SetNamespace(namespace)
		if err := f.cluster.admin.Create(ctx, made); err != nil {
			return nil, fmt.Errorf("making %s: %w", made.GetName(), err)
		}
		beside = append(beside, made)
	}
	return beside, nil
}

// template runs an experiment, keeps its data in the filler, and deletes it.
func (f *filler) template(ctx context.Context) error {
	one, err := f.declare(ctx, templates, f.declared.name)
	if err != nil {
		return err
	}
	r := f.reconciler(f.cluster.admin)
	for range f.declared.runs() {
		run, err := f.next(ctx, r, one)
		if err != nil {
			return err
		}
		run.Status.Phase = v1alpha1.RunSucceeded
		if err := f.cluster.admin.Status().Update(ctx, run); err != nil {
			return fmt.Errorf("ending run %q: %w", run.Name, err)
		}
		f.runs = append(f.runs, *run)
	}
	f.records = make([]*record, len(f.runs))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range f.runs {
		group.Go(func() (err error) {
			f.records[i], err = newRecord(&f.runs[i], f.declared.scripts)
			return err
		})
	}
	err = group.Wait()
	if err == nil {
		err = f.complete(ctx, client.ObjectKeyFromObject(one))
	}
	return errors.Join(err, f.discard(ctx, one))
}

// complete sets the results of the template's runs, and keeps the experiment as stored.
func (f *filler) complete(ctx context.Context, template client.ObjectKey) error {
	for i := range f.runs {
		status, kept, err := f.records[i].named(&f.runs[i])
		if err != nil {
			return err
		}
		for _, one := range kept {
			if err := f.cluster.admin.Create(ctx, one); err != nil {
				return fmt.Errorf("keeping ConfigMap %q: %w", one.Name, err)
			}
			f.managed = one.ManagedFields
		}
		f.runs[i].Status = *status
		if err := f.cluster.admin.Status().Update(ctx, &f.runs[i]); err != nil {
			return fmt.Errorf("writing the status of run %q: %w", f.runs[i].Name, err)
		}
	}
	f.first = &v1alpha1.PerfExperiment{}
	return errors.Join(f.settle(ctx, f.reconciler(f.cluster.admin), template), f.cluster.admin.Get(ctx, template, f.first))
}

// discard deletes the template, because no operator is running that would delete it.
func (f *filler) discard(ctx context.Context, one *v1alpha1.PerfExperiment) error {
	in := client.InNamespace(templates)
	if err := f.cluster.admin.Get(ctx, client.ObjectKeyFromObject(one), one); err != nil {
		return err
	}
	one.Finalizers = nil
	return errors.Join(
		f.cluster.admin.DeleteAllOf(ctx, &v1alpha1.PerfRun{}, in), f.cluster.admin.DeleteAllOf(ctx, &corev1.ConfigMap{}, in),
		f.cluster.admin.Update(ctx, one), f.cluster.admin.Delete(ctx, one),
	)
}

// declare creates an experiment, as a user does who applies it.
func (f *filler) declare(ctx context.Context, namespace, name string) (*v1alpha1.PerfExperiment, error) {
	one := f.declared.experiment.DeepCopy()
	one.Namespace, one.Name = namespace, name
	if err := f.cluster.admin.Create(ctx, one); err != nil {
		return nil, fmt.Errorf("creating experiment %q: %w", name, err)
	}
	return one, nil
}

// next returns the next run that the operator creates.
func (f *filler) next(ctx context.Context, r *experiment.Reconciler, one *v1alpha1.PerfExperiment) (*v1alpha1.PerfRun, error) {
	for range mostPasses {
		if err := f.pass(ctx, r, client.ObjectKeyFromObject(one)); err != nil {
			return nil, err
		}
		runs := &v1alpha1.PerfRunList{}
		if err := f.cluster.admin.List(ctx, runs, client.InNamespace(one.Namespace), client.MatchingLabels{v1alpha1.LabelExperiment: one.Name}); err != nil {
			return nil, err
		}
		begun := slices.IndexFunc(runs.Items, func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() })
		if begun >= 0 {
			return &runs.Items[begun], nil
		}
	}
	return nil, fmt.Errorf("experiment %q starts no run: %w", one.Name, explain(ctx, f.cluster.admin, client.ObjectKeyFromObject(one)))
}

// pass reconciles an experiment, and retries conflicts as a work queue does.
func (f *filler) pass(ctx context.Context, r *experiment.Reconciler, key client.ObjectKey) error {
	for {
		result, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		if err != nil {
			return fmt.Errorf("reconciling experiment %q: %w", key.Name, err)
		}
		if result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
			return nil
		}
		time.Sleep(result.RequeueAfter / 10)
	}
}

// explain returns an experiment's conditions as an error.
func explain(ctx context.Context, at client.Reader, key client.ObjectKey) error {
	found := &v1alpha1.PerfExperiment{}
	if err := at.Get(ctx, key, found); err != nil {
		return err
	}
	return fmt.Errorf("it is %s, waits for %q, and warns: %q", found.Status.Phase, found.Status.WaitingFor, found.Status.Warnings)
}

// settle reconciles an experiment with finished runs until a reconcile changes nothing.
func (f *filler) settle(ctx context.Context, r *experiment.Reconciler, key client.ObjectKey) error {
	version := ""
	for range mostPasses {
		if err := f.pass(ctx, r, key); err != nil {
			return err
		}
		found := &v1alpha1.PerfExperiment{}
		if err := r.Live.Get(ctx, key, found); err != nil {
			return err
		}
		if found.ResourceVersion == version && found.Status.Phase == v1alpha1.ExperimentComplete && found.Status.Report != "" {
			return nil
		}
		version = found.ResourceVersion
	}
	return fmt.Errorf("experiment %q does not become complete: %w", key.Name, explain(ctx, r.Live, key))
}

// fill adds complete experiments to a namespace.
func (f *filler) fill(ctx context.Context, namespace string, count int) error {
	if !f.namespaces[namespace] {
		if _, err := f.house(ctx, namespace); err != nil {
			return err
		}
		f.namespaces[namespace] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(hands)
	for range count {
		f.made++
		name := fmt.Sprintf("%s-%04d", f.declared.name, f.made)
		group.Go(func() error { return f.one(ctx, namespace, name) })
	}
	return group.Wait()
}

// one creates a complete experiment.
func (f *filler) one(ctx context.Context, namespace, name string) error {
	made := &v1alpha1.PerfExperiment{Spec: *f.first.Spec.DeepCopy()}
	made.Namespace, made.Name = namespace, name
	identify(made)
	objects, err := f.copies(made)
	if err != nil {
		return err
	}
	for _, object := range f.related {
		beside := object.DeepCopyObject().(client.Object)
		beside.SetNamespace(namespace)
		objects = append(objects, beside)
	}
	alone, err := inMemory(append(objects, made)...)
	if err != nil {
		return err
	}
	if err := f.settle(ctx, f.reconciler(alone), client.ObjectKeyFromObject(made)); err != nil {
		return err
	}
	return f.move(ctx, alone, namespace)
}

// copies returns the runs of an experiment with the spec of the first, and their related
// objects.
func (f *filler) copies(owner *v1alpha1.PerfExperiment) ([]client.Object, error) {
	var objects []client.Object
	for i := range f.runs {
		run := copied(&f.runs[i], owner)
		status, kept, err := f.records[i].named(run)
		if err != nil {
			return nil, err
		}
		run.Status = *status
		objects = append(objects, run)
		for _, one := range kept {
			identify(one)
			objects = append(objects, one)
		}
	}
	return objects, nil
}

// move writes the objects in memory to the cluster, except objects that exist there.
func (f *filler) move(ctx context.Context, from client.Reader, namespace string) error {
	in := client.InNamespace(namespace)
	maps, runs, experiments := &corev1.ConfigMapList{}, &v1alpha1.PerfRunList{}, &v1alpha1.PerfExperimentList{}
	if err := errors.Join(from.List(ctx, maps, in), from.List(ctx, runs, in), from.List(ctx, experiments, in)); err != nil {
		return err
	}
	var objects []client.Object
	for i := range maps.Items {
		if metav1.GetControllerOf(&maps.Items[i]) == nil {
			continue
		}
		maps.Items[i].ManagedFields = f.managed
		objects = append(objects, &maps.Items[i])
	}
	for i := range runs.Items {
		runs.Items[i].ManagedFields = f.runs[0].ManagedFields
		objects = append(objects, &runs.Items[i])
	}
	for i := range experiments.Items {
		experiments.Items[i].ManagedFields = f.first.ManagedFields
		objects = append(objects, &experiments.Items[i])
	}
	for _, object := range objects {
		if err := f.cluster.keep(ctx, object); err != nil {
			return fmt.Errorf("keeping %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// copied returns a run of another experiment with the same spec.
func copied(of *v1alpha1.PerfRun, owner *v1alpha1.PerfExperiment) *v1alpha1.PerfRun {
	scheme := naming.RunScheme(of)
	run := &v1alpha1.PerfRun{Spec: *of.Spec.DeepCopy()}
	run.Spec.Experiment = owner.Name
	run.ObjectMeta = metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: scheme.Run(owner.Name, run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name, run.Spec.Attempt),
		OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", owner)},
	}
	identify(run)
	run.Labels = naming.RunLabels(run)
	return run
}

// dissolve deletes an experiment and what it has created, while the operator is running.
func (f *filler) dissolve(ctx context.Context, key client.ObjectKey, patience time.Duration) error {
	gone := &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := f.cluster.admin.Delete(ctx, gone); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(look) {
		if err := f.cluster.admin.Get(ctx, key, gone); client.IgnoreNotFound(err) == nil && err != nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errors.Join(fmt.Errorf("experiment %q is not deleted", key.Name), explain(ctx, f.cluster.admin, key))
}
