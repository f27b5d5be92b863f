// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

type dashboard struct {
	Title  string  `json:"title"`
	UID    string  `json:"uid"`
	Panels []panel `json:"panels"`
}

type panel struct {
	ID      int            `json:"id"`
	Title   string         `json:"title"`
	Type    string         `json:"type"`
	GridPos map[string]int `json:"gridPos"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// Every expression parses, and uses metrics that the operator has.
func TestDashboardMetricsExist(t *testing.T) {
	told, used := metricNames(t), map[string]bool{}
	for _, name := range []string{"perflab.json", "series.json"} {
		checkDashboard(t, name, told, used)
	}
	for name := range told {
		if strings.HasPrefix(name, "perflab_") && !strings.HasSuffix(name, "_bucket") && !used[name] && !used[name+"_bucket"] && !used[strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")+"_bucket"] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// checkDashboard records the metrics that a dashboard uses.
func checkDashboard(t *testing.T, name string, told, used map[string]bool) {
	t.Helper()
	content, err := os.ReadFile(apiserver.Root("charts", "perflab", "dashboards", name))
	expect.NoError(t, err)
	var shown dashboard
	expect.NoError(t, json.Unmarshal(content, &shown), "the dashboard %s is not JSON", name)
	ids := map[int]bool{}
	for _, panel := range shown.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.GridPos["w"] == 0 || len(panel.Targets) == 0 {
			t.Errorf("%s: panel %d %q: every panel needs a unique id, a title, a position and a query", name, panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			for _, metric := range metricsIn(t, target.Expr) {
				used[metric] = true
				if !told[metric] {
					t.Errorf("%s: panel %q uses the unknown metric %s", name, panel.Title, metric)
				}
			}
		}
	}
}

// metricsIn returns the metrics of an expression.
func metricsIn(t *testing.T, expression string) []string {
	t.Helper()
	// Grafana replaces the variable with an interval.
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(strings.ReplaceAll(expression, "$__rate_interval", "5m"))
	expect.NoError(t, err, "%s", expression)
	var names []string
	for _, selectors := range parser.ExtractSelectors(parsed) {
		for _, matcher := range selectors {
			if matcher.Name == model.MetricNameLabel {
				names = append(names, matcher.Value)
			}
		}
	}
	if len(names) == 0 {
		t.Errorf("%s uses no metric", expression)
	}
	return names
}

// metricNames returns the operator's metrics: its own, as after a run, and the framework's.
func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	registry := prometheus.NewRegistry()
	telemetry.New(registry).RunFinished(&v1alpha1.PerfRun{Status: v1alpha1.PerfRunStatus{
		Phase: v1alpha1.RunSucceeded, Durations: &v1alpha1.RunDurations{},
	}})
	done := &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "done"}}
	done.Spec.Analysis.Primary, done.Status.CompletionTime = []string{"cico/Check-In/average"}, &metav1.Time{Time: time.Now()}
	done.Status.Results = []v1alpha1.Result{{Scenario: "cico", Metric: "cico/Check-In/average", Arm: "base", Unit: "ms", Runs: 6, Mean: "400", StandardDeviation: "4"}}
	registry.MustRegister(telemetry.Experiments{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(done).Build()})
	// The framework's metrics have no series before the first object.
	names := map[string]bool{"controller_runtime_reconcile_errors_total": false, "workqueue_depth": false}
	described := make(chan *prometheus.Desc, 1000)
	metrics.Registry.(*prometheus.Registry).Describe(described)
	close(described)
	for description := range described {
		for name := range names {
			names[name] = names[name] || strings.Contains(description.String(), `fqName: "`+name+`"`)
		}
	}
	for _, gatherer := range []prometheus.Gatherer{registry, metrics.Registry} {
		families, err := gatherer.Gather()
		expect.NoError(t, err)
		for _, family := range families {
			if family.GetMetric()[0].GetHistogram() == nil {
				names[family.GetName()] = true
				continue
			}
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				names[family.GetName()+suffix] = true
			}
		}
	}
	return names
}
