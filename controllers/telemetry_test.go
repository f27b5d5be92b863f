// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestMetricsCountRunsOnce(t *testing.T) {
	l := newLab(t, complete)
	l.scraped.MustRegister(telemetry.Experiments{Reader: client.NewNamespacedClient(l.admin, l.namespace)})
	l.create(login(), smallExperiment(t))
	l.untilRun(v1alpha1.RunLoading)
	l.expectMetric(0, "perflab_runs_total", "outcome", "succeeded")
	l.expectMetric(1, "perflab_experiments", "phase", "Running")
	l.expectMetric(2, "perflab_queue_runs", "phase", "Running")

	l.untilPhase("small", v1alpha1.ExperimentComplete)
	// Further reconciles of finished runs count nothing.
	l.settle()
	l.expectMetric(2, "perflab_runs_total", "outcome", "succeeded", "reason", "Valid")
	l.expectMetric(0, "perflab_runs_total", "outcome", "invalid")
	for _, step := range []string{"provision", "ready", "load_start", "load", "collect", "analyze"} {
		l.expectMetric(2, "perflab_run_step_duration_seconds", "step", step)
	}
	if load := l.metric("perflab_run_step_duration_seconds", "step", "load").GetHistogram().GetSampleSum(); load != 20 {
		t.Errorf("%g s of load in all, want 10 s in each of two runs", load)
	}
	l.expectMetric(1, "perflab_experiments", "phase", "Complete")
	l.expectMetric(0, "perflab_experiments", "phase", "Running")
	l.expectMetric(0, "perflab_queue_runs", "phase", "Running")
	if analyses := value(l.metric("perflab_analysis_duration_seconds")); analyses < 2 {
		t.Errorf("%g analyses, want at least one for each run", analyses)
	}
}

func TestMetricsCountInvalidReasons(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.outside.exit["cico"] = 107
	l.untilRun(v1alpha1.RunInvalid)
	l.expectMetric(1, "perflab_runs_total", "outcome", "invalid", "reason", v1alpha1.ReasonLoadFailed)
	l.expectMetric(0, "perflab_run_step_duration_seconds", "step", "load")
}

// expectMetric compares a counter, a gauge or a histogram's count; a missing series counts as 0.
func (l *lab) expectMetric(want float64, name string, labels ...string) {
	l.t.Helper()
	expect.Equal(l.t, want, value(l.metric(name, labels...)), "%s%v", name, labels)
}

// metric scrapes as Prometheus does and returns the first series with the labels, given as names and
// values; nil: none.
func (l *lab) metric(name string, labels ...string) *dto.Metric {
	l.t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(l.scraped, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	expect.NoError(l.t, err, "parsing the metrics")
	for _, metric := range families[name].GetMetric() {
		if hasLabels(metric, labels) {
			return metric
		}
	}
	return nil
}

func hasLabels(metric *dto.Metric, labels []string) bool {
	found := map[string]string{}
	for _, pair := range metric.GetLabel() {
		found[pair.GetName()] = pair.GetValue()
	}
	for i := 0; i < len(labels); i += 2 {
		if found[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

func value(metric *dto.Metric) float64 {
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
}
