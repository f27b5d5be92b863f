// SPDX-License-Identifier: Apache-2.0

package releases_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

func encoded(t *testing.T, one *releases.Measurements) []byte {
	t.Helper()
	text, err := one.Encode()
	expect.NoError(t, err)
	return text
}

func decoded(t *testing.T, text []byte) releases.Measurements {
	t.Helper()
	one, err := releases.Decode(text)
	expect.NoError(t, err)
	return one
}

func TestDecodedMeasurementsGiveSameHistory(t *testing.T) {
	records := recordedReleases(1, 8, stepSeries(400, 440)...)
	for i := range records {
		for j := range records[i].Runs {
			run := &records[i].Runs[j]
			run.Status.Effective = &v1alpha1.EffectiveSystem{KafkaVersion: fmt.Sprintf("4.%d.0", i/8)}
			if run.Spec.Arm == recorded.Base {
				run.Spec.System.Modules = append(run.Spec.System.Modules, v1alpha1.Module{Name: "mod-base", Image: fmt.Sprintf("base:%d", i/8)})
			} else {
				run.Spec.System.Modules[0].Replicas = new(int32)
				run.Spec.System.Modules = append(run.Spec.System.Modules, v1alpha1.Module{Name: "mod-extra", Image: fmt.Sprintf("extra:%d", i/8)})
			}
		}
	}
	records[3].Experiment.Namespace, records[3].Experiment.UID = "lab", "6f0f6c1e-0000-4000-8000-000000000001"
	whole := measureAll(t, records)
	var read []releases.Measurements
	for i := range whole {
		text := encoded(t, &whole[i])
		if again := decoded(t, text); !bytes.Equal(text, encoded(t, &again)) {
			t.Errorf("%s is written in another way once it was read", whole[i].Name)
		}
		read = append(read, decoded(t, text))
	}
	want, err := releases.NewHistory(whole, releases.Options{})
	expect.NoError(t, err)
	got, err := releases.NewHistory(read, releases.Options{})
	expect.NoError(t, err)
	if diff := cmp.Diff(describe(want), describe(got)); diff != "" {
		t.Errorf("of records and of what was written down (-records +written):\n%s", diff)
	}
	if differences := got.Series[1].Changes[0].Differences; got.Series[1].Arm != "small" || !slices.Equal(differences, []string{
		"modules[mod-extra].image: extra:0 → extra:1", "modules[mod-users].image: users:1 → users:2", "Kafka's version: 4.0.0 → 4.1.0",
	}) {
		t.Errorf("in arm %s differ %q", got.Series[1].Arm, differences)
	}
}

// describe returns a whole history as text.
func describe(history *releases.History) string {
	var out strings.Builder
	for i := range history.Series {
		series := &history.Series[i]
		fmt.Fprintln(&out, series.DisplayName(), series.Arm, series.Unit)
		for _, point := range series.Points {
			fmt.Fprintln(&out, point.Release, point.Namespace, point.Experiment, point.Time, point.Values, point.Low, point.High)
		}
		for at := range series.Changes {
			fmt.Fprintln(&out, series.Sentence(&series.Changes[at]), series.Changes[at])
		}
	}
	return out.String() + strings.Join(history.AllNotes(), "\n")
}

// addMetrics adds metrics to each run.
func addMetrics(record releases.ExperimentRuns, format string, count int) {
	for i := range record.Runs {
		status := &record.Runs[i].Status
		for at := range count {
			status.Observations = append(status.Observations, v1alpha1.Observation{Metric: fmt.Sprintf(format, at), Unit: "cores", Value: fmt.Sprintf("%d.12345", at%7+1)})
		}
	}
}

func TestEncodeOmitsLeastImportantMetrics(t *testing.T) {
	records := recordedReleases(1, 99, slices.Repeat([]float64{400}, 2)...)
	full := records[0]
	addMetrics(full, "module/mod-%04d/cpu/average", 2000)
	addMetrics(full, "cico/Check-In/GET users-%04d/average", 400)
	addMetrics(full, "cico/Transaction-%03d/p95", 150)
	all := measureAll(t, records)
	text := encoded(t, &all[0])
	if !bytes.Equal(text, encoded(t, &all[0])) {
		t.Error("the same experiment is written in two ways")
	}
	if len(text) > 256<<10 || len(text) < 200<<10 {
		t.Errorf("it takes %d bytes", len(text))
	}
	read := decoded(t, text)
	var loads, requests, servers int
	for _, one := range read.Scenarios[0].Metrics {
		switch {
		case strings.HasPrefix(one.Name, "module/"):
			servers++
		case strings.Contains(one.Name, "GET"):
			requests++
		default:
			loads++
		}
	}
	if loads != 152 || requests != 400 || servers == 0 || servers+read.OmittedMetrics != 2000 {
		t.Errorf("kept are %d metrics of loads, %d of requests, %d of servers, %d are left out", loads, requests, servers, read.OmittedMetrics)
	}
	all[0] = read
	_, err := releases.NewHistory(all, releases.Options{Metrics: []string{"module/mod-1999/cpu/average"}})
	if !errors.Is(err, releases.ErrNoHistory) {
		t.Errorf("a metric that was left out: %v", err)
	}
	history, err := releases.NewHistory(all, releases.Options{Metrics: []string{recorded.CheckIn, "module/mod-1999/cpu/average"}})
	if err != nil || !strings.Contains(strings.Join(history.Notes, "\n"), `because of their size`) {
		t.Errorf("%v, %+v", err, history)
	}
}

