// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/run"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// Other tests call the operator and let it read without a cache. Here the manager works as in
// production: its watches fill its cache and trigger reconciles.
func TestManagerWatchesReconcile(t *testing.T) {
	l := newLab(t, complete)
	l.lanes = l.namespace
	l.manage(complete, logr.Logger{})
	l.create(login(), smallExperiment(t, importUnderUsers))
	l.outside.held["cico"] = true
	l.playUntil("a complete experiment without a ticket", func() bool {
		return l.experiment("small").Status.TornDown != nil && len((labs{l}).tickets()) == 0
	})
	if status := l.experiment("small").Status; status.Progress != "2/2" || status.Runs.Invalid != 0 || len(l.runs()) != 2 {
		t.Errorf("progress %s, %d invalid of %d runs, want 2/2 with none of 2: %+v", status.Progress, status.Runs.Invalid, len(l.runs()), status.InvalidRuns)
	}
	reported := &eventsv1.EventList{}
	l.list(reported)
	// The API server creates events about addresses that it repairs.
	if !slices.ContainsFunc(reported.Items, func(e eventsv1.Event) bool { return strings.HasPrefix(e.ReportingController, "perflab") }) {
		t.Errorf("the operator created no event: %v", reported.Items)
	}
}

// All log lines of a run or an experiment have its name.
func TestLogLinesNameObjects(t *testing.T) {
	l := newLab(t, complete)
	lines := make(chan string, 10000)
	l.manage(complete, funcr.New(func(_, line string) { lines <- line }, funcr.Options{Verbosity: 5}))
	l.create(login(), smallExperiment(t, oneArm))
	l.outside.held["cico"] = true
	wanted := map[string]bool{
		fmt.Sprintf(`"namespace"=%q "experiment"="small"`, l.namespace): false,
		fmt.Sprintf(`"namespace"=%q "run"="small-`, l.namespace):        false,
	}
	for deadline := time.After(time.Minute); slices.Contains(slices.Collect(maps.Values(wanted)), false); {
		select {
		case line := <-lines:
			for keys := range wanted {
				wanted[keys] = wanted[keys] || strings.Contains(line, "Reconcil") && strings.Contains(line, keys)
			}
		case <-deadline:
			t.Fatalf("no line with these keys after 1m: %v", wanted)
		}
	}
}

// At its start, the operator has many finished runs in its queue. It skips those with nothing left
// to clean up.
func TestFinishedRunsAreReconciledForLeftovers(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, twoBlocks))
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	left := l.foreign(contract.TestRunKind)[0]
	l.until("an experiment that has settled", func() bool { return l.experiment("small").Status.Settled != "" })
	if found := l.foreign(contract.TestRunKind); len(found) > 0 {
		t.Fatalf("%d TestRuns are left without an end of the operator", len(found))
	}
	// The runners of the TestRuns, and their pods.
	l.collectGarbage()
	left.SetResourceVersion("")
	left.SetUID("")
	l.create(&left)
	passes := make(chan string, 10000)
	l.manage(complete, funcr.New(func(_, line string) {
		if strings.Contains(line, "Reconciling") {
			passes <- line
		}
	}, funcr.Options{Verbosity: 5}))
	await.Until(t.Context(), t, time.Minute, "the TestRun of a finished run to be deleted", func() (bool, string) {
		return len(l.foreign(contract.TestRunKind)) == 0, "it exists"
	})
	for range len(passes) {
		if line := <-passes; strings.Contains(line, `"run"=`) && !strings.Contains(line, left.GetLabels()[v1alpha1.LabelRun]) {
			t.Errorf("a pass over a run of which nothing is left: %s", line)
		}
	}
}

// playUntil simulates everything but the operator, which a manager runs, in real time.
func (l *lab) playUntil(what string, done func() bool) {
	l.t.Helper()
	await.Until(l.t.Context(), l.t, 2*time.Minute, what, func() (bool, string) {
		if done() {
			return true, ""
		}
		l.now = time.Now()
		l.play()
		return false, l.describe()
	})
}

// manage runs the operator as cmd/manager does, until the test ends.
func (l *lab) manage(server *apiserver.Server, logger logr.Logger) {
	l.t.Helper()
	l.admin = l.uncached
	own := installOn(l.t, server)
	l.own = own.client
	cached, err := kubecache.NewOptions(own.config, l.namespace, l.lanes)
	expect.NoError(l.t, err)
	manager, err := ctrl.NewManager(own.config, ctrl.Options{
		Scheme:     l.admin.Scheme(),
		Logger:     logger,
		Cache:      cached,
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	expect.NoError(l.t, err, "building the manager")
	_, runs := l.operator()
	experiments, _ := l.operator()
	pods, err := kubecache.NewPodCaches(manager, kubecache.Namespaces(l.namespace))
	expect.NoError(l.t, err, "making the caches of pods")
	freshness := kubecache.NewFreshness()
	live := freshness.Reader(manager.GetAPIReader(), manager.GetScheme())
	cluster := kube.Cluster{Client: freshness.Client(manager.GetClient(), live), PodReader: pods.Reader(live)}
	runs.Cluster, runs.Live, runs.Now, runs.Events = cluster, live, time.Now, manager.GetEventRecorder("perflab")
	runs.Watches = &run.ThirdPartyWatches{Cluster: cluster, Cache: manager.GetCache(), Pods: pods}
	experiments.Cluster, experiments.Live, experiments.Now, experiments.Events = cluster, live, time.Now, runs.Events
	expect.NoError(l.t, errors.Join(runs.SetupWithManager(manager), experiments.SetupWithManager(manager)), "setting the manager up")
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	l.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			l.t.Errorf("the manager ended with: %v", err)
		}
	})
}
