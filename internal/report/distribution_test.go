// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
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

// distributed spreads the response times of the runs beside users over that many even steps,
// twice as long in the arm. One run has a quarter of the steps.
func distributed(t *testing.T) report.Input {
	t.Helper()
	input := recorded.Experiment(seed)
	smaller := false
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Phase != v1alpha1.RunSucceeded || run.Spec.Scenario.Name != recorded.ConcurrentScenario {
			continue
		}
		step, steps := 10*time.Millisecond, 200
		if run.Spec.Arm == recorded.Arm {
			step *= 2
			if !smaller {
				steps, smaller = 50, true
			}
		}
		replaceRaw(t, input.Raw, naming.RawResults(run.Name), even(run, step, steps))
	}
	return input
}

// even records durations of at most 200 steps, in the middle of the run.
func even(run *v1alpha1.PerfRun, step time.Duration, steps int) *payload.Payload {
	start, end := run.Status.Timings.LoadStart.Time, run.Status.Timings.LoadFinish.Time
	own := payload.New("cico", run.Name, "1", start)
	for i := 1; i <= steps; i++ {
		own.Record("Check-In", payload.OK, start.Add(end.Sub(start)/2), step*time.Duration(i*200/steps))
	}
	own.End, own.Final = end, true
	return own
}

func TestPercentilesGoAsFarAsRunsTell(t *testing.T) {
	charts := reportOf(t, distributed(t)).Charts()
	for file, want := range map[string]string{
		"percentiles-" + recorded.ConcurrentScenario + "-cico-Check-In.svg": `xmx: 50 % 1000 ms, 90 % 179. ms, 95 % 189. ms, 99 % 1980 ms\. .*` +
			recorded.Arm + `: 50 % 2000 ms, 90 % 359. ms, 95 % 380. ms\. `,
		"cumulative-" + recorded.ConcurrentScenario + "-cico-Check-In.svg": `up to 99 %\. xmx: 50 % 1000 ms,`,
	} {
		text := string(charts[file])
		if !regexp.MustCompile(want).MatchString(text) {
			_, after, _ := strings.Cut(text, "<title>")
			title, _, _ := strings.Cut(after, "</title>")
			t.Errorf("%s is described as %q, want %s", file, title, want)
		}
	}
}

// A spike of seconds in a run of many hours is visible.
func TestExtremesOfAllRunsAreShown(t *testing.T) {
	input := lengthened(t)
	remeasured(t, input, recorded.Arm, func(run *v1alpha1.PerfRun, start time.Time, own *payload.Payload) {
		if run.Spec.Block == 2 {
			own.Record("Check-In", payload.OK, start.Add(95*time.Minute), 9*time.Second)
		}
	})
	r := reportOf(t, input)
	text := string(r.Charts()["time-"+recorded.ConcurrentScenario+"-cico-Check-In.svg"])
	want := regexp.MustCompile(recorded.Arm + ` \(block \d\): from 500 to \d+.ms; 6 runs: from 500 to (2625|4750|9000).ms\.`)
	if !want.MatchString(text) {
		_, after, _ := strings.Cut(text, "<title>")
		title, _, _ := strings.Cut(after, "</title>")
		t.Errorf("the chart is described as %q", title)
	}
	if !strings.Contains(text, "fill-opacity") {
		t.Error("nothing is around the lines")
	}
	page := written(t, r, "report.html")
	expect.Contains(t, page, []string{`"highs":[`, `"batches":[{"name":"create-5k"`}, "a page that draws the chart itself")
}

// A second peak of a few samples shows in the heat map, though in no mean.
func TestAHeatMapShowsEverySample(t *testing.T) {
	input := lengthened(t)
	remeasured(t, input, recorded.Arm, func(run *v1alpha1.PerfRun, start time.Time, own *payload.Payload) {
		if run.Spec.Block == 3 {
			own.Record("Check-In", payload.OK, start.Add(95*time.Minute), 9*time.Second)
			own.Record("Check-In", payload.Error, start.Add(96*time.Minute), 60*time.Second)
		}
	})
	charts := chartsOf(reportOf(t, input), "heat")
	text := charts["heat-"+recorded.ConcurrentScenario+"-cico-Check-In.svg"]
	want := regexp.MustCompile(recorded.Arm + ` \(6 runs\): mode from 464\.2 to 681\.3 ms, range from 464\.2 to 10000 ms\.`)
	if !want.MatchString(text) {
		t.Errorf("the heat map is described as %q, want %s", text, want)
	}
	large := recorded.Large(seed, 5, 1, 6)
	for file := range chartsOf(reportOf(t, large), "heat") {
		if strings.HasPrefix(file, "heat-") {
			t.Errorf("%s has rows for more arms than a reader can compare", file)
		}
	}
}
