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

func encoded(t *testing.T, one *releases.Measured) []byte {
	t.Helper()
	text, err := one.Encode()
	expect.NoError(t, err)
	return text
}

func decoded(t *testing.T, text []byte) releases.Measured {
	t.Helper()
	one, err := releases.Decode(text)
	expect.NoError(t, err)
	return one
}

// A history of what was written down is that of the records.
func TestWhatIsDecodedTellsTheSame(t *testing.T) {
	records := told(1, 8, step(400, 440)...)
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
	whole := measuredOf(t, records)
	var read []releases.Measured
	for i := range whole {
		text := encoded(t, &whole[i])
		if again := decoded(t, text); !bytes.Equal(text, encoded(t, &again)) {
			t.Errorf("%s is written in another way once it was read", whole[i].Name)
		}
		read = append(read, decoded(t, text))
	}
	want, err := releases.Of(whole, releases.Options{})
	expect.NoError(t, err)
	got, err := releases.Of(read, releases.Options{})
	expect.NoError(t, err)
	if diff := cmp.Diff(tellingOf(want), tellingOf(got)); diff != "" {
		t.Errorf("of records and of what was written down (-records +written):\n%s", diff)
	}
	if differences := got.Series[1].Changes[0].Differences; got.Series[1].Arm != "small" || !slices.Equal(differences, []string{
		"modules[mod-extra].image: extra:0 → extra:1", "modules[mod-users].image: users:1 → users:2", "Kafka's version: 4.0.0 → 4.1.0",
	}) {
		t.Errorf("in arm %s differ %q", got.Series[1].Arm, differences)
	}
}

// tellingOf is all that a history tells.
func tellingOf(history *releases.History) string {
	var out strings.Builder
	for i := range history.Series {
		series := &history.Series[i]
		fmt.Fprintln(&out, series.Named(), series.Arm, series.Unit)
		for _, point := range series.Points {
			fmt.Fprintln(&out, point.Release, point.Namespace, point.Experiment, point.Time, point.Values, point.Low, point.High)
		}
		for at := range series.Changes {
			fmt.Fprintln(&out, series.Sentence(&series.Changes[at]), series.Changes[at])
		}
	}
	return out.String() + strings.Join(history.Remarks(), "\n")
}

// crowd gives each run of a record so many metrics more.
func crowd(record releases.Record, format string, count int) {
	for i := range record.Runs {
		status := &record.Runs[i].Status
		for at := range count {
			status.Observations = append(status.Observations, v1alpha1.Observation{Metric: fmt.Sprintf(format, at), Unit: "cores", Value: fmt.Sprintf("%d.12345", at%7+1)})
		}
	}
}

// What is too much is left out by what it matters, and that is said.
func TestWhatIsTooMuchIsLeftOut(t *testing.T) {
	records := told(1, 99, slices.Repeat([]float64{400}, 2)...)
	full := records[0]
	crowd(full, "module/mod-%04d/cpu/average", 2000)
	crowd(full, "cico/Check-In/GET users-%04d/average", 400)
	crowd(full, "cico/Transaction-%03d/p95", 150)
	all := measuredOf(t, records)
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
	if loads != 152 || requests != 400 || servers == 0 || servers+read.LeftOut != 2000 {
		t.Errorf("kept are %d metrics of loads, %d of requests, %d of servers, %d are left out", loads, requests, servers, read.LeftOut)
	}
	all[0] = read
	_, err := releases.Of(all, releases.Options{Metrics: []string{"module/mod-1999/cpu/average"}})
	if !errors.Is(err, releases.ErrNothing) {
		t.Errorf("a metric that was left out: %v", err)
	}
	history, err := releases.Of(all, releases.Options{Metrics: []string{recorded.CheckIn, "module/mod-1999/cpu/average"}})
	if err != nil || !strings.Contains(strings.Join(history.Notes, "\n"), `is kept without`) {
		t.Errorf("%v, %+v", err, history)
	}
}

