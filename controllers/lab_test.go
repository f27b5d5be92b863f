// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/announcer"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/experiment"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/controllers/run"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/publish/sinks"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// lab is a namespace with an operator that reconciles only when the test calls it, a clock that
// only tests advance, and a simulation of everything outside the operator.
type lab struct {
	t *testing.T
	// admin acts as users, other operators and the kubelet.
	admin client.WithWatch
	// own has the operator's rights, if they are installed.
	own client.WithWatch
	// accounts are those that the operator impersonates; nil: none.
	accounts *kube.Accounts
	// uncached reads objects of others as well.
	uncached  client.WithWatch
	namespace string
	now       time.Time
	outside   outside
	target    fakeTarget
	brokers   fakeBrokers
	databases fakeDatabases
	runners   fakeRunners
	logs      fakeLogs
	events    fakeEvents
	// scraped are the metrics for Prometheus; they survive restarts of the operator.
	scraped   *prometheus.Registry
	telemetry *telemetry.Metrics
	line      line
	// live is the operator's uncached reader; nil: admin.
	live client.Reader
	// addresses is the number of pods with an address.
	addresses int
	// eachRound checks objects in progress, eachPass the result of the operator's last reconcile;
	// nil: none.
	eachRound, eachPass func()
	// passed is the error of the operator's last reconcile, as in its log.
	passed []error
	// home is the namespace of the operator.
	home string
	// lanes is the namespace with the tickets of experiments; empty: no queue.
	lanes string
	// longestTurn is the time limit of a run; 0: none.
	longestTurn time.Duration
	// history is how long results of complete experiments are kept.
	history retention.Policy
	// archive stores records; nil: none.
	archive *archive.Store
	// sinks get announcements; empty: none.
	sinks []sinks.Sink
	// archives of namespaces with their own.
	archives map[string]*archive.Store
	// collector is the collector's image; empty: none.
	collector string
	// pulls are the settings for images.
	pulls environment.Pulls
	// restored are the Jobs that restored data, jobs the collectors', by name and run.
	restored []string
	jobs     map[string]types.UID
	// lasting is an operator that does all reconciles of experiments; nil: each is done by a
	// restarted one.
	lasting *experiment.Reconciler
}

// newLab creates a lab. Labs are independent, so their tests run in parallel.
func newLab(t *testing.T, server *apiserver.Server) *lab {
	t.Helper()
	t.Parallel()
	return newLabAlone(t, server)
}

// newLabAlone creates one for a test that does not run in parallel.
func newLabAlone(t *testing.T, server *apiserver.Server) *lab {
	t.Helper()
	admin := apiserver.Client(t, server.Config(t))
	uncached, operator := admin, admin
	if cache := readCaches[server]; cache != nil {
		admin, operator = cache.Client(uncached, uncached), cache.Client(uncached, installOn(t, server).client)
	}
	registry := prometheus.NewRegistry()
	l := &lab{
		t: t, admin: admin, own: operator, uncached: uncached, namespace: apiserver.Namespace(t, admin),
		scraped: registry, telemetry: telemetry.New(registry),
		// Objects get their creation time from the API server's clock.
		now:     time.Now().Truncate(time.Second),
		outside: outside{exit: map[string]int32{}, held: map[string]bool{}},
		brokers: fakeBrokers{state: kafka.ClusterState{Mode: v1alpha1.KafkaModeKRaft, Brokers: 1, Version: "4.3", Guessed: true}},
	}
	l.line.takeOver, l.line.scope = l.runOtherOperator, l.namespace
	return l
}

// runOtherOperator lets another operator reconcile for a while.
func (l *lab) runOtherOperator() {
	l.t.Helper()
	l.pass()
	if l.eachRound != nil {
		l.eachRound()
	}
	l.play()
	l.now = l.now.Add(time.Second)
	l.pass()
}

// operator is a restarted one without any state, except a lasting one.
func (l *lab) operator() (*experiment.Reconciler, *run.Reconciler) {
	tools := l.tools()
	now := func() time.Time { return l.now }
	experiments := l.lasting
	if experiments == nil {
		experiments = experiment.New(tools, now, l.telemetry, l.history)
	}
	return experiments,
		&run.Reconciler{
			Tools: tools, Runners: &l.runners, Telemetry: l.telemetry, Now: now,
			Watches: &run.ThirdPartyWatches{Cluster: tools.Cluster, Controller: noWatches{}},
		}
}

