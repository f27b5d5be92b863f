// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/publish/sinks"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/receivers"
)

// decidingCheckIns declares a primary metric.
func decidingCheckIns(e *v1alpha1.PerfExperiment) {
	e.Spec.Analysis.Primary = []string{"cico/Check-In/average"}
}

// withSinks adds a receiver of CloudEvents, and a Grafana with a token, to the lab.
func withSinks(l *lab) (*receivers.CloudEvents, *receivers.Grafana) {
	l.t.Helper()
	credentials := l.t.TempDir()
	for path, text := range map[string]string{"ci": "", "board": password} {
		expect.NoError(l.t, errors.Join(os.Mkdir(filepath.Join(credentials, path), 0o700), os.WriteFile(filepath.Join(credentials, path, "token"), []byte(text), 0o600)))
	}
	events, grafana := receivers.NewCloudEvents(l.t), receivers.NewGrafana(l.t, password)
	opened, err := sinks.Open([]string{"ci=" + events.URL}, []string{"board=" + grafana.URL}, credentials, loopback.Rules())
	expect.NoError(l.t, err)
	l.sinks = opened
	return events, grafana
}

func (l *lab) announced(name string) metav1.Condition {
	l.t.Helper()
	return ptr.Deref(meta.FindStatusCondition(l.experiment(name).Status.Conditions, v1alpha1.ConditionAnnounced), metav1.Condition{})
}

// addPast adds earlier experiments like a complete one, with their histories, whose values are
// scaled by these factors.
func (l *lab) addPast(like string, factors ...float64) {
	l.t.Helper()
	l.addPastOf(like, func(experiment *v1alpha1.PerfExperiment, kept *corev1.ConfigMap) {
		experiment.Status.HistoryDigest = regression.Digest(kept)
	}, factors...)
}

// addPastOf also lets the test decide whether each experiment records the digest of its history.
func (l *lab) addPastOf(like string, vouch func(*v1alpha1.PerfExperiment, *corev1.ConfigMap), factors ...float64) {
	l.t.Helper()
	measured, err := regression.DecodeMeasurements(l.configMap(like+"-history"), nil)
	expect.NoError(l.t, err)
	for n, factor := range factors {
		one := measured
		experiment := smallExperiment(l.t, oneArm, decidingCheckIns, func(e *v1alpha1.PerfExperiment) {
			e.Name = fmt.Sprintf("earlier-%d", n)
			// No operator reconciles it.
			e.Annotations = map[string]string{v1alpha1.AnnotationOperator: "another", v1alpha1.AnnotationRelease: fmt.Sprintf("r%d", n)}
		})
		l.create(experiment)
		one.Name, one.UID = experiment.Name, string(experiment.UID)
		one.Began = measured.Began.Add(time.Duration(n-len(factors)) * 24 * time.Hour)
		one.Scenarios = slices.Clone(measured.Scenarios)
		for i := range one.Scenarios {
			one.Scenarios[i].Metrics = slices.Clone(one.Scenarios[i].Metrics)
			for j := range one.Scenarios[i].Metrics {
				metric := &one.Scenarios[i].Metrics[j]
				metric.Values = [][]float64{{metric.Values[0][0] * factor}}
			}
		}
		kept, err := regression.NewConfigMap(experiment, one, nil, nil)
		expect.NoError(l.t, err)
		l.create(kept)
		experiment.Status.Phase = v1alpha1.ExperimentComplete
		vouch(experiment, kept)
		l.updateStatus(experiment)
	}
}

// smaller returns twelve factors that are smaller by about a tenth, and then three of about 1.
func smaller() []float64 {
	factors := []float64{1.001, 0.999, 1.002}
	before := make([]float64, 0, 15)
	for n := range 12 {
		before = append(before, 0.9+0.001*float64(n%3))
	}
	return append(before, factors...)
}

