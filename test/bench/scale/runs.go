// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// liveExperiment is an experiment that is run to completion.
//
//go:embed live.yaml
var liveExperiment []byte

const (
	// shortRun is the length of the shorter load.
	shortRun = 5 * time.Second
	// mutes is the number of namespaces whose target never answers.
	mutes = 5
)

// runs measures experiments that run to completion: their writes, the duration of reconciles,
// and how long other runs wait while some experiments call targets that never answer.
func (b *bench) runs(ctx context.Context, c *cluster) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	played, err := startWorld(ctx, c)
	if err != nil {
		return err
	}
	defer played.kubelet.server.Close()
	targets := startTargets()
	defer targets.close()
	declared, err := parseDeclaration("live", liveExperiment)
	if err != nil {
		return err
	}
	o, err := b.startOperator(ctx, c)
	if err != nil {
		return err
	}
	defer o.stop()
	if err := o.idle(ctx, b.patience); err != nil {
		return err
	}
	l := &live{bench: b, cluster: c, operator: o, world: played, declared: declared, targets: targets}
	if err := l.lengths(ctx); err != nil {
		return err
	}
	return l.others(ctx)
}

// live is a cluster in which experiments run.
type live struct {
	*bench
	cluster  *cluster
	operator *operator
	world    *world
	declared *declaration
	targets  *targets
}

// begin applies an experiment in its own namespace, with a number of blocks, and with the
// length and the target of its loads.
func (l *live) begin(ctx context.Context, namespace, target string, length time.Duration, blocks int32) error {
	l.world.setLength(namespace, length)
	if err := l.cluster.namespace(ctx, namespace); err != nil {
		return err
	}
	one := l.declared.experiment.DeepCopy()
	one.Namespace = namespace
	one.Spec.Scenarios[0].Loads[0].Duration.Duration = length
	one.Spec.Design.Blocks = blocks
	one.Spec.System.Target.Module, one.Spec.System.Target.URL = "", target
	return l.cluster.admin.Create(ctx, one)
}

// complete waits until an experiment is complete.
func (l *live) complete(ctx context.Context, namespace string) error {
	one := &v1alpha1.PerfExperiment{}
	for deadline := time.Now().Add(l.patience); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-l.world.ended:
			return fmt.Errorf("simulating the cluster: %w", err)
		case <-l.operator.ended:
			return l.operator.gone(nil)
		case <-time.After(look):
		}
		if err := l.cluster.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: l.declared.experiment.Name}, one); err != nil {
			return err
		}
		if one.Status.Phase == v1alpha1.ExperimentComplete && one.Status.Report != "" {
			if one.Status.Runs.Invalid > 0 {
				return fmt.Errorf("%d runs in namespace %s are invalid: %+v", one.Status.Runs.Invalid, namespace, one.Status.InvalidRuns)
			}
			return nil
		}
	}
	return fmt.Errorf("the experiment in namespace %s is %s after %s: it waits for %q", namespace, one.Status.Phase, l.patience, one.Status.WaitingFor)
}

// lengths measures the writes of a run with a short and a long load, and the writes of one more
// run of the same experiment.
func (l *live) lengths(ctx context.Context) error {
	l.progress("runs: running experiments with loads of %s and %s", shortRun, l.long)
	before, err := scrape(ctx, l.operator.metrics)
	if err != nil {
		return l.operator.gone(err)
	}
	done := []trial{{"short", shortRun, 1}, {"long", l.long, 1}, {"twice", shortRun, 2}}
	for _, one := range done {
		if err := l.begin(ctx, one.namespace(), l.targets.answering.URL, one.length, one.blocks); err != nil {
			return err
		}
	}
	written := map[string]float64{}
	for _, one := range done {
		if err := l.complete(ctx, one.namespace()); err != nil {
			return err
		}
		found := requests{}
		err := l.cluster.audited(func(event auditEvent) {
			if kind, counts := event.counts(); counts && event.namespace() == one.namespace() && kind.writes() {
				found[kind]++
			}
		})
		if err != nil {
			return err
		}
		written[one.name] = float64(found.total())
		l.table.requests = append(l.table.requests, caseRequests{fmt.Sprintf("%d runs with %s of load: writes", int(one.blocks)*l.declared.runs(), one.length), found})
	}
	after, err := scrape(ctx, l.operator.metrics)
	if err != nil {
		return l.operator.gone(err)
	}
	l.table.addRuns(l.long, float64(l.declared.runs()), written, before, after)
	statuses, err := l.cluster.statuses()
	l.table.addStatuses(statuses)
	return err
}

