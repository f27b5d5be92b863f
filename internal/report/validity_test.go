// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/payload"
)

// The omitted parts of a valid run are listed, and the measurements of an invalid attempt are
// separate.
func TestPartsThatDoNotCountAreListed(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Validity.Unsound = v1alpha1.UnsoundIsLeftOut
	counted, refused := "", ""
	for i := range input.Runs {
		switch run := &input.Runs[i]; {
		case run.Status.Phase == v1alpha1.RunSucceeded && counted == "":
			counted = run.Name
			run.Status.LeftOut = []v1alpha1.LeftOut{{Load: "cico", Window: "during-create-5k", Message: `load "cico": 9 of 60 transactions failed`}}
			run.Status.Warnings = append(run.Status.Warnings, "postgres was busy")
		case run.Status.Phase == v1alpha1.RunInvalid && refused == "":
			refused = run.Name
			run.Status.Observations = []v1alpha1.Observation{
				{Metric: recorded.CheckIn, Value: "123.456", Unit: "ms", Samples: 77},
				{Metric: "create/import-3/duration", Value: "61.5", Unit: "s", Samples: 1},
				{Metric: "cico/Check-In/p99", Value: "4711", Unit: "ms", Samples: 77},
			}
		}
	}
	if counted == "" || refused == "" {
		t.Fatal("no run that counts and one that does not")
	}
	page := written(t, reportOf(t, input), "report.md")
	_, section, _ := strings.Cut(page, "## Validity")
	section, _, _ = strings.Cut(section, "\n## ")
	expect.Contains(t, section, []string{
		"Each load, and each of its windows around imports, is checked separately",
		"| `" + counted + "` | ", "During create-5k: load \"cico\": 9 of 60 transactions failed",
		"| `" + refused + "` | `" + recorded.CheckIn + "` | 123.456\u00a0ms | 77 |",
		"`create/import-3/duration` | 61.5\u00a0s | 1 |",
	}, "the section on validity")
	for _, unwanted := range []string{"postgres was busy", "4711"} {
		if strings.Contains(section, unwanted) {
			t.Errorf("the section on validity has %q", unwanted)
		}
	}
	if strings.Count(page, "123.456") != 1 {
		t.Error("what does not count is in another figure")
	}
}

// withEnds adds ended containers to the samples of a run.
func withEnds(t *testing.T, input report.Input, run *v1alpha1.PerfRun, ends ...payload.ContainerEnd) report.Input {
	t.Helper()
	changeSamples(t, input, run, func(samples *payload.Samples) { samples.Ends = append(samples.Ends, ends...) })
	return input
}