func TestEncodeKeepsLoadMetricsUpToLargerSize(t *testing.T) {
	records := recordedReleases(1, 99, 400)
	addMetrics(records[0], "module/mod-%04d/cpu/average", 10)
	addMetrics(records[0], "cico/Transaction-%05d/p95", 4000)
	one := measureAll(t, records)[0]
	text := encoded(t, &one)
	if read := decoded(t, text); len(text) < 256<<10 || len(text) > 4<<20 || len(read.Scenarios[0].Metrics) != 4002 || read.OmittedMetrics != 10 {
		t.Errorf("%d bytes, %d metrics, %d left out", len(text), len(read.Scenarios[0].Metrics), read.OmittedMetrics)
	}
	addMetrics(records[0], "cico/Transaction-1%05d/p95", 26000)
	one = measureAll(t, records)[0]
	text = encoded(t, &one)
	read := decoded(t, text)
	metrics := read.Scenarios[0].Metrics
	if len(text) > 4<<20 || read.OmittedMetrics == 0 || metrics[0].Name != recorded.CheckIn || metrics[1].Name != recorded.CheckOut {
		t.Errorf("%d bytes, %d left out, first is %s", len(text), read.OmittedMetrics, metrics[0].Name)
	}
}

func TestEncodeRejectsIncompleteExperiment(t *testing.T) {
	records := recordedReleases(1, 99, 400)
	records[0].Runs = records[0].Runs[:1]
	one := measureAll(t, records)[0]
	if _, err := one.Encode(); one.HasCompleteBlock() || !errors.Is(err, releases.ErrNoCompleteBlock) {
		t.Error(err)
	}
}

// Other metrics are skipped, but their order is checked.
func TestDecodeMetrics(t *testing.T) {
	one := measureAll(t, recordedReleases(1, 99, 400))[0]
	read, err := releases.DecodeMetrics(encoded(t, &one), func(metric string) bool { return metric == recorded.CheckOut })
	if err != nil || len(read.Scenarios) != 1 || len(read.Scenarios[0].Metrics) != 1 || len(read.Scenarios[0].Metrics[0].Values[0]) != 6 {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestInvalidSettingsAreNoted(t *testing.T) {
	records := recordedReleases(1, 8, stepSeries(400, 480)...)
	all := measureAll(t, records)
	for i := range all {
		all[i] = decoded(t, []byte(strings.Replace(string(encoded(t, &all[i])), `"systems":{"first":{`, `"systems":{"first":{"a":1,`, 1)))
	}
	history, err := releases.NewHistory(all, releases.Options{Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}})
	if err != nil || len(history.Series[0].Changes) != 1 || !slices.Equal(history.Series[0].Changes[0].Differences, []string{"declared settings: unreadable"}) {
		t.Errorf("%+v, %v", history, err)
	}
}

func TestDecodeRejectsInvalidDocuments(t *testing.T) {
	one := measureAll(t, recordedReleases(1, 99, 400))[0]
	good := string(encoded(t, &one))
	change := func(old, with string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for why, text := range map[string]string{
		"unsupported version":                 change("measured/v1", "measured/v2"),
		"unexpected EOF":                      good[:len(good)/2],
		"unexpected data after the document":  good + "{}",
		"unknown field":                       change(`"blocks":6`, `"more":1,"blocks":6`),
		"no complete block":                   change(`"blocks":6`, `"blocks":0`),
		"0 arms and":                          withArms(t, good, 0),
		"66 arms":                             withArms(t, good, 66),
		"settings of 2 arms":                  withArms(t, good, 1),
		"invalid name":                        change(`"name":"experiment-1"`, `"name":"a\u001b[31m"`),
		"needs values for each arm":           change(`"values":[[`, `"values":[[],[`),
		"label too long":                      change(`"release":"r0"`, `"release":"`+strings.Repeat("r", 50)+`"`),
		"invalid or duplicate name":           change(`"name":"small"`, `"name":"base"`),
		"needs values":                        change(`"values":[[`, `"values":[["`+"x"+`",`),
		"limit of 16777216":                   good + strings.Repeat(" ", releases.MaxEncodedBytes),
		`"" has an invalid or duplicate name`: change(`"declared":{"name":"cico"`, `"declared":{"name":""`),
	} {
		if _, err := releases.Decode([]byte(text)); !errors.Is(err, releases.ErrInvalidEncoding) || !strings.Contains(err.Error(), why) {
			t.Errorf("told is %v, want %q", err, why)
		}
	}
}

// withArms changes the number of arms in an encoded document.
func withArms(t *testing.T, text string, count int) string {
	t.Helper()
	var tree map[string]any
	expect.NoError(t, json.Unmarshal([]byte(text), &tree))
	var arms []any
	for at := range count {
		arms = append(arms, map[string]any{"name": fmt.Sprint("arm-", at)})
	}
	tree["arms"] = arms
	delete(tree, "version")
	changed, err := json.Marshal(tree)
	expect.NoError(t, err)
	return `{"version":"` + releases.EncodingVersion + `",` + string(changed[1:])
}

func FuzzDecode(f *testing.F) {
	one, err := releases.Measure(recordedReleases(1, 99, 400)[0])
	expect.NoError(f, err)
	text, err := one.Encode()
	expect.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"version":"perflab.dev/measured/v1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := releases.Decode(text)
		if err != nil {
			return
		}
		// Decoded measurements can be analyzed and encoded.
		_, _ = releases.NewHistory([]releases.Measurements{read, read}, releases.Options{})
		if _, err := read.Encode(); err != nil {
			t.Errorf("%v", err)
		}
	})
}
