// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
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
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

const (
	// templates is the namespace in which the first experiment of a kind is done.
	templates = "templates"
	// hands write at the same time.
	hands = 8
	// mostPasses bring an experiment whose runs are over to its end.
	mostPasses = 10
)

// filler fills a cluster with complete experiments of one kind. The runs of the
// first are the operator's own making, one after the other; those of the others
// are copies. What each experiment says of its runs, its report and its digests
// are written by the operator's reconciler, called here for one experiment at a
// time, so that filling takes no longer for each the more there are.
type filler struct {
	cluster    *cluster
	declared   *declaration
	reconciler *experiment.Reconciler
	// runs are those of the first experiment, by position, and records what they
	// gave.
	runs    []v1alpha1.PerfRun
	records []*record
	// made experiments are numbered from 1, and in namespaces that were housed.
	made   int
	housed map[string]bool
	// settling is for one experiment at a time: the reconciler looks at the runs of one,
	// and passes over others would come back for nothing.
	settling sync.Mutex
}

func newFiller(ctx context.Context, c *cluster, declared *declaration) (*filler, error) {
	f := &filler{cluster: c, declared: declared, housed: map[string]bool{}, reconciler: &experiment.Reconciler{
		Tools: component.Tools{
			Cluster: kube.Cluster{Client: c.admin}, Live: c.admin, Home: home,
			CollectorImage: "example.org/collector:1", CollectorRole: "perflab-collector",
			Events:       &events.FakeRecorder{},
			Surroundings: component.Surroundings{PerfLab: "v0.4.0", Kubernetes: func() (string, error) { return "v1.35.4", nil }},
		},
		Now: time.Now,
	}}
	if err := f.house(ctx, templates); err != nil {
		return nil, err
	}
	return f, f.template(ctx)
}

// house makes a namespace with all that the experiment refers to.
func (f *filler) house(ctx context.Context, namespace string) error {
	if err := f.cluster.namespace(ctx, namespace); err != nil {
		return err
	}
	for _, object := range f.declared.beside {
		made := object.DeepCopyObject().(client.Object)
		made.SetNamespace(namespace)
		if err := f.cluster.admin.Create(ctx, made); err != nil {
			return fmt.Errorf("making %s: %w", made.GetName(), err)
		}
	}
	return nil
}

