// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Namespaces of generated experiments. Those in attic have an archive from the start.
const (
	lab   = "lab"
	attic = "attic"
)

// nothing measures an idle operator without objects, the baseline of all other cases.
func (b *bench) nothing(ctx context.Context, c *cluster) (err error) {
	b.progress("measuring the idle operator")
	if b.table.empty, err = b.start(ctx, c, nil); err != nil {
		return err
	}
	program, err := os.Stat(b.operator)
	if err != nil {
		return fmt.Errorf("reading the operator's program: %w", err)
	}
	b.table.add(row{key: "program", what: "the operator's program", unit: unitMiB, small: none, large: float64(program.Size()) / mib})
	b.table.add(row{key: "empty.rss", what: "empty cluster: idle memory", unit: unitMiB, small: none, large: b.table.empty.used.resident / mib})
	b.table.add(row{key: "empty.peak", what: "empty cluster: peak memory", unit: unitMiB, small: none, large: b.table.empty.used.peak / mib})
	return nil
}

// demos measures experiments of the demo's size.
func (b *bench) demos(ctx context.Context, c *cluster) error {
	declared, err := demoDeclaration()
	if err != nil {
		return err
	}
	return b.experiments(ctx, c, declared, b.demo, b.demoRuns)
}

// folios measures experiments of 90 modules.
func (b *bench) folios(ctx context.Context, c *cluster) error {
	declared, err := folioDeclaration()
	if err != nil {
		return err
	}
	return b.experiments(ctx, c, declared, b.folio, b.folioRuns)
}

// experiments measures count complete experiments, and twice as many.
func (b *bench) experiments(ctx context.Context, c *cluster, declared *declaration, count, runs int) error {
	if err := declared.plan(runs); err != nil {
		return err
	}
	filler, err := newFiller(ctx, c, declared)
	if err != nil {
		return err
	}
	pair := pair{name: declared.name, count: count, runs: runs}
	bare, err := c.stored(ctx)
	if err != nil {
		return err
	}
	for i := range pair.starts {
		b.progress("%s: creating %d complete experiments of %d runs", declared.name, count, runs)
		if err := filler.fill(ctx, lab, count); err != nil {
			return err
		}
		if pair.stored[i], err = c.stored(ctx); err != nil {
			return err
		}
		b.progress("%s: measuring the operator with %d experiments", declared.name, filler.made)
		pair.starts[i], err = b.start(ctx, c, func(o *operator) error { return b.disturb(ctx, o, filler, &pair.events[i]) })
		if err != nil {
			return err
		}
	}
	b.table.addExperiments(&pair)
	if declared.name == "demo" {
		// Only FOLIO's experiments are large enough to fill etcd.
		return nil
	}
	return b.retained(ctx, c, filler, &pair, bare)
}

// retained measures what remains of experiments in etcd, whose size without any was bare. First
// it deletes raw results after a time. Then it deletes everything archived, with an archive
// added later and with an archive from the start.
func (b *bench) retained(ctx context.Context, c *cluster, f *filler, pair *pair, bare float64) error {
	defer func() { b.flags = nil }()
	directory := filepath.Join(b.dir, "archive-"+pair.name)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	location, err := archive.ParseLocation("file://" + directory)
	if err != nil {
		return err
	}
	store, err := stores.Open(ctx, location, archive.Options{})
	if err != nil {
		return err
	}
	soon := time.Second.String()
	thinned := []string{"--history-raw-results=" + soon}
	archived := slices.Concat(thinned, []string{"--history-runs=" + soon, "--archive=" + location.String()})
	if _, err := b.left(ctx, c, pair, "thinned", "raw results gone", thinned, bare, 2*pair.count); err != nil {
		return err
	}
	left, err := b.left(ctx, c, pair, "late", "archived later, raw results and runs deleted", archived, bare, 2*pair.count)
	if err != nil {
		return err
	}
	b.progress("%s: creating %d complete experiments of %d runs, with an archive", pair.name, pair.count, pair.runs)
	f.tools.Archives.Default = store
	if err := f.fill(ctx, attic, pair.count); err != nil {
		return err
	}
	// Delete raw results first: Kubernetes' garbage collector would delete those of a deleted
	// run, but it does not run here.
	b.flags = slices.Concat(thinned, []string{"--archive=" + location.String()})
	if _, err := b.start(ctx, c, nil); err != nil {
		return err
	}
	_, err = b.left(ctx, c, pair, "archived", "archived, raw results and runs deleted", archived, left, pair.count)
	return err
}

