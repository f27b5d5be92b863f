// SPDX-License-Identifier: Apache-2.0

package releases_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// recordedReleases returns monthly releases of six blocks, with the given true durations of
// check-ins in ms. The module's image changes at the release newFrom.
func recordedReleases(seed uint64, newFrom int, milliseconds ...float64) []releases.ExperimentRuns {
	var records []releases.ExperimentRuns
	for i, truth := range milliseconds {
		image := "users:1"
		if i >= newFrom {
			image = "users:2"
		}
		experiment, runs := recorded.Truth{
			Seed: seed + uint64(i), Blocks: 6, Baseline: truth, Spread: 0.01, Users: 8, Image: image, Arms: map[string]float64{"small": 1.2},
			Began: time.Date(2026, time.January, 1+30*i, 8, 0, 0, 0, time.UTC),
		}.Draw()
		experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("r%d", i)}
		experiment.Spec.Analysis.Primary = []string{recorded.CheckIn, recorded.CheckOut}
		experiment.Spec.Analysis.MarginPercent = 5
		records = append(records, releases.ExperimentRuns{Experiment: experiment, Runs: runs})
	}
	return records
}

func measureAll(t *testing.T, records []releases.ExperimentRuns) []releases.Measurements {
	t.Helper()
	var all []releases.Measurements
	for _, record := range records {
		one, err := releases.Measure(record)
		expect.NoError(t, err)
		all = append(all, one)
	}
	return all
}

func newHistory(t *testing.T, records []releases.ExperimentRuns, options releases.Options) *releases.History {
	t.Helper()
	history, err := releases.NewHistory(measureAll(t, records), options)
	expect.NoError(t, err)
	return history
}

func stepSeries(before, after float64) []float64 {
	return slices.Concat(slices.Repeat([]float64{before}, 8), slices.Repeat([]float64{after}, 8))
}

func TestNewHistoryDetectsStep(t *testing.T) {
	records := recordedReleases(1, 8, stepSeries(400, 440)...)
	// The order of the input does not matter.
	slices.Reverse(records)
	history := newHistory(t, records, releases.Options{})
	if len(history.Series) != 4 || len(history.Regressed()) != 4 {
		t.Fatalf("%d series, %d regressed, want all of 2 metrics x 2 arms", len(history.Series), len(history.Regressed()))
	}
	for _, series := range history.Series {
		if len(series.Points) != 16 || series.Scale != comparison.Ratio || series.Unit != "ms" {
			t.Errorf("%s of %s: %d points, %s, %q", series.Metric, series.Arm, len(series.Points), series.Scale, series.Unit)
		}
		if len(series.Changes) != 1 {
			t.Errorf("%s of %s: %d changes", series.Metric, series.Arm, len(series.Changes))
			continue
		}
		change := series.Changes[0]
		if change.At != 8 || change.Verdict != verdict.Worse || math.Abs(change.Delta-10) > 2 || change.Low > 10 || change.High < 10 {
			t.Errorf("%s of %s: %+v, want +10 %% at 8", series.Metric, series.Arm, change)
		}
		expect.Equal(t, []string{"modules[mod-users].image: users:1 → users:2"}, change.Differences)
	}
	sentence := history.Series[0].Sentence(&history.Series[0].Changes[0])
	if !strings.HasPrefix(sentence, "Check-In average response time under cico in arm base rose by ") || !strings.HasSuffix(sentence, " between r7 and r8") {
		t.Error(sentence)
	}
	first := history.Series[0].Points[0]
	if first.Release != "r0" || len(first.Values) != 6 || first.Low >= first.Center || first.High <= first.Center || math.Abs(first.Center/400-1) > 0.03 {
		t.Errorf("%+v", first)
	}
}

func TestChangeVerdicts(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after float64
		want          []verdict.Verdict
	}{
		"no change":         {400, 400, nil},
		"faster":            {440, 400, []verdict.Verdict{verdict.Better}},
		"within the margin": {400, 412, []verdict.Verdict{verdict.Equivalent}},
	} {
		t.Run(name, func(t *testing.T) {
			history := newHistory(t, recordedReleases(50, 99, stepSeries(tc.before, tc.after)...), releases.Options{Arms: []string{recorded.Base}, Metrics: []string{recorded.CheckIn}})
			var got []verdict.Verdict
			for _, change := range history.Series[0].Changes {
				got = append(got, change.Verdict)
			}
			expect.Equal(t, tc.want, got)
			if regressed := history.Regressed(); len(regressed) > 0 {
				t.Errorf("%d series regressed", len(regressed))
			}
		})
	}
}

