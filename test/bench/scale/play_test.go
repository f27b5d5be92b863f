// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/controllers/run"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/expect"
)

// reachable is a network in which every target is reachable.
type reachable struct{}

func (reachable) Reach(context.Context, string) error { return nil }

// played reads the logs of a simulated cluster.
type played struct{ kubelet *kubelet }

func (p played) Log(_ context.Context, namespace, pod, _ string) (io.ReadCloser, error) {
	p.kubelet.mutex.Lock()
	defer p.kubelet.mutex.Unlock()
	return io.NopCloser(bytes.NewReader(p.kubelet.logs[namespace+"/"+pod])), nil
}

func (p played) Recent(ctx context.Context, namespace, pod, container string, _ time.Duration) (io.ReadCloser, error) {
	return p.Log(ctx, namespace, pod, container)
}

// noWatches accepts watches and never sends an event.
type noWatches struct{ controller.Controller }

func (noWatches) Watch(source.Source) error { return nil }

// reconcilers are the operator's reconcilers. The test calls them, and they read without a
// cache.
type reconcilers struct {
	experiments *experiment.Reconciler
	runs        *run.Reconciler
}

func newReconcilers(c *cluster, k *kubelet) reconcilers {
	cluster := kube.Cluster{Client: c.admin}
	tools := component.Tools{
		Cluster: cluster, Live: c.admin, OperatorNamespace: home, Events: &events.FakeRecorder{},
		CollectorImage: "example.org/collector:1", CollectorRole: "perflab-collector",
		Settings: load.Settings{RunnerImage: "example.org/k6:1", StarterImage: "example.org/k6:1"}, Target: reachable{}, Logs: played{k},
		ClusterInfo: component.ClusterInfo{Version: "v0.4.0", Kubernetes: func() (string, error) { return "v1.35.4", nil }},
	}
	return reconcilers{
		experiment.New(tools, time.Now, nil, retention.Policy{}),
		&run.Reconciler{Tools: tools, Now: time.Now, Watches: &run.ThirdPartyWatches{Cluster: cluster, Controller: noWatches{}}},
	}
}

// pass reconciles every object once, and returns the experiment. Temporary errors are retried,
// as the operator does.
func (r reconcilers) pass(t *testing.T, c *cluster) (*v1alpha1.PerfExperiment, []v1alpha1.PerfRun) {
	t.Helper()
	key := client.ObjectKey{Namespace: lab, Name: "live"}
	if _, err := r.experiments.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Log(err)
	}
	list, one := &v1alpha1.PerfRunList{}, &v1alpha1.PerfExperiment{}
	expect.NoError(t, c.admin.List(t.Context(), list, client.InNamespace(lab)))
	for i := range list.Items {
		if _, err := r.runs.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}); err != nil {
			t.Log(err)
		}
	}
	expect.NoError(t, c.admin.Get(t.Context(), key, one))
	return one, list.Items
}

func TestSimulatedExperimentCompletes(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	c := memory(t)
	w, err := startWorld(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(w.kubelet.server.Close)
	declared, err := parseDeclaration("live", liveExperiment)
	expect.NoError(t, err)
	l := &live{bench: &bench{}, cluster: c, world: w, declared: declared}
	expect.NoError(t, l.begin(t.Context(), lab, "http://gateway.example.org", 3*time.Second, 1))
	operator := newReconcilers(c, w.kubelet)
	for deadline := time.Now().Add(time.Minute); ; {
		one, runs := operator.pass(t, c)
		if one.Status.Phase == v1alpha1.ExperimentComplete {
			if one.Status.Runs.Done != 2 || one.Status.Runs.Invalid != 0 {
				t.Errorf("runs %+v, of which these did not count: %v", one.Status.Runs, one.Status.InvalidRuns)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("experiment is %s after %d runs and waits for %q", one.Status.Phase, len(runs), one.Status.WaitingFor)
		}
		select {
		case err := <-w.ended:
			t.Fatalf("the simulation stopped: %v", err)
		case <-time.After(turn):
		}
	}
}