// What loads measured goes last, and what the experiment was made for never.
func TestLoadsStayUpToAnotherSize(t *testing.T) {
	records := told(1, 99, 400)
	crowd(records[0], "module/mod-%04d/cpu/average", 10)
	crowd(records[0], "cico/Transaction-%05d/p95", 4000)
	one := measuredOf(t, records)[0]
	text := encoded(t, &one)
	if read := decoded(t, text); len(text) < 256<<10 || len(text) > 4<<20 || len(read.Scenarios[0].Metrics) != 4002 || read.LeftOut != 10 {
		t.Errorf("%d bytes, %d metrics, %d left out", len(text), len(read.Scenarios[0].Metrics), read.LeftOut)
	}
	crowd(records[0], "cico/Transaction-1%05d/p95", 26000)
	one = measuredOf(t, records)[0]
	text = encoded(t, &one)
	read := decoded(t, text)
	metrics := read.Scenarios[0].Metrics
	if len(text) > 4<<20 || read.LeftOut == 0 || metrics[0].Name != recorded.CheckIn || metrics[1].Name != recorded.CheckOut {
		t.Errorf("%d bytes, %d left out, first is %s", len(text), read.LeftOut, metrics[0].Name)
	}
}

func TestNoPointIsNotWritten(t *testing.T) {
	records := told(1, 99, 400)
	records[0].Runs = records[0].Runs[:1]
	one := measuredOf(t, records)[0]
	if _, err := one.Encode(); one.IsPoint() || !errors.Is(err, releases.ErrNoPoint) {
		t.Error(err)
	}
}

// What nobody asks for is passed over, and what is there is in order all the same.
func TestDecodeOnlyWhatIsWanted(t *testing.T) {
	one := measuredOf(t, told(1, 99, 400))[0]
	read, err := releases.DecodeOnly(encoded(t, &one), func(metric string) bool { return metric == recorded.CheckOut })
	if err != nil || len(read.Scenarios) != 1 || len(read.Scenarios[0].Metrics) != 1 || len(read.Scenarios[0].Metrics[0].Values[0]) != 6 {
		t.Errorf("%+v, %v", read, err)
	}
}

// Settings that are none are told where they are looked at.
func TestSettingsThatAreNone(t *testing.T) {
	records := told(1, 8, step(400, 480)...)
	all := measuredOf(t, records)
	for i := range all {
		all[i] = decoded(t, []byte(strings.Replace(string(encoded(t, &all[i])), `"systems":{"first":{`, `"systems":{"first":{"a":1,`, 1)))
	}
	history, err := releases.Of(all, releases.Options{Metrics: []string{recorded.CheckIn}, Arms: []string{recorded.Base}})
	if err != nil || len(history.Series[0].Changes) != 1 || !slices.Equal(history.Series[0].Changes[0].Differences, []string{"what is declared, which can't be read"}) {
		t.Errorf("%+v, %v", history, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	one := measuredOf(t, told(1, 99, 400))[0]
	good := string(encoded(t, &one))
	change := func(old, with string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for why, text := range map[string]string{
		"it begins with":             change("measured/v1", "measured/v2"),
		"unexpected EOF":             good[:len(good)/2],
		"there is more behind it":    good + "{}",
		"unknown field":              change(`"blocks":6`, `"more":1,"blocks":6`),
		"no complete block":          change(`"blocks":6`, `"blocks":0`),
		"0 arms":                     withArms(t, good, 0),
		"66 arms":                    withArms(t, good, 66),
		"the settings of 2 arms":     withArms(t, good, 1),
		"a name in it is none":       change(`"name":"experiment-1"`, `"name":"a\u001b[31m"`),
		"not the values of each arm": change(`"values":[[`, `"values":[[],[`),
		"label is too long":          change(`"release":"r0"`, `"release":"`+strings.Repeat("r", 50)+`"`),
		"no name of its own":         change(`"name":"small"`, `"name":"base"`),
		"has not the values":         change(`"values":[[`, `"values":[["`+"x"+`",`),
		"and 16777216 at most":       good + strings.Repeat(" ", releases.MostMeasured),
		`"" has no name of its own`:  change(`"declared":{"name":"cico"`, `"declared":{"name":""`),
	} {
		if _, err := releases.Decode([]byte(text)); !errors.Is(err, releases.ErrNotMeasured) || !strings.Contains(err.Error(), why) {
			t.Errorf("told is %v, want %q", err, why)
		}
	}
}

// withArms has so many arms in what is written.
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
	return `{"version":"` + releases.MeasuredVersion + `",` + string(changed[1:])
}

func FuzzDecode(f *testing.F) {
	one, err := releases.Measure(told(1, 99, 400)[0])
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
		// What is read can be told of, and written.
		_, _ = releases.Of([]releases.Measured{read, read}, releases.Options{})
		if _, err := read.Encode(); err != nil {
			t.Errorf("%v", err)
		}
	})
}
