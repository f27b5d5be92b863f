// SPDX-License-Identifier: Apache-2.0

package watching_test

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/watching"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/view"
)

var server = &apiserver.Server{Paths: []string{"config/crd"}}

func TestMain(m *testing.M) { apiserver.Main(m) }

// lab replays the recorded experiment in an API server, as the operator would.
type lab struct {
	*testing.T
	client     client.WithWatch
	input      report.Input
	experiment *v1alpha1.PerfExperiment
	run        *v1alpha1.PerfRun
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, client: apiserver.Client(t, server.Config(t)), input: recorded.Experiment(1)}
	l.experiment = l.input.Experiment.DeepCopy()
	status := l.experiment.Status
	l.experiment.ObjectMeta = metav1.ObjectMeta{Name: recorded.Name, Namespace: apiserver.Namespace(t, l.client)}
	l.must(l.client.Create(t.Context(), l.experiment))
	l.experiment.Status = status
	l.experiment.Status.Phase, l.experiment.Status.CompletionTime = v1alpha1.ExperimentRunning, nil
	l.experiment.Status.Runs = &v1alpha1.RunCounts{Planned: 36}
	l.must(l.client.Status().Update(t.Context(), l.experiment))
	return l
}

func (l *lab) must(err error) {
	l.Helper()
	expect.NoError(l, err)
}

func (l *lab) key() client.ObjectKey { return client.ObjectKeyFromObject(l.experiment) }

// begin starts the recorded run of this number, whose load started a minute ago.
func (l *lab) begin(number int) {
	l.Helper()
	recordedRun := &l.input.Runs[number]
	l.run = recordedRun.DeepCopy()
	l.run.ObjectMeta = metav1.ObjectMeta{Name: recordedRun.Name, Namespace: l.experiment.Namespace, Labels: recordedRun.Labels}
	l.run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(l.experiment, v1alpha1.GroupVersion.WithKind("PerfExperiment"))}
	l.must(l.client.Create(l.Context(), l.run))
	began := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	load := l.run.Spec.Scenario.Loads[0].Name
	l.run.Status = v1alpha1.PerfRunStatus{Phase: v1alpha1.RunLoading, Message: load + ": running", Loads: []v1alpha1.LoadStatus{{Name: load, CreateTime: &began, StartTime: &began}}}
	l.run.Status.Timings.ProvisionStart, l.run.Status.Timings.LoadStart = &began, &began
	l.must(l.client.Status().Update(l.Context(), l.run))
	l.experiment.Status.Current = &v1alpha1.CurrentRun{Run: l.run.Name, Phase: v1alpha1.RunLoading}
	l.must(l.client.Status().Update(l.Context(), l.experiment))
}

// tell writes the progress of the load, this many seconds after its start.
func (l *lab) tell(seconds int, p95, failed string) {
	l.Helper()
	at := metav1.NewTime(l.run.Status.Timings.LoadStart.Add(time.Duration(seconds) * time.Second))
	l.run.Status.Loads[0].Progress = &v1alpha1.LoadProgress{
		Time: at, Users: 8, RequestsPerSecond: "12.5", ErrorPercent: failed,
		P95: []v1alpha1.TransactionProgress{{Transaction: "Check-In", Milliseconds: p95}},
	}
	l.must(l.client.Status().Update(l.Context(), l.run))
}

// end finishes the run as it was recorded.
func (l *lab) end(number int) {
	l.Helper()
	l.run.Status = l.input.Runs[number].Status
	l.must(l.client.Status().Update(l.Context(), l.run))
	l.experiment.Status.Current = nil
	if l.run.Status.Phase == v1alpha1.RunSucceeded {
		l.experiment.Status.Runs.Done++
	}
	l.must(l.client.Status().Update(l.Context(), l.experiment))
}

// complete completes the experiment and creates the raw results of its runs.
func (l *lab) complete() {
	l.Helper()
	l.keep()
	l.experiment.Status.Phase = v1alpha1.ExperimentComplete
	l.must(l.client.Status().Update(l.Context(), l.experiment))
}

// keep creates the ConfigMaps with the raw results of the runs.
func (l *lab) keep() {
	l.Helper()
	for _, raw := range l.input.Raw {
		raw.ObjectMeta = metav1.ObjectMeta{Name: raw.Name, Namespace: l.experiment.Namespace, Labels: raw.Labels}
		l.must(l.client.Create(l.Context(), &raw))
	}
}

// serve serves the page of the experiment on this machine, with a separate connection.
func (l *lab) serve(config *rest.Config) (address string, served *httptest.Server) {
	l.Helper()
	ctx, cancel := context.WithCancel(l.Context())
	l.Cleanup(cancel)
	watched := watching.New(apiserver.Client(l, config), l.key(), time.Now)
	go watched.Run(ctx)
	served = httptest.NewServer(view.Secure(view.Loopback, &view.PageHandler{Source: watched, Now: time.Now}))
	l.Cleanup(served.Close)
	return served.URL + "/", served
}

// read reads a page until it contains a text.
func (l *lab) read(address, want string) string {
	l.Helper()
	return await.Page(l.T, address, "", want, func(page string) bool { return strings.Contains(page, want) })
}

// line forwards connections to the API server. While it is cut, it refuses them.
type line struct {
	*testing.T
	at, to string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

// lineTo returns a line to the server of a configuration, and a configuration through it.
func lineTo(t *testing.T, config *rest.Config) (*line, *rest.Config) {
	t.Helper()
	made := &line{T: t, at: "127.0.0.1:0", to: strings.Trim(strings.TrimPrefix(config.Host, "https://"), "/")}
	made.mend()
	t.Cleanup(made.cut)
	through := rest.CopyConfig(config)
	through.Host = "https://" + made.at
	return made, through
}

func (l *line) mend() {
	l.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", l.at)
	expect.NoError(l, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.at = listener, listener.Addr().String()
	go l.serve(listener)
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, end := range l.open {
		_ = end.Close()
	}
	l.open = nil
}

func (l *line) serve(listener net.Listener) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		to, err := (&net.Dialer{}).Dial("tcp", l.to)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, from, to)
		l.mu.Unlock()
		go func() { _, _ = io.Copy(to, from) }()
		go func() { _, _ = io.Copy(from, to) }()
	}
}