// A change point is in the status, in the report and in an event, and is announced to the
// installation's sinks once, even if the operator is killed at every write.
func TestChangePointIsAnnounced(t *testing.T) {
	l := newLab(t, complete)
	l.settled(decidingCheckIns)
	l.addPast("small", smaller()...)
	events, grafana := withSinks(l)
	l.line.fate = alternate(lost, unanswered)
	l.create(smallExperiment(t, oneArm, decidingCheckIns, func(e *v1alpha1.PerfExperiment) { e.Name = "later" }))
	l.until("an experiment that has settled", func() bool { return l.experiment("later").Status.Settled != "" })

	done := l.experiment("later")
	if len(done.Status.Changes) != 1 {
		t.Fatalf("changes: %+v; warnings: %q", done.Status.Changes, done.Status.Warnings)
	}
	if change := done.Status.Changes[0]; change.Verdict != v1alpha1.VerdictWorse || change.Before != "r11" || change.After != "r12" {
		t.Errorf("%+v", change)
	}
	if page := l.configMap("later-report").Data["report.md"]; !strings.Contains(page, "## This release against the last 10") || !strings.Contains(page, "between r11 and r12") {
		t.Errorf("the report does not show its history:\n%s", page)
	}
	if reported := l.announced("later"); reported.Reason != v1alpha1.ReasonAnnounced || reported.Message != "ci, board were notified" {
		t.Errorf("%+v", reported)
	}
	// Announced once, or again with the same ID if that could not be recorded.
	ids := map[string]string{}
	for _, one := range events.Events() {
		// The other one completed before there were any sinks.
		if strings.HasSuffix(one.Subject(), "/later") {
			ids[one.ID()] = one.Type()
		}
	}
	if kinds := slices.Sorted(maps.Values(ids)); !slices.Equal(kinds, []string{announcement.TypeCompleted, announcement.TypeChanged}) {
		t.Errorf("announced: %q", kinds)
	}
	if kept := grafana.Annotations(); len(kept) != 1 || !slices.Contains(kept[0].Tags, "earlier-12") || !slices.Contains(kept[0].Tags, "worse") {
		t.Errorf("Grafana has %+v", kept)
	}
	// The report of the previous one stays unchanged.
	if page := l.configMap("small-report").Data["report.md"]; strings.Contains(page, "This release against") {
		t.Error("the earlier report was rewritten")
	}
	asked := len(events.Events())
	l.now = l.now.Add(48 * time.Hour)
	if l.settle(); len(events.Events()) != asked {
		t.Error("an announcement was repeated")
	}
}

// The history of an earlier experiment counts only if that experiment's status has its digest.
// Otherwise anyone who can write ConfigMaps could raise or hide an alarm.
func TestForgedHistoriesAreExcluded(t *testing.T) {
	for name, test := range map[string]struct {
		vouch    func(*v1alpha1.PerfExperiment, *corev1.ConfigMap)
		reported bool
	}{
		"of an experiment without a history": {vouch: func(of *v1alpha1.PerfExperiment, _ *corev1.ConfigMap) {
			of.Status.HistoryDigest = regression.NoDigest
		}},
		"of an experiment that is not complete": {vouch: func(*v1alpha1.PerfExperiment, *corev1.ConfigMap) {}},
		"changed afterwards": {reported: true, vouch: func(of *v1alpha1.PerfExperiment, kept *corev1.ConfigMap) {
			before := kept.DeepCopy()
			before.Data[regression.KeyChanges] = "null"
			of.Status.HistoryDigest = regression.Digest(before)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.settled(decidingCheckIns)
			l.addPastOf("small", test.vouch, smaller()...)
			l.create(smallExperiment(t, oneArm, decidingCheckIns, func(e *v1alpha1.PerfExperiment) { e.Name = "later" }))
			l.until("an experiment that has settled", func() bool { return l.experiment("later").Status.Settled != "" })
			if changes := l.experiment("later").Status.Changes; len(changes) > 0 {
				t.Errorf("changes: %+v", changes)
			}
			if l.warns("later", "omits an experiment") != test.reported {
				t.Errorf("warnings: %q", l.experiment("later").Status.Warnings)
			}
		})
	}
}

