// SPDX-License-Identifier: Apache-2.0

package regression_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// newExperiment returns the n-th experiment of four blocks with the given true duration of
// check-ins in ms.
func newExperiment(t *testing.T, seed uint64, n int, truth float64) (*v1alpha1.PerfExperiment, releases.Measurements) {
	t.Helper()
	image := fmt.Sprintf("users:%.0f", truth)
	experiment, runs := recorded.Truth{
		Seed: seed + uint64(n), Blocks: 4, Baseline: truth, Spread: 0.02, Users: 8, Image: image,
		Began: time.Date(2026, time.January, 1, 8, 0, 0, 500, time.UTC).AddDate(0, 0, n),
	}.Draw()
	experiment.Namespace, experiment.Name = "lab", fmt.Sprintf("nightly-%d", n)
	experiment.UID = types.UID(fmt.Sprint("uid-", n))
	experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("r%d", n)}
	experiment.Spec.Analysis.Primary, experiment.Spec.Analysis.MarginPercent = []string{recorded.CheckIn}, 3
	for i := range runs {
		runs[i].Spec.Experiment = experiment.Name
	}
	measured, err := releases.Measure(releases.ExperimentRuns{Experiment: experiment, Runs: runs})
	expect.NoError(t, err)
	return experiment, measured
}

// detectInSequence completes one experiment after the other, as an operator does, and returns
// the changes reported for each.
func detectInSequence(t *testing.T, seed uint64, truths ...float64) [][]v1alpha1.SeriesChange {
	t.Helper()
	var earlier []regression.Earlier
	var told [][]v1alpha1.SeriesChange
	for n, truth := range truths {
		_, this := newExperiment(t, seed, n, truth)
		_, changes, err := regression.Detect(this, earlier)
		expect.NoError(t, err)
		told, earlier = append(told, changes), append(earlier, regression.Earlier{Measurements: this, Reported: changes})
	}
	return told
}

// A step is reported once it can be distinguished from an outlier, and not again.
func TestDetectReportsStepOnce(t *testing.T) {
	told := detectInSequence(t, 1, slices.Concat(slices.Repeat([]float64{400}, 16), slices.Repeat([]float64{440}, 8))...)
	at := map[string]int{}
	for n, changes := range told {
		for _, change := range changes {
			if _, known := at[change.Arm]; known {
				t.Errorf("experiment %d reports it again: %+v", n, change)
			}
			at[change.Arm] = n
			if change.Verdict != v1alpha1.VerdictWorse || change.Metric != recorded.CheckIn || change.Unit != "%" || change.After != "r16" || change.Before != "r15" ||
				!slices.Equal(change.Experiments, []string{"nightly-15", "nightly-16"}) || !strings.Contains(change.Sentence, "rose by") {
				t.Errorf("%+v", change)
			}
			expect.Equal(t, []string{"modules[mod-users].image: users:400 → users:440"}, change.Differences)
		}
	}
	if n := at[recorded.Base]; n < 17 || n > 21 {
		t.Errorf("the step at 16 is reported by experiment %d", n)
	}
}

// If nothing changes, any twenty analyses in sequence report a change with a probability of at
// most 5 %: in 100 histories, at most 12 with a probability of 99.9 %. There is no margin that
// could hide a change.
func TestDetectFalsePositiveRate(t *testing.T) {
	const histories, most, before = 100, 12, 12
	alarmed := 0
	for history := range uint64(histories) {
		var earlier []regression.Earlier
		told := 0
		for n := range before + regression.Analyses {
			_, this := newExperiment(t, 1000+100*history, n, 400)
			this.Question.MarginPercent = 0
			if n >= before {
				_, changes, err := regression.Detect(this, earlier)
				expect.NoError(t, err)
				told += len(changes)
			}
			earlier = append(earlier, regression.Earlier{Measurements: this})
		}
		alarmed += min(told, 1)
	}
	if t.Logf("%d of %d histories", alarmed, histories); alarmed > most {
		t.Errorf("%d of %d histories without change are told to have changed", alarmed, histories)
	}
}

func TestDetectSelectsEarlierExperiments(t *testing.T) {
	var earlier []regression.Earlier
	for n := range 80 {
		_, one := newExperiment(t, 1, n, 400)
		earlier = append(earlier, regression.Earlier{Measurements: one})
	}
	_, this := newExperiment(t, 1, 70, 400)
	history, _, err := regression.Detect(this, earlier)
	expect.NoError(t, err)
	for _, series := range history.Series {
		// The experiment itself and later ones are excluded.
		if got, last := len(series.Points), series.Points[len(series.Points)-1]; got != 11 || last.Experiment != "nightly-70" || series.Points[9].Experiment != "nightly-69" {
			t.Errorf("%d points, the last %s", got, last.Experiment)
		}
	}
	for name, before := range map[string][]regression.Earlier{"nothing": nil, "itself": earlier[70:71], "later ones": earlier[71:]} {
		if history, changes, err := regression.Detect(this, before); history != nil || changes != nil || err != nil {
			t.Errorf("beside %s: %v %v %v", name, history, changes, err)
		}
	}
}