// left adds a row for what an operator with these flags leaves of count experiments, compared
// to etcd's size before. It returns the new size.
func (b *bench) left(ctx context.Context, c *cluster, pair *pair, key, what string, flags []string, before float64, count int) (float64, error) {
	b.progress("%s: measuring what remains of %d experiments: %s", pair.name, count, what)
	b.flags = flags
	kept, err := b.start(ctx, c, nil)
	if err != nil {
		return 0, err
	}
	stored, err := c.stored(ctx)
	if err != nil {
		return 0, err
	}
	b.table.addRetained(pair, key, fmt.Sprintf("%d experiments x %d runs, %s", count, pair.runs, what), (stored-before)/float64(count), kept)
	return stored, nil
}

// started is the cost of an operator's start.
type started struct {
	// took is the time until the operator was idle. late means that it was not idle in time.
	took time.Duration
	late bool
	used usage
	// requests are the operator's requests until then.
	requests requests
	// metrics are the operator's metrics at that time.
	metrics families
}

// start starts an operator, waits until it is idle, and returns the cost. It calls then before
// it stops the operator.
func (b *bench) start(ctx context.Context, c *cluster, then func(*operator) error) (*started, error) {
	began := time.Now()
	o, err := b.startOperator(ctx, c)
	if err != nil {
		return nil, err
	}
	defer o.stop()
	made := &started{}
	if err := o.idle(ctx, b.patience); errors.Is(err, errBusy) {
		made.late = true
	} else if err != nil {
		return nil, err
	}
	made.took = time.Since(began)
	if made.used, err = readUsage(o.command.Process.Pid); err != nil {
		return nil, o.gone(err)
	}
	if made.metrics, err = scrape(ctx, o.metrics); err != nil {
		return nil, o.gone(err)
	}
	if made.requests, o.auditOffset, err = c.countRequests(o.auditOffset); err != nil {
		return nil, err
	}
	if then != nil && !made.late {
		err = then(o)
	}
	return made, err
}

// disturbances are the costs of single events for an idle operator.
type disturbances struct {
	// active is the cost of a change of the status of an active run. foreign and own are the
	// costs of changes of an unrelated pod and of an experiment's pod. scrape is the cost of a
	// read of the operator's metrics by Prometheus.
	active, foreign, own, scrape *cost
}

// disturb measures single events with the experiments of a filler.
func (b *bench) disturb(ctx context.Context, o *operator, f *filler, found *disturbances) (err error) {
	found.scrape, err = b.measure(ctx, o, func(int) error {
		_, err := scrape(ctx, o.metrics)
		return err
	})
	if err != nil {
		return err
	}
	stranger := newPod(lab, "stranger", nil)
	if found.foreign, err = b.podEvents(ctx, o, stranger); err != nil {
		return err
	}
	own := newPod(lab, "own", naming.ComponentLabels(f.declared.name+"-0001", environment.ComponentModule))
	if found.own, err = b.podEvents(ctx, o, own); err != nil {
		return err
	}
	active, err := b.activate(ctx, o, f)
	if err != nil {
		return err
	}
	// Writes that only report progress are rate-limited.
	if err := o.rest(ctx, reported, time.Now().Add(b.patience)); err != nil {
		return err
	}
	found.active, err = b.measure(ctx, o, func(i int) error { return touchRun(ctx, o.cluster.admin, active, i) })
	if err != nil {
		return err
	}
	return f.dissolve(ctx, client.ObjectKey{Namespace: lab, Name: active.Spec.Experiment}, b.patience)
}

// podEvents measures changes of a pod's status.
func (b *bench) podEvents(ctx context.Context, o *operator, pod *corev1.Pod) (*cost, error) {
	admin := o.cluster.admin
	if err := errors.Join(create(ctx, admin, pod), o.pause(ctx)); err != nil {
		return nil, err
	}
	found, err := b.measure(ctx, o, func(i int) error {
		before := pod.DeepCopy()
		pod.Status.Message = fmt.Sprintf("event %d", i)
		return admin.Status().Patch(ctx, pod, client.MergeFrom(before))
	})
	if err != nil {
		return nil, err
	}
	return found, admin.Delete(ctx, pod, client.GracePeriodSeconds(0))
}