// The unit or the experiment gives the direction of an imported metric.
func TestChangeVerdictsOfExternalMetrics(t *testing.T) {
	const hits = "custom/Serve/hits"
	for name, tc := range map[string]struct {
		unit  string
		asked releases.Question
		want  verdict.Verdict
	}{
		"unknown":     {"hits", releases.Question{}, verdict.None},
		"by its unit": {"req/s", releases.Question{}, verdict.Better},
		"lower":       {"req/s", releases.Question{Lower: []string{"Serve/hits"}}, verdict.Worse},
		"higher":      {"hits", releases.Question{Higher: []string{"Serve/hits"}}, verdict.Better},
	} {
		all := measureAll(t, recordedReleases(1, 99, stepSeries(400, 440)...))
		for i := range all {
			tc.asked.Primary, tc.asked.MarginPercent = []string{hits}, 5
			all[i].Tool, all[i].Question = "go test", tc.asked
			metrics := all[i].Scenarios[0].Metrics
			at := slices.IndexFunc(metrics, func(one releases.Metric) bool { return one.Name == recorded.CheckIn })
			all[i].Scenarios[0].Metrics = []releases.Metric{{Name: hits, Unit: tc.unit, Values: metrics[at].Values}}
		}
		history, err := releases.NewHistory(all, releases.Options{Arms: []string{recorded.Base}})
		if err != nil {
			t.Fatal(err)
		}
		if changes := history.Series[0].Changes; len(changes) != 1 || changes[0].Verdict != tc.want {
			t.Errorf("%s: %+v, want one that is %q", name, changes, tc.want)
		}
	}
}

// A recovered regression is not reported.
func TestRegressedConsidersLastChange(t *testing.T) {
	history := newHistory(t, recordedReleases(80, 99, slices.Concat(stepSeries(400, 480), slices.Repeat([]float64{400}, 8))...), releases.Options{Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}})
	if changes := history.Series[0].Changes; len(changes) != 2 || changes[0].Verdict != verdict.Worse || changes[1].Verdict != verdict.Better || len(history.Regressed()) > 0 {
		t.Errorf("%+v", changes)
	}
}

func TestNewHistoryNotesOmissions(t *testing.T) {
	records := recordedReleases(1, 99, slices.Repeat([]float64{400}, 6)...)
	records[1].Experiment.Spec.Scenarios[0].Loads[0].CheckInCheckOut.Users = 20
	records[2].Runs = records[2].Runs[:1]
	for i := range records[3].Runs {
		for j := range records[3].Runs[i].Status.Observations {
			records[3].Runs[i].Status.Observations[j].Unit = "s"
		}
	}
	records[4].Runs[0].Status.Phase = v1alpha1.RunInvalid
	history := newHistory(t, records, releases.Options{Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}})
	var points []string
	for _, point := range history.Series[0].Points {
		points = append(points, point.Release)
	}
	notes := strings.Join(history.Notes, "\n")
	if diff := cmp.Diff([]string{"r0", "r5"}, points); diff != "" {
		t.Errorf("-want +got\n%s%s", diff, notes)
	}
	expect.Contains(t, notes, []string{
		`"experiment-2" is omitted: it declares a different scenario "cico"`, `"experiment-3" is omitted: it has no complete block`, `"experiment-4" is omitted: it measured cico/Check-In/average in "s", others in "ms"`,
	})
}