// With the right to write ConfigMaps, an alarm can't be hidden: the statuses of experiments record
// their histories, and the order. A missing ConfigMap is reported.
func TestHistoriesAreFoundWithoutTheirLabels(t *testing.T) {
	l := newLab(t, complete)
	l.settled(decidingCheckIns)
	l.addPast("small", smaller()...)
	for n := range regression.MaxPoints {
		forged := l.configMap("small-history")
		forged.ObjectMeta = metav1.ObjectMeta{
			Namespace: l.namespace, Name: fmt.Sprintf("aaa-%d-history", n), Labels: forged.Labels,
			Annotations: map[string]string{v1alpha1.AnnotationBegan: "2999-01-01T00:00:00Z"},
		}
		l.create(forged)
	}
	for n := range smaller() {
		kept := l.configMap(fmt.Sprintf("earlier-%d-history", n))
		kept.Labels, kept.Annotations = nil, nil
		expect.NoError(t, l.admin.Update(t.Context(), kept))
	}
	l.remove(l.configMap("earlier-3-history"))
	l.create(smallExperiment(t, oneArm, decidingCheckIns, func(e *v1alpha1.PerfExperiment) { e.Name = "later" }))
	l.until("an experiment that has settled", func() bool { return l.experiment("later").Status.Settled != "" })
	later := l.experiment("later").Status
	if len(later.Changes) != 1 || later.Changes[0].Verdict != v1alpha1.VerdictWorse {
		t.Errorf("changes: %+v", later.Changes)
	}
	if !l.warns("later", `omits an experiment`) || !l.warns("later", `ConfigMap "earlier-3-history" was deleted`) {
		t.Errorf("warnings: %q", later.Warnings)
	}
	if small := l.experiment("small").Status.HistorySeries; len(small) != 1 || !slices.Equal(small, later.HistorySeries) {
		t.Errorf("series %q and %q, want one that they share", small, later.HistorySeries)
	}
}

// An unavailable sink blocks nothing, and gets its announcement once it is available; after a day
// the operator gives up.
func TestUnavailableSinkIsRetried(t *testing.T) {
	l := newLab(t, complete)
	events, _ := withSinks(l)
	events.Fail(http.StatusServiceUnavailable)
	l.settled()
	if reported := l.announced("small"); reported.Status != metav1.ConditionFalse || reported.Reason != v1alpha1.ReasonSinkUnavailable || !strings.Contains(reported.Message, `sink "ci": it is unavailable: 503 Service Unavailable; retrying until `) {
		t.Errorf("%+v", reported)
	}
	if l.experiment("small").Status.Phase != v1alpha1.ExperimentComplete {
		t.Error("the experiment waits for the sink")
	}
	// A restarted operator announces, too.
	events.Fail(0)
	l.now = l.now.Add(2 * time.Hour)
	l.settle()
	if reported := l.announced("small"); reported.Reason != v1alpha1.ReasonAnnounced || len(events.Events()) != 1 {
		t.Errorf("%+v, after %d events", reported, len(events.Events()))
	}
}

func TestUnavailableSinkIsGivenUp(t *testing.T) {
	l := newLab(t, complete)
	events, _ := withSinks(l)
	events.Fail(http.StatusForbidden)
	l.settled()
	if reported := l.announced("small"); reported.Reason != v1alpha1.ReasonSinkRefuses {
		t.Errorf("%+v", reported)
	}
	l.now = l.now.Add(25 * time.Hour)
	l.settle()
	reported := l.announced("small")
	if reported.Status != metav1.ConditionFalse || reported.Reason != v1alpha1.ReasonSinkGivenUp || strings.Contains(reported.Message, "secret") {
		t.Errorf("%+v", reported)
	}
	asked := len(events.Requests())
	l.now = l.now.Add(time.Hour)
	if l.settle(); len(events.Requests()) != asked {
		t.Error("it is announced again and again")
	}
}

func TestStallIsAnnounced(t *testing.T) {
	l := newLab(t, complete)
	events, _ := withSinks(l)
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	l.settle()
	all := events.Events()
	if len(all) != 1 || all[0].Type() != announcement.TypeStalled || !strings.Contains(string(all[0].Data()), `"reason":"AttemptsExhausted"`) {
		t.Errorf("announced: %v", all)
	}
}