// template does an experiment: the operator's reconciler plans and makes each run.
// It is taken away again; what is left of it are its runs, and what they gave.
func (f *filler) template(ctx context.Context) error {
	one, err := f.declare(ctx, templates, f.declared.name)
	if err != nil {
		return err
	}
	for range f.declared.runs() {
		run, err := f.next(ctx, one)
		if err != nil {
			return err
		}
		f.runs = append(f.runs, *run.DeepCopy())
		run.Status.Phase = v1alpha1.RunSucceeded
		if err := f.cluster.admin.Status().Update(ctx, run); err != nil {
			return fmt.Errorf("ending run %q: %w", run.Name, err)
		}
	}
	f.records = make([]*record, len(f.runs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i := range f.runs {
		group.Go(func() (err error) {
			f.records[i], err = recordOf(&f.runs[i], f.declared.scripts)
			return err
		})
	}
	return errors.Join(group.Wait(), f.discard(context.WithoutCancel(ctx), one))
}

// discard takes the template away. No operator is there who would.
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

// declare makes an experiment, as somebody would who applies it.
func (f *filler) declare(ctx context.Context, namespace, name string) (*v1alpha1.PerfExperiment, error) {
	one := f.declared.experiment.DeepCopy()
	one.Namespace, one.Name = namespace, name
	if err := f.cluster.admin.Create(ctx, one); err != nil {
		return nil, fmt.Errorf("making experiment %q: %w", name, err)
	}
	return one, nil
}

// next is the run that the operator makes next.
func (f *filler) next(ctx context.Context, one *v1alpha1.PerfExperiment) (*v1alpha1.PerfRun, error) {
	for range mostPasses {
		if err := f.pass(ctx, client.ObjectKeyFromObject(one)); err != nil {
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
	return nil, fmt.Errorf("experiment %q begins no run: %w", one.Name, f.explain(ctx, client.ObjectKeyFromObject(one)))
}

// pass waits as a work queue would where another pass is in the way.
func (f *filler) pass(ctx context.Context, key client.ObjectKey) error {
	for {
		result, err := f.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		if err != nil {
			return fmt.Errorf("reconciling experiment %q: %w", key.Name, err)
		}
		if result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
			return nil
		}
		time.Sleep(result.RequeueAfter / 10)
	}
}

// explain tells what an experiment says of itself.
func (f *filler) explain(ctx context.Context, key client.ObjectKey) error {
	found := &v1alpha1.PerfExperiment{}
	if err := f.cluster.admin.Get(ctx, key, found); err != nil {
		return err
	}
	return fmt.Errorf("it is %s, waits for %q, and warns: %q", found.Status.Phase, found.Status.WaitingFor, found.Status.Warnings)
}

// give writes what a run gave: its status and what is kept beside it.
func (f *filler) give(ctx context.Context, run *v1alpha1.PerfRun, made *record) error {
	status, kept, err := made.named(run)
	if err != nil {
		return err
	}
	for _, one := range kept {
		if err := f.cluster.admin.Create(ctx, one); err != nil {
			return fmt.Errorf("keeping ConfigMap %q: %w", one.Name, err)
		}
	}
	run.Status = *status
	if err := f.cluster.admin.Status().Update(ctx, run); err != nil {
		return fmt.Errorf("writing the status of run %q: %w", run.Name, err)
	}
	return nil
}

// settle has the operator's reconciler bring an experiment to its end whose runs
// are over, until a pass changes nothing any more.
func (f *filler) settle(ctx context.Context, key client.ObjectKey) error {
	f.settling.Lock()
	defer f.settling.Unlock()
	version := ""
	for range mostPasses {
		if err := f.pass(ctx, key); err != nil {
			return err
		}
		found := &v1alpha1.PerfExperiment{}
		if err := f.cluster.admin.Get(ctx, key, found); err != nil {
			return err
		}
		if found.ResourceVersion == version && found.Status.Phase == v1alpha1.ExperimentComplete && found.Status.Report != "" {
			return nil
		}
		version = found.ResourceVersion
	}
	return fmt.Errorf("experiment %q does not become complete: %w", key.Name, f.explain(ctx, key))
}

// fill makes so many complete experiments in a namespace, beyond those it has.
func (f *filler) fill(ctx context.Context, namespace string, count int) error {
	if !f.housed[namespace] {
		if err := f.house(ctx, namespace); err != nil {
			return err
		}
		f.housed[namespace] = true
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

func (f *filler) one(ctx context.Context, namespace, name string) error {
	made, err := f.declare(ctx, namespace, name)
	if err != nil {
		return err
	}
	for i := range f.runs {
		run := copied(&f.runs[i], made)
		if err := f.cluster.admin.Create(ctx, run); err != nil {
			return fmt.Errorf("making run %q: %w", run.Name, err)
		}
		if err := f.give(ctx, run, f.records[i]); err != nil {
			return err
		}
	}
	return f.settle(ctx, client.ObjectKeyFromObject(made))
}

// copied is a run of another experiment that is declared alike.
func copied(of *v1alpha1.PerfRun, owner *v1alpha1.PerfExperiment) *v1alpha1.PerfRun {
	scheme := naming.SchemeOf(of)
	run := &v1alpha1.PerfRun{Spec: *of.Spec.DeepCopy()}
	run.Spec.Experiment = owner.Name
	run.ObjectMeta = metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: scheme.Run(owner.Name, run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name, run.Spec.Attempt),
		OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", owner)},
	}
	run.Labels = naming.RunLabels(run)
	return run
}

// dissolve takes an experiment away with what it has built, the operator being
// there.
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
	return errors.Join(fmt.Errorf("experiment %q does not go", key.Name), f.explain(ctx, key))
}