func TestNewHistoryWithoutSeries(t *testing.T) {
	records := measureAll(t, recordedReleases(1, 99, 400))
	for name, history := range map[string]func() (*releases.History, error){
		"no experiment": func() (*releases.History, error) { return releases.NewHistory(nil, releases.Options{}) },
		"no such metric": func() (*releases.History, error) {
			return releases.NewHistory(records, releases.Options{Metrics: []string{"absent"}})
		},
		"no such arm": func() (*releases.History, error) {
			return releases.NewHistory(records, releases.Options{Arms: []string{"absent"}})
		},
	} {
		if _, err := history(); !errors.Is(err, releases.ErrNoHistory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLabel(t *testing.T) {
	records := recordedReleases(1, 99, 400, 400, 400)
	records[0].Experiment.Annotations[v1alpha1.AnnotationRelease] = " 2026.1\n| hot\tfix "
	records[1].Experiment.Annotations[v1alpha1.AnnotationRelease] = strings.Repeat("ä", 50)
	records[2].Experiment.Annotations[v1alpha1.AnnotationRelease] = " "
	var labels []string
	for _, point := range newHistory(t, records, releases.Options{}).Series[0].Points {
		labels = append(labels, point.Release)
	}
	expect.Equal(t, []string{"2026.1 | hot fix", strings.Repeat("ä", 39) + "…", "experiment-3"}, labels)
}

func TestNewHistoryRejectsSmallErrorRate(t *testing.T) {
	records := recordedReleases(1, 99, stepSeries(400, 480)...)
	if _, err := releases.NewHistory(measureAll(t, records), releases.Options{ErrorRatePercent: 0.1, Analyses: 100}); !errors.Is(err, releases.ErrErrorRateTooSmall) || !strings.Contains(err.Error(), "4 series and 100 analyses") {
		t.Error(err)
	}
	// The smallest accepted error rate detects a large step.
	long := recordedReleases(1, 99, slices.Concat(slices.Repeat([]float64{400}, 12), slices.Repeat([]float64{480}, 12))...)
	one := releases.Options{ErrorRatePercent: 0.1, Analyses: 2, Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}}
	if history := newHistory(t, long, one); len(history.Regressed()) != 1 {
		t.Errorf("%+v", history.Series[0].Changes)
	}
}

func TestNewHistoryLimitsPoints(t *testing.T) {
	records := recordedReleases(1, 999, slices.Repeat([]float64{400}, 310)...)
	history := newHistory(t, records, releases.Options{Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}})
	if points := history.Series[0].Points; len(points) != 300 || points[0].Release != "r10" || !strings.Contains(strings.Join(history.Notes, " "), "first 10 of 310 points are omitted") {
		t.Errorf("%d points from %s; %v", len(points), points[0].Release, history.Notes)
	}
}

func TestMinPoints(t *testing.T) {
	history := newHistory(t, recordedReleases(1, 2, 400, 400, 800, 800), releases.Options{})
	if remarks := strings.Join(history.AllNotes(), " "); !strings.Contains(remarks, "4 points can't show a change") {
		t.Errorf("%q", remarks)
	}
	if remarks := newHistory(t, recordedReleases(1, 99, stepSeries(400, 400)...), releases.Options{}).AllNotes(); len(remarks) > 0 {
		t.Errorf("%q", remarks)
	}
	for rate, want := range map[float64]int{0.05: 9, 0.0125: 11} {
		if got := releases.MinPoints(rate); got != want {
			t.Errorf("at %v a change takes %d points, want %d", rate, got, want)
		}
	}
}

func TestDifferencesOfEnvironment(t *testing.T) {
	records := recordedReleases(1, 99, stepSeries(400, 480)...)
	for i := range records {
		effective := &v1alpha1.EffectiveSystem{KafkaVersion: "4.1.0", Nodes: []v1alpha1.EffectiveNode{{Name: "a", InstanceType: "m5.large"}}}
		effective.Modules = []v1alpha1.EffectiveModule{{Name: "mod-users", ImageID: "docker.io/users@sha256:" + strings.Repeat("a", 64)}}
		if i >= 8 {
			effective.KafkaVersion, effective.Nodes[0].InstanceType = "4.2.0", "m7g.large"
			effective.Modules[0].ImageID = "docker.io/users@sha256:" + strings.Repeat("b", 64)
			effective.Modules[0].Collector = "G1"
		}
		for j := range records[i].Runs {
			records[i].Runs[j].Status.Effective = effective
		}
	}
	changes := newHistory(t, records, releases.Options{}).Series[0].Changes
	if len(changes) != 1 {
		t.Fatalf("%+v", changes)
	}
	want := []string{
		"Kafka's version: 4.1.0 → 4.2.0", "mod-users's image: sha256:aaaaaaaaaaaa → sha256:bbbbbbbbbbbb", "nodes: m5.large → m7g.large",
	}
	expect.Equal(t, want, changes[0].Differences)
}

// Differences may leave the cluster: the values of passwords are hidden.
func TestDifferencesHideSecrets(t *testing.T) {
	records := recordedReleases(1, 99, stepSeries(400, 480)...)
	for i := range records {
		password := "correct-horse"
		if i >= 8 {
			password = "battery-staple"
		}
		for j := range records[i].Runs {
			records[i].Runs[j].Spec.System.Modules[0].Env = []corev1.EnvVar{{Name: "DB_PASSWORD", Value: password}}
		}
	}
	for _, series := range newHistory(t, records, releases.Options{}).Series {
		for _, change := range series.Changes {
			if told := fmt.Sprint(change.Differences); !strings.Contains(told, "DB_PASSWORD") || strings.Contains(told, "horse") || strings.Contains(told, "staple") {
				t.Error(told)
			}
		}
	}
}