// statuses returns how long the API server took for each write of a status, in milliseconds, by
// kind.
func (c *cluster) statuses() (map[string][]float64, error) {
	took := map[string][]float64{}
	err := c.audited(func(event auditEvent) {
		if kind, counts := event.counts(); counts && kind.verb == "patch" {
			took[kind.resource] = append(took[kind.resource], event.took())
		}
	})
	return map[string][]float64{"experiment": took["perfexperiments/status"], "run": took["perfruns/status"]}, err
}

// trial is an experiment whose writes are measured.
type trial struct {
	name   string
	length time.Duration
	blocks int32
}

func (t trial) namespace() string { return "trial-" + t.name }

// others measures how long runs wait for the operator, with and without targets that never
// answer.
func (l *live) others(ctx context.Context) error {
	if l.namespaces == 0 {
		return nil
	}
	alone, err := l.wave(ctx, "alone")
	if err != nil {
		return err
	}
	l.progress("runs: %d targets never answer", mutes)
	for n := range mutes {
		namespace := fmt.Sprintf("mute-%d", n)
		if err := l.begin(ctx, namespace, l.targets.silent.URL, shortRun, 1); err != nil {
			return err
		}
	}
	// The experiments call their targets only when their modules are ready.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
	}
	beside, err := l.wave(ctx, "beside")
	if err != nil {
		return err
	}
	l.table.addOthers(l.namespaces, alone, beside)
	return nil
}

// waited has medians over the experiments of many namespaces. queued is the time that a run is
// in the queue, from its creation to the operator's first write of its status. begun is the
// time from applying the experiment to its first TestRun.
type waited struct{ queued, begun float64 }

// wave applies an experiment in each of many namespaces at once.
func (l *live) wave(ctx context.Context, name string) (waited, error) {
	l.progress("runs: running experiments in %d namespaces, %s", l.namespaces, name)
	applied := map[string]time.Time{}
	for n := range l.namespaces {
		namespace := fmt.Sprintf("%s-%d", name, n)
		applied[namespace] = time.Now()
		if err := l.begin(ctx, namespace, l.targets.answering.URL, shortRun, 1); err != nil {
			return waited{}, err
		}
	}
	for namespace := range applied {
		if err := l.complete(ctx, namespace); err != nil {
			return waited{}, err
		}
	}
	first := map[string]map[request]time.Time{}
	err := l.cluster.audited(func(event auditEvent) {
		kind, counts := event.counts()
		if _, ours := applied[event.namespace()]; !counts || !ours {
			return
		}
		if first[event.namespace()] == nil {
			first[event.namespace()] = map[request]time.Time{}
		}
		if _, known := first[event.namespace()][kind]; !known {
			first[event.namespace()][kind] = event.RequestReceivedTimestamp
		}
	})
	if err != nil {
		return waited{}, err
	}
	return waitedFor(applied, first)
}

// waitedFor computes the waits from the operator's first requests in each namespace.
func waitedFor(applied map[string]time.Time, first map[string]map[request]time.Time) (waited, error) {
	var queued, begun []float64
	for namespace, at := range applied {
		made, looked, loaded := first[namespace][request{"create", "perfruns"}], first[namespace][request{"patch", "perfruns/status"}], first[namespace][request{"patch", "testruns"}]
		if made.IsZero() || looked.IsZero() || loaded.IsZero() {
			return waited{}, fmt.Errorf("in namespace %s, the operator has not created a run, written its status and created a TestRun", namespace)
		}
		queued, begun = append(queued, looked.Sub(made).Seconds()), append(begun, loaded.Sub(at).Seconds())
	}
	return waited{median(queued), median(begun)}, nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// quantile returns the smallest value that at least this share of the values does not exceed.
// It is NaN if there are none.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return none
	}
	return stat.Quantile(share, stat.Empirical, slices.Sorted(slices.Values(values)), nil)
}