// tools are those of a restarted operator.
func (l *lab) tools() component.Tools {
	reads := l.line.to(l.own)
	pods := kubecache.PodReader{Reader: l.reader(), Cached: func(string) client.Reader { return reads }}
	cluster := kube.Cluster{Client: reads, PodReader: pods}
	return component.Tools{
		OperatorNamespace: l.home, Cluster: cluster, Accounts: l.accounts, Live: l.reader(), LeaseNamespace: l.lanes, LongestTurn: l.longestTurn,
		Events:         component.BoundedEvents{EventRecorder: &l.events},
		Settings:       load.Settings{RunnerImage: "example.org/k6:1", StarterImage: "example.org/starter:1", Pulls: l.pulls},
		CollectorImage: l.collector, CollectorRole: "perflab-collector",
		Archives: archive.Archives{Default: l.archive, ByNamespace: l.archives}, Sinks: l.sinks,
		Target: &l.target, Kafka: &l.brokers, Databases: &l.databases, Logs: &l.logs,
		ClusterInfo: component.ClusterInfo{
			Version: "v0.4.0", Kubernetes: func() (string, error) { return "v1.36.1", nil },
		},
	}
}

// reader is the operator's uncached reader.
func (l *lab) reader() client.Reader {
	if l.live != nil {
		return l.live
	}
	return kubecache.NewFreshness().Reader(pastCache{l.own, &l.line, l.t, l.own.Scheme()}, l.own.Scheme())
}

// noWatches accepts watches and never gets an event: tests call the operator.
type noWatches struct{ controller.Controller }

func (noWatches) Watch(source.Source) error { return nil }

// settle reconciles until there is nothing more to do. The operator is restarted before every step.
func (l *lab) settle() {
	l.t.Helper()
	idle, most := 0, 60
	for n := 0; n < most; n++ {
		before := l.line.effects
		l.pass()
		idle++
		if l.line.effects != before || l.line.cut {
			idle = 0
		}
		if l.line.cut && most < 600 {
			// A disturbed step is repeated.
			most++
		}
		if idle > l.line.view.delay() {
			return
		}
	}
	l.t.Fatalf("the operator does not become idle; its last writes:\n%s", strings.Join(tail(l.line.journal, 10), "\n"))
}

// pass reconciles every object once.
func (l *lab) pass() {
	l.t.Helper()
	l.line.cut, l.passed = false, nil
	l.line.view.nextPass()
	for _, experiment := range l.experiments() {
		reconciler, _ := l.operator()
		_, err := reconciler.Reconcile(l.lease(), request(&experiment))
		l.judge("experiment "+experiment.Name, err)
		l.announce(&experiment)
	}
	for _, run := range l.runs() {
		_, reconciler := l.operator()
		before := l.line.effects
		result, err := reconciler.Reconcile(l.lease(), request(&run))
		l.judge("run "+run.Name, err)
		idle := l.line.effects == before && err == nil && l.line.view == nil
		if idle && !run.Status.Phase.IsFinal() && result.RequeueAfter == 0 && l.isLive(run) {
			l.t.Errorf("run %s waits without an alarm: %s", run.Name, run.Status.Message)
		}
	}
	l.checkStatuses()
	if l.eachPass != nil {
		l.eachPass()
	}
}

// announce calls the announcer, if there are sinks.
func (l *lab) announce(about *v1alpha1.PerfExperiment) {
	l.t.Helper()
	if len(l.sinks) == 0 {
		return
	}
	announcements := &announcer.Reconciler{Tools: l.tools(), Now: func() time.Time { return l.now }}
	_, err := announcements.Reconcile(l.lease(), request(about))
	l.judge("announcing "+about.Name, err)
}

// lease lasts until the line revokes it.
func (l *lab) lease() context.Context {
	l.t.Helper()
	ctx, hangUp := context.WithCancel(l.t.Context())
	l.t.Cleanup(hangUp)
	l.line.revokeLease = hangUp
	return ctx
}

func (l *lab) judge(what string, err error) {
	l.t.Helper()
	if err == nil {
		return
	}
	l.passed = append(l.passed, err)
	// An operator that has lost the lease may find that the next one has created or ended the object.
	overtaken := apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
	disturbed := l.line.cut && (errors.Is(err, errCut) || errors.Is(err, context.Canceled) || overtaken)
	if !disturbed && !apierrors.IsConflict(err) {
		l.t.Fatalf("%s: %v", what, err)
	}
}

