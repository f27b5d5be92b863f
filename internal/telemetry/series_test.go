// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/expect"
)

// completeExperiment returns an experiment completed on a day, with a mean of six runs.
func completeExperiment(day int, mean string, edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfExperiment {
	experiment := &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "lab", Name: fmt.Sprintf("nightly-%d", day), Annotations: map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("r%d", day)},
	}}
	experiment.Spec.Analysis.Primary = []string{"cico/Check-In/average"}
	experiment.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, time.March, day, 0, 0, 0, 0, time.UTC)}
	experiment.Status.Arms = []v1alpha1.ArmStatus{{Name: "base", Baseline: true}, {Name: "twin", Twin: true}}
	for _, row := range []v1alpha1.Result{{Metric: "cico/Check-In/average", Arm: "base"}, {Metric: "cico/Check-In/average", Arm: "twin"}, {Metric: "cico/Check-In/max", Arm: "base"}} {
		row.Scenario, row.Unit, row.Runs, row.Mean, row.StandardDeviation = "cico", "ms", 6, mean, "4"
		experiment.Status.Results = append(experiment.Status.Results, row)
	}
	for _, edit := range edits {
		edit(experiment)
	}
	return experiment
}

func newRegistry(t *testing.T, experiments ...*v1alpha1.PerfExperiment) *prometheus.Registry {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	build := fake.NewClientBuilder().WithScheme(scheme)
	for _, one := range experiments {
		build = build.WithObjects(one)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(telemetry.Experiments{Reader: build.Build()})
	return registry
}

// Each series has the value of the experiment that was completed last. Imported experiments,
// A/A controls and secondary metrics are left out.
func TestSeries(t *testing.T) {
	registry := newRegistry(t,
		completeExperiment(1, "380"), completeExperiment(3, "400", func(e *v1alpha1.PerfExperiment) {
			e.Status.Changes = []v1alpha1.SeriesChange{{Scenario: "cico", Metric: "cico/Check-In/average", Arm: "base", Verdict: v1alpha1.VerdictWorse}}
		}), completeExperiment(2, "390"),
		completeExperiment(9, "9", func(e *v1alpha1.PerfExperiment) {
			e.Annotations[v1alpha1.AnnotationImported] = "x/y u 2026-01-01T00:00:00Z"
		}),
	)
	want := `
# HELP perflab_series_changes Changes reported for the series of experiments in the cluster, by verdict.
# TYPE perflab_series_changes gauge
perflab_series_changes{arm="base",metric="cico/Check-In/average",namespace="lab",scenario="cico",verdict="Better"} 0
perflab_series_changes{arm="base",metric="cico/Check-In/average",namespace="lab",scenario="cico",verdict="Worse"} 1
# HELP perflab_series_left_out Number of experiments with at least one series left out because there are too many.
# TYPE perflab_series_left_out gauge
perflab_series_left_out 0
# HELP perflab_series_mean Mean of a primary metric over the runs of the last completed experiment.
# TYPE perflab_series_mean gauge
perflab_series_mean{arm="base",metric="cico/Check-In/average",namespace="lab",release="r3",scenario="cico",unit="ms"} 400
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "perflab_series_mean", "perflab_series_changes", "perflab_series_left_out"); err != nil {
		t.Error(err)
	}
}

// The number of series is bounded, even if users choose many names.
func TestSeriesAreBounded(t *testing.T) {
	var all []*v1alpha1.PerfExperiment
	for n := range 310 {
		all = append(all, completeExperiment(1, "400", func(e *v1alpha1.PerfExperiment) {
			e.Name = fmt.Sprintf("other-%d", n)
			e.Status.Results[0].Scenario = fmt.Sprintf("scenario-%d", n)
		}))
	}
	registry := newRegistry(t, all...)
	for name, want := range map[string]int{"perflab_series_mean": 300, "perflab_series_high": 300, "perflab_series_changes": 600} {
		if got, err := testutil.GatherAndCount(registry, name); err != nil || got != want {
			t.Errorf("%s has %d series, want %d (%v)", name, got, want, err)
		}
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader("# HELP perflab_series_left_out Number of experiments with at least one series left out because there are too many.\n# TYPE perflab_series_left_out gauge\nperflab_series_left_out 10\n"), "perflab_series_left_out"); err != nil {
		t.Error(err)
	}
}
