// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/payload"
)

// A legend below a chart explains the numbers above it: equal marks once.
func TestRestartsAreNumberedAndExplained(t *testing.T) {
	input := recorded.Experiment(seed)
	shown, _ := shownRun(t, input, recorded.Arm)
	withEnds(t, input, shown,
		ended(shown, "module/mod-users", 2*time.Minute, "OOMKilled", 137),
		ended(shown, "kafka/broker-0", 5*time.Minute, "", 0),
		ended(shown, "module/mod-users", 4*time.Minute, "OOMKilled", 137),
		ended(shown, "module/mod-users", 9*time.Minute, "OOMKilled", 137))
	chart := chartWith(t, reportOf(t, input), "mod-users restarted (OOMKilled)")
	var texts []string
	for _, one := range regexp.MustCompile(`>([^<>\n]+)</text>`).FindAllStringSubmatch(chart, -1) {
		texts = append(texts, one[1])
	}
	for _, want := range [][]string{{"1", "2", "3", "4"}, {"1–2, 4", "mod-users restarted (OOMKilled)", "3", "kafka/broker-0 restarted"}} {
		if !contains(texts, want) {
			t.Errorf("the chart says %q, want %q in it", texts, want)
		}
	}
}

// chartWith returns a chart of the report with a text.
func chartWith(t *testing.T, r *report.Report, words string) string {
	t.Helper()
	charts := r.Charts()
	for name, chart := range charts {
		if strings.Contains(string(chart), ">"+words+"<") {
			return string(charts[name])
		}
	}
	t.Fatalf("no chart says %q", words)
	return ""
}

// contains reports whether others is a contiguous part of list.
func contains(list, others []string) bool {
	for at := range list {
		if at+len(others) <= len(list) && slices.Equal(list[at:at+len(others)], others) {
			return true
		}
	}
	return false
}

// Time is in seconds if a run is short, and in minutes otherwise.
func TestTimeAxesHaveUnitsThatFit(t *testing.T) {
	expect.Equal(t, true, strings.Contains(charted(t, recorded.Experiment(seed)), ">Minutes since the load began<"), "twenty minutes")
	input := example(t, "read-write-split")
	all := charted(t, input)
	if strings.Contains(all, ">Minutes since") || !strings.Contains(all, ">Seconds since the load began<") || !strings.Contains(all, ">40<") {
		t.Error("the axes of a minute are in minutes")
	}
	if page := written(t, reportOf(t, input), "report.html"); !strings.Contains(page, `"axis":"Seconds since the load began","perMinute":60`) {
		t.Error("the living charts of a minute are in minutes")
	}
}

// charted are all charts of a report.
func charted(t *testing.T, input report.Input) string {
	t.Helper()
	all := ""
	for _, chart := range reportOf(t, input).Charts() {
		all += string(chart)
	}
	return all
}

// No chart draws a line through two points.
func TestTwoPointsMakeNoTrend(t *testing.T) {
	drawn := func(samples int) bool {
		input := recorded.Experiment(seed)
		changeAllSamples(t, input, func(points payload.Points) payload.Points { return points[:samples] })
		_, found := reportOf(t, input).Charts()["course-create-5k-module-mod-inventory-cpu.svg"]
		return found
	}
	expect.Equal(t, []bool{false, true}, []bool{drawn(2), drawn(3)})
}

// changeAllSamples changes the samples of the servers, in valid runs.
func changeAllSamples(t *testing.T, input report.Input, change func(payload.Points) payload.Points) {
	t.Helper()
	for i := range input.Runs {
		if input.Runs[i].Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		changeSamples(t, input, &input.Runs[i], func(of *payload.Samples) {
			for j := range of.Series {
				of.Series[j].Points = change(of.Series[j].Points)
			}
		})
	}
}

// A few thousandths of a core are in millicores, also along an axis.
func TestAxesOfLittleCPUAreInMillicores(t *testing.T) {
	input := recorded.Experiment(seed)
	changeAllSamples(t, input, func(points payload.Points) payload.Points {
		for i := range points {
			points[i].Value /= 1000
		}
		return points
	})
	chart := string(reportOf(t, input).Charts()["course-create-5k-module-mod-inventory-cpu.svg"])
	if !strings.Contains(chart, "CPU of mod-inventory, millicores") || !strings.Contains(chart, ">0.5<") {
		t.Errorf("the chart of little CPU:\n%s", chart)
	}
}

// A heat map has a legend of its shades, and enough ticks to read a time.
func TestHeatMapsHaveALegendAndTicks(t *testing.T) {
	eachExample(t, func(t *testing.T, input report.Input) {
		for name, chart := range reportOf(t, input).Charts() {
			if !strings.HasPrefix(name, "heat-") {
				continue
			}
			expect.Contains(t, string(chart), []string{">Share of the samples at the same time:<", ">0 to 4\u00a0%<", ">35 to 100\u00a0%<"}, "%s", name)
			ticks := map[string]bool{}
			for _, tick := range regexp.MustCompile(`>([1235]0*)</text>`).FindAllStringSubmatch(string(chart), -1) {
				ticks[tick[1]] = true
			}
			if len(ticks) < 3 {
				t.Errorf("%s has the ticks %v", name, ticks)
			}
		}
	})
}

// Texts don't overlap, however many restarts there are and however long the names of arms.
func TestCrowdedChartsAreLegible(t *testing.T) {
	input := recorded.Experiment(seed)
	for _, arm := range []string{recorded.Baseline, recorded.Arm} {
		shown, _ := shownRun(t, input, arm)
		for i := range 30 {
			withEnds(t, input, shown, ended(shown, "module/mod-inventory-storage-with-a-long-name", time.Duration(i+1)*7*time.Second, "OOMKilled", 137))
		}
	}
	const long = "an-arm-with-as-long-a-name-as-there-can-be"
	input.Experiment.Status.Arms[2].Name = long
	for i := range input.Runs {
		if input.Runs[i].Spec.Arm == recorded.Arm {
			input.Runs[i].Spec.Arm = long
		}
	}
	p := openReport(t, input, 1280, "")
	for _, found := range browser.Ask[[]string](p.Tab, overprinted) {
		t.Error(found)
	}
}