// isLive reports whether a run's experiment exists, is not being deleted, and is not imported.
func (l *lab) isLive(run v1alpha1.PerfRun) bool {
	return slices.ContainsFunc(l.experiments(), func(e v1alpha1.PerfExperiment) bool {
		return e.Name == run.Spec.Experiment && e.DeletionTimestamp == nil && !provenance.IsImported(&e)
	})
}

// until simulates everything until a condition holds.
func (l *lab) until(what string, done func() bool) {
	l.t.Helper()
	for range 80 {
		l.settle()
		if l.eachRound != nil {
			l.eachRound()
		}
		if done() {
			return
		}
		l.play()
		l.now = l.now.Add(10 * time.Second)
	}
	l.t.Fatalf("timeout waiting for %s:\n%s", what, l.describe())
}

func (l *lab) untilPhase(name string, phase v1alpha1.ExperimentPhase) *v1alpha1.PerfExperiment {
	l.t.Helper()
	l.until("phase "+string(phase), func() bool { return l.experiment(name).Status.Phase == phase })
	return l.experiment(name)
}

// untilRun waits for a run in a phase.
func (l *lab) untilRun(phase v1alpha1.RunPhase) *v1alpha1.PerfRun {
	l.t.Helper()
	var found *v1alpha1.PerfRun
	l.until("a run that is "+string(phase), func() bool {
		runs := l.runs()
		if at := slices.IndexFunc(runs, func(run v1alpha1.PerfRun) bool { return run.Status.Phase == phase }); at >= 0 {
			found = &runs[at]
		}
		return found != nil
	})
	return found
}

func (l *lab) create(objects ...client.Object) {
	l.t.Helper()
	for _, object := range objects {
		object.SetNamespace(l.namespace)
		expect.NoError(l.t, l.admin.Create(l.t.Context(), object), "making %s", object.GetName())
	}
}

func (l *lab) experiment(name string) *v1alpha1.PerfExperiment {
	l.t.Helper()
	found := &v1alpha1.PerfExperiment{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, found), "reading experiment %s", name)
	return found
}

func (l *lab) configMap(name string) *corev1.ConfigMap {
	l.t.Helper()
	found := &corev1.ConfigMap{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, found), "reading ConfigMap %s", name)
	return found
}

func (l *lab) experiments() []v1alpha1.PerfExperiment {
	l.t.Helper()
	list := &v1alpha1.PerfExperimentList{}
	l.list(list)
	return list.Items
}

// runs are sorted by creation.
func (l *lab) runs() []v1alpha1.PerfRun {
	l.t.Helper()
	list := &v1alpha1.PerfRunList{}
	l.list(list)
	slices.SortFunc(list.Items, func(a, b v1alpha1.PerfRun) int {
		return int(a.Spec.Position-b.Spec.Position)*100 + int(a.Spec.Attempt-b.Spec.Attempt)
	})
	return list.Items
}

// run is the newest run, nil if there is none.
func (l *lab) run() *v1alpha1.PerfRun {
	l.t.Helper()
	runs := l.runs()
	if len(runs) == 0 {
		return nil
	}
	return &runs[len(runs)-1]
}

func (l *lab) list(list client.ObjectList, options ...client.ListOption) {
	l.t.Helper()
	expect.NoError(l.t, l.admin.List(l.t.Context(), list, append(options, client.InNamespace(l.namespace))...), "listing %T", list)
}

// change edits an experiment as a user would.
func (l *lab) change(name string, edit func(*v1alpha1.PerfExperiment)) error {
	l.t.Helper()
	changed := l.experiment(name)
	edit(changed)
	return l.admin.Update(l.t.Context(), changed)
}

func (l *lab) mustChange(name string, edit func(*v1alpha1.PerfExperiment)) {
	l.t.Helper()
	expect.NoError(l.t, l.change(name, edit), "changing experiment %s", name)
}

// describe shows the state of a failed test.
func (l *lab) describe() string {
	var lines []string
	for _, experiment := range l.experiments() {
		lines = append(lines, "experiment "+experiment.Name+": "+string(experiment.Status.Phase)+": "+experiment.Status.WaitingFor)
	}
	for _, run := range l.runs() {
		lines = append(lines, "run "+run.Name+": "+string(run.Status.Phase)+": "+run.Status.Message)
	}
	return strings.Join(append(lines, tail(l.line.journal, 10)...), "\n")
}

func request(object client.Object) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}

func tail(lines []string, most int) []string { return lines[max(0, len(lines)-most):] }
