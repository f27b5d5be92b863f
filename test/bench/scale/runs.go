// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// liveExperiment is one that is done to its end.
//
//go:embed live.yaml
var liveExperiment []byte

const (
	// shortRun and longRun are the lengths of loads whose writes are compared.
	shortRun = 5 * time.Second
	longRun  = 65 * time.Second
	// mutes are the namespaces whose target never answers.
	mutes = 5
)

// runs measures experiments that are done to their end: what they write, how long
// passes take, and how long others wait while some ask targets that never answer.
func (b *bench) runs(ctx context.Context, c *cluster) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	played, err := startWorld(ctx, c)
	if err != nil {
		return err
	}
	defer played.kubelet.server.Close()
	proxy := startServices()
	defer proxy.close()
	b.proxy = proxy.server.URL
	defer func() { b.proxy = "" }()
	declared, err := declarationOf("live", liveExperiment)
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
	l := &live{bench: b, cluster: c, operator: o, world: played, declared: declared}
	if err := l.lengths(ctx); err != nil {
		return err
	}
	return l.others(ctx, proxy)
}

// live is a cluster in which experiments are done.
type live struct {
	*bench
	cluster  *cluster
	operator *operator
	world    *world
	declared *declaration
}

// begin applies an experiment in a namespace of its own whose loads last so long.
func (l *live) begin(ctx context.Context, namespace string, length time.Duration) error {
	l.world.last(namespace, length)
	if err := l.cluster.namespace(ctx, namespace); err != nil {
		return err
	}
	one := l.declared.experiment.DeepCopy()
	one.Namespace = namespace
	one.Spec.Scenarios[0].Loads[0].Duration.Duration = length
	return l.cluster.admin.Create(ctx, one)
}

// complete waits until an experiment is.
func (l *live) complete(ctx context.Context, namespace string) error {
	one := &v1alpha1.PerfExperiment{}
	for deadline := time.Now().Add(l.patience); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-l.world.ended:
			return fmt.Errorf("playing the cluster: %w", err)
		case <-l.operator.ended:
			return l.operator.gone(nil)
		case <-time.After(look):
		}
		if err := l.cluster.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: l.declared.experiment.Name}, one); err != nil {
			return err
		}
		if one.Status.Phase == v1alpha1.ExperimentComplete && one.Status.Report != "" {
			if one.Status.Runs.Invalid > 0 {
				return fmt.Errorf("%d runs in namespace %s did not count: %+v", one.Status.Runs.Invalid, namespace, one.Status.InvalidRuns)
			}
			return nil
		}
	}
	return fmt.Errorf("the experiment in namespace %s is %s after %s: it waits for %q", namespace, one.Status.Phase, l.patience, one.Status.WaitingFor)
}

// lengths measures what a run writes, with a short load and with a long one.
func (l *live) lengths(ctx context.Context) error {
	l.tell("runs: doing experiments with loads of %s and %s", shortRun, longRun)
	before, err := scrape(ctx, l.operator.metrics)
	if err != nil {
		return l.operator.gone(err)
	}
	written := map[time.Duration]float64{}
	for _, length := range []time.Duration{shortRun, longRun} {
		if err := l.begin(ctx, nameOf(length), length); err != nil {
			return err
		}
	}
	for _, length := range []time.Duration{shortRun, longRun} {
		if err := l.complete(ctx, nameOf(length)); err != nil {
			return err
		}
		found := requests{}
		err := l.cluster.audited(func(event auditEvent) {
			if kind, counts := event.counts(); counts && event.of() == nameOf(length) && kind.writes() {
				found[kind]++
			}
		})
		if err != nil {
			return err
		}
		runs := l.declared.runs()
		written[length] = float64(found.total()) / float64(runs)
		l.table.asked = append(l.table.asked, asking{fmt.Sprintf("%d runs with %s of load: writes", runs, length), found})
	}
	after, err := scrape(ctx, l.operator.metrics)
	if err != nil {
		return l.operator.gone(err)
	}
	l.table.addRuns(written, before, after)
	return nil
}

func nameOf(length time.Duration) string { return fmt.Sprintf("load-of-%.0fs", length.Seconds()) }

// others measures how long experiments wait for their first load while some
// targets never answer, against none.
func (l *live) others(ctx context.Context, proxy *services) error {
	alone, err := l.wave(ctx, "alone")
	if err != nil {
		return err
	}
	l.tell("runs: %d targets never answer", mutes)
	for n := range mutes {
		namespace := fmt.Sprintf("mute-%d", n)
		proxy.silence(namespace)
		if err := l.begin(ctx, namespace, shortRun); err != nil {
			return err
		}
	}
	// Until their modules are up, they don't ask.
	time.Sleep(10 * time.Second)
	beside, err := l.wave(ctx, "beside")
	if err != nil {
		return err
	}
	l.table.add(row{
		key: "others.delay", unit: unitSeconds, small: none, large: beside - alone,
		what: fmt.Sprintf("%d namespaces, %d targets that never answer: delay of the others, p50", l.namespaces+mutes, mutes),
	})
	return nil
}

// wave applies an experiment in each of many namespaces at once, and gives the
// median time until the operator has made a TestRun.
func (l *live) wave(ctx context.Context, name string) (float64, error) {
	l.tell("runs: doing experiments in %d namespaces, %s", l.namespaces, name)
	began := map[string]time.Time{}
	for n := range l.namespaces {
		namespace := fmt.Sprintf("%s-%d", name, n)
		began[namespace] = time.Now()
		if err := l.begin(ctx, namespace, shortRun); err != nil {
			return 0, err
		}
	}
	took := map[string]float64{}
	for namespace := range began {
		if err := l.complete(ctx, namespace); err != nil {
			return 0, err
		}
	}
	err := l.cluster.audited(func(event auditEvent) {
		kind, counts := event.counts()
		from, ours := began[event.of()]
		_, known := took[event.of()]
		if counts && ours && !known && kind.resource == "testruns" && kind.writes() {
			took[event.of()] = event.RequestReceivedTimestamp.Sub(from).Seconds()
		}
	})
	if err != nil {
		return 0, err
	}
	if len(took) != len(began) {
		return 0, fmt.Errorf("%d of %d experiments have made a TestRun", len(took), len(began))
	}
	var all []float64
	for _, seconds := range took {
		all = append(all, seconds)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