// activate creates one more experiment and waits until its run is active. The run then waits
// for Kafka, which nothing creates here.
func (b *bench) activate(ctx context.Context, o *operator, f *filler) (*v1alpha1.PerfRun, error) {
	one, err := f.declare(ctx, lab, fmt.Sprintf("%s-active-%d", f.declared.name, f.made))
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(b.patience); time.Now().Before(deadline); {
		if err := o.pause(ctx); err != nil {
			return nil, err
		}
		runs := &v1alpha1.PerfRunList{}
		if err := o.cluster.admin.List(ctx, runs, client.InNamespace(lab), client.MatchingLabels{v1alpha1.LabelExperiment: one.Name}); err != nil {
			return nil, err
		}
		if len(runs.Items) > 0 && runs.Items[0].Status.Phase == v1alpha1.RunProvisioning {
			return &runs.Items[0], nil
		}
	}
	return nil, fmt.Errorf("no run of experiment %q is active: %w", one.Name, explain(ctx, f.cluster.admin, client.ObjectKeyFromObject(one)))
}

// touchRun changes the status of a run in a way that the operator ignores.
func touchRun(ctx context.Context, admin client.Client, run *v1alpha1.PerfRun, i int) error {
	if err := admin.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return err
	}
	before := run.DeepCopy()
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: "Touched", Status: metav1.ConditionTrue, Reason: "Touched", Message: fmt.Sprintf("event %d", i),
	})
	return admin.Status().Patch(ctx, run, client.MergeFrom(before))
}

// cost is the cost of one event, averaged over several.
type cost struct {
	// cpu is in seconds, allocated in bytes.
	cpu, allocated float64
	// experimentPasses and runPasses count the reconciles of each controller.
	experimentPasses, runPasses float64
	reads, writes               float64
	requests                    requests
}

// measure measures events one after the other. Each starts when the operator has handled the
// previous one. The operator's cost in the same time without events is subtracted.
func (b *bench) measure(ctx context.Context, o *operator, event func(int) error) (*cost, error) {
	began := time.Now()
	withEvents, err := b.observe(ctx, o, func() error {
		for i := range b.events {
			if err := event(i); err != nil {
				return err
			}
			if err := o.pause(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	quiet := time.Since(began)
	without, err := b.observe(ctx, o, func() error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(quiet):
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return withEvents.less(without).each(b.events), nil
}

// observe returns the operator's cost during an action.
func (b *bench) observe(ctx context.Context, o *operator, during func() error) (*cost, error) {
	before, err := b.snapshot(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, o.auditOffset, err = o.cluster.countRequests(o.auditOffset); err != nil {
		return nil, err
	}
	if err := during(); err != nil {
		return nil, err
	}
	after, err := b.snapshot(ctx, o)
	if err != nil {
		return nil, err
	}
	found := after.less(before)
	if found.requests, o.auditOffset, err = o.cluster.countRequests(o.auditOffset); err != nil {
		return nil, err
	}
	found.reads, found.writes = float64(found.requests.reads()), float64(found.requests.written())
	return found, nil
}

// snapshot returns the operator's cost so far.
func (b *bench) snapshot(ctx context.Context, o *operator) (*cost, error) {
	metrics, err := scrape(ctx, o.metrics)
	if err != nil {
		return nil, o.gone(err)
	}
	used, err := threadSeconds(o.command.Process.Pid)
	if err != nil {
		return nil, o.gone(err)
	}
	return &cost{
		cpu: used, allocated: metrics.sum("go_memstats_alloc_bytes_total", nil),
		experimentPasses: metrics.sum(passesMetric, ofExperiments), runPasses: metrics.sum(passesMetric, ofRuns),
	}, nil
}

const (
	passesMetric = "controller_runtime_reconcile_total"
	timesMetric  = "controller_runtime_reconcile_time_seconds"
)

var (
	ofExperiments = map[string]string{"controller": "perfexperiment"}
	ofRuns        = map[string]string{"controller": "perfrun"}
)

func (c *cost) less(other *cost) *cost {
	left := &cost{
		cpu: c.cpu - other.cpu, allocated: c.allocated - other.allocated,
		experimentPasses: c.experimentPasses - other.experimentPasses, runPasses: c.runPasses - other.runPasses,
		reads: c.reads - other.reads, writes: c.writes - other.writes, requests: maps.Clone(c.requests),
	}
	for kind, count := range other.requests {
		left.requests[kind] -= count
	}
	return left
}

// each returns the cost of one of count events.
func (c *cost) each(count int) *cost {
	n := float64(count)
	return &cost{
		cpu: c.cpu / n, allocated: c.allocated / n, experimentPasses: c.experimentPasses / n, runPasses: c.runPasses / n,
		reads: c.reads / n, writes: c.writes / n, requests: c.requests,
	}
}