func changeSamples(t *testing.T, input report.Input, run *v1alpha1.PerfRun, change func(*payload.Samples)) {
	t.Helper()
	for i := range input.Raw {
		if input.Raw[i].Name != naming.RawSamples(run.Name) {
			continue
		}
		for key, body := range input.Raw[i].BinaryData {
			samples, err := payload.UnmarshalSamples(body)
			expect.NoError(t, err)
			change(samples)
			if input.Raw[i].BinaryData[key], err = payload.MarshalSamples(samples); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("run %s has no samples", run.Name)
}

func ended(run *v1alpha1.PerfRun, component string, after time.Duration, reason string, code int32) payload.ContainerEnd {
	return payload.ContainerEnd{
		Component: component, Instance: "pod-1/main", At: run.Status.Timings.LoadStart.Add(after).UTC(), Reason: reason, ExitCode: code, Count: 1,
	}
}

// A restart during a long run is shown with its time, on the charts and in the journal; restarts
// before and after the load are not.
func TestContainersThatEndedAreMarked(t *testing.T) {
	input := recorded.Experiment(seed)
	shown, other := shownRun(t, input, recorded.Arm)
	withEnds(t, input, shown,
		ended(shown, "module/mod-inventory", 6*time.Minute, "OOMKilled", 137),
		ended(shown, "kafka/broker-0", 3*time.Minute, "", 0),
		ended(shown, "module/mod-early", -time.Minute, "Error", 1),
		ended(shown, "module/mod-late", 10*time.Hour, "Error", 1),
		ended(shown, "generator/cico", time.Minute, "Error", 1))
	withEnds(t, input, other, ended(other, "module/mod-users", 90*time.Second, "Error", 1))
	r := reportOf(t, input)
	found := 0
	for name, chart := range r.Charts() {
		if strings.Contains(string(chart), "3.0 min into the load: kafka/broker-0 restarted. 6.0 min into the load: mod-inventory restarted (OOMKilled).") {
			found++
			if !strings.Contains(string(chart), ">mod-inventory restarted (OOMKilled)<") {
				t.Errorf("chart %s tells of the restart and does not show it", name)
			}
		}
	}
	if found == 0 {
		t.Error("no chart tells of the restarts")
	}
	page := written(t, r, "report.md")
	expect.Contains(t, page, []string{
		"Container restarts under load (UTC)",
		fmt.Sprintf("| `mod-inventory` | `pod-1/main` | %s | 1 | OOMKilled | %d | `%s` |",
			shown.Status.Timings.LoadStart.Add(6*time.Minute).UTC().Format(time.DateTime), shown.Spec.Block, recorded.ConcurrentScenario),
	}, "the page")
	for _, none := range []string{"mod-early", "mod-late", "generator/cico"} {
		if strings.Contains(page, none) {
			t.Errorf("the page tells of %s, which is no restart under load", none)
		}
	}
	if !strings.Contains(written(t, r, "report.html"), `"name":"mod-inventory restarted (OOMKilled)"`) {
		t.Error("the living chart has no mark")
	}
}

// Charts of servers show gaps in the collector's samples, charts of users don't.
func TestGapsAreShadedOnChartsOfServers(t *testing.T) {
	input := recorded.Experiment(seed)
	shown, _ := shownRun(t, input, recorded.Arm)
	start, finish := shown.Status.Timings.LoadStart.Time, shown.Status.Timings.LoadFinish.Time
	changeSamples(t, input, shown, func(samples *payload.Samples) {
		for at := start; !at.After(finish); at = at.Add(15 * time.Second) {
			if minute := at.Sub(start).Minutes(); minute <= 4 || minute >= 6 {
				samples.Rounds = append(samples.Rounds, payload.Point{At: at.UTC(), Value: 15})
			}
		}
	})
	shaded := 0
	for name, chart := range reportOf(t, input).Charts() {
		if !strings.Contains(string(chart), ">not sampled<") {
			continue
		}
		shaded++
		if !strings.Contains(name, "cpu") && !strings.Contains(name, "memory") && !strings.Contains(name, "connections") {
			t.Errorf("chart %s is of no server", name)
		}
	}
	if shaded == 0 {
		t.Error("no chart shows the gap")
	}
}

// A container that restarts constantly neither hides the line nor fills the page.
func TestManyRestartsAreCounted(t *testing.T) {
	input := recorded.Experiment(seed)
	shown, _ := shownRun(t, input, recorded.Arm)
	var ends []payload.ContainerEnd
	for i := range 60 {
		ends = append(ends, ended(shown, "module/mod-inventory", time.Duration(i+1)*5*time.Second, "Error", 1))
	}
	r := reportOf(t, withEnds(t, input, shown, ends...))
	told := func(chart []byte) bool { return strings.Contains(string(chart), "And 52 further restarts.") }
	var charts [][]byte
	for _, chart := range r.Charts() {
		charts = append(charts, chart)
	}
	if !slices.ContainsFunc(charts, told) {
		t.Error("no chart counts what it does not draw")
	}
	if page := written(t, r, "report.md"); !strings.Contains(page, "The first 50 are listed; 10 further restarts are omitted.") || strings.Count(page, "| exit code 1 |") != 50 {
		t.Error("the table is not cut at 50, or does not say so")
	}
}