// With many series, the shared error rate could not show anything.
func TestDetectLimitsSeries(t *testing.T) {
	_, before := newExperiment(t, 1, 0, 400)
	_, this := newExperiment(t, 1, 1, 400)
	for _, measured := range []*releases.Measurements{&before, &this} {
		scenario := &measured.Scenarios[0]
		for i := range 20 {
			one := scenario.Metrics[0]
			one.Name = fmt.Sprintf("cico/Check-In/p%02d", i)
			scenario.Metrics = append(scenario.Metrics, one)
		}
		slices.SortFunc(scenario.Metrics, func(a, b releases.Metric) int { return strings.Compare(a.Name, b.Name) })
		measured.Question.Primary = nil
		for _, one := range scenario.Metrics {
			measured.Question.Primary = append(measured.Question.Primary, one.Name)
		}
	}
	history, _, err := regression.Detect(this, []regression.Earlier{{Measurements: before}})
	expect.NoError(t, err)
	if len(history.Series) != 12 || history.Series[0].Arm != recorded.Base || !strings.Contains(strings.Join(history.Notes, " "), "of 22 series, only the baseline's are analyzed") {
		t.Errorf("%d series of %s; %q", len(history.Series), history.Series[0].Arm, history.Notes)
	}
}

func TestConfigMapRoundTrip(t *testing.T) {
	var earlier []regression.Earlier
	for n := range 16 {
		_, one := newExperiment(t, 1, n, 400+float64(n/12)*60)
		earlier = append(earlier, regression.Earlier{Measurements: one})
	}
	experiment, this := newExperiment(t, 1, 16, 460)
	history, changes, err := regression.Detect(this, earlier)
	if err != nil || len(changes) == 0 {
		t.Fatalf("%v, %d changes", err, len(changes))
	}
	kept, err := regression.NewConfigMap(experiment, this, history, changes)
	expect.NoError(t, err)
	if _, has := kept.Labels[v1alpha1.LabelSeries+regression.ScenarioDigests(&this)[0]]; !has || kept.Name != "nightly-16-history" {
		t.Errorf("%s with %v", kept.Name, kept.Labels)
	}
	readChanges, errChanges := regression.DecodeChanges(kept)
	readHistory, errHistory := regression.DecodeHistory(kept)
	measured, errMeasured := regression.DecodeMeasurements(kept, []string{recorded.CheckIn})
	expect.NoError(t, errors.Join(errChanges, errHistory, errMeasured))
	expect.Equal(t, changes, readChanges, "changes")
	if diff := cmp.Diff(history, readHistory, cmpopts.IgnoreUnexported(releases.Point{}), cmpopts.IgnoreFields(releases.Point{}, "Values")); diff != "" {
		t.Errorf("history (-want +got)\n%s", diff)
	}
	if metrics := measured.Scenarios[0].Metrics; len(metrics) != 1 || metrics[0].Name != recorded.CheckIn || measured.UID != this.UID {
		t.Errorf("%+v", measured)
	}
	// Detecting again from the stored data gives the same result.
	_, again, err := regression.Detect(this, earlier)
	if diff := cmp.Diff(readChanges, again); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	first, err := regression.NewConfigMap(experiment, this, nil, nil)
	expect.NoError(t, err)
	if history, err := regression.DecodeHistory(first); history != nil || err != nil {
		t.Errorf("a first one has %v, %v", history, err)
	}
}

func TestDecodeRejectsInvalidConfigMaps(t *testing.T) {
	experiment, this := newExperiment(t, 1, 0, 400)
	var bomb bytes.Buffer
	writer := gzip.NewWriter(&bomb)
	for range 100 {
		if _, err := writer.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	expect.NoError(t, writer.Close())
	for name, tc := range map[string]struct{ key, text string }{
		"invalid gzip":        {regression.KeyMeasured, "x"},
		"too large":           {regression.KeyMeasured, bomb.String()},
		"invalid changes":     {regression.KeyChanges, "{}"},
		"empty change":        {regression.KeyChanges, "[{}]"},
		"invalid history":     {regression.KeyHistory, "[]"},
		"other version":       {regression.KeyHistory, `{"version":"v0"}`},
		"change out of range": {regression.KeyHistory, `{"version":"perflab.dev/history/v1","series":[{"points":[{}],"changes":[{"at":1}]}]}`},
		"empty series":        {regression.KeyHistory, `{"version":"perflab.dev/history/v1","series":[{}]}`},
		"too many changes":    {regression.KeyChanges, "[" + strings.Repeat(`{"experiments":["a","b"]},`, 20) + `{"experiments":["a","b"]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := regression.NewConfigMap(experiment, this, nil, nil)
			expect.NoError(t, err)
			kept.Data[tc.key], kept.BinaryData[tc.key] = tc.text, []byte(tc.text)
			_, errMeasured := regression.DecodeMeasurements(kept, nil)
			_, errChanges := regression.DecodeChanges(kept)
			_, errHistory := regression.DecodeHistory(kept)
			if err := errors.Join(errMeasured, errChanges, errHistory); !errors.Is(err, regression.ErrInvalidConfigMap) {
				t.Error(err)
			}
		})
	}
	// A ConfigMap of another experiment or namespace is rejected.
	kept, err := regression.NewConfigMap(experiment, this, nil, nil)
	expect.NoError(t, err)
	for _, rename := range []func(){func() { kept.Name = "other-history" }, func() { kept.Namespace = "elsewhere" }} {
		rename()
		if _, err := regression.DecodeMeasurements(kept, nil); !errors.Is(err, regression.ErrInvalidConfigMap) {
			t.Error(err)
		}
	}
}
