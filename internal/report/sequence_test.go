// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/payload"
)

// chartsOf returns the descriptions of the charts of a kind, by file.
func chartsOf(r *report.Report, kind string) map[string]string {
	found := map[string]string{}
	for file, text := range r.Charts() {
		if strings.HasPrefix(file, kind+"-") {
			_, after, _ := strings.Cut(string(text), "<title>")
			found[file], _, _ = strings.Cut(after, "</title>")
		}
	}
	return found
}

func TestLoadsOfManySizesAreCurves(t *testing.T) {
	input := recorded.Large(seed, 2, 4, 6)
	size := map[string]int32{}
	for i := range input.Experiment.Spec.Scenarios {
		scenario := &input.Experiment.Spec.Scenarios[i]
		size[scenario.Name] = int32(i+1) * 10
		resize(scenario.Loads, size[scenario.Name])
	}
	for i := range input.Runs {
		resize(input.Runs[i].Spec.Scenario.Loads, size[input.Runs[i].Spec.Scenario.Name])
	}
	charts := chartsOf(reportOf(t, input), "sizes")
	want := []string{
		`^Check-In average response time of check-in and check-out with other load by number of users, in ms\. .*: .* at 10, .* at 20, .* at 30, .* at 40\. `,
		`^Duration of create bibliographic with other load by number of records, in s\. .* at 1000, .* at 2000, .* at 3000, .* at 4000\. `,
	}
	for _, one := range want {
		matches := 0
		for _, text := range charts {
			if regexp.MustCompile(one).MatchString(text) {
				matches++
			}
		}
		if matches != 1 {
			t.Errorf("%d charts are %s: %q", matches, one, charts)
		}
	}
	if charts := chartsOf(reportOf(t, recorded.Experiment(seed)), "sizes"); len(charts) > 0 {
		t.Errorf("one size, or two, are a curve: %q", charts)
	}
}

func resize(loads []v1alpha1.Load, size int32) {
	for i := range loads {
		if users := loads[i].CheckInCheckOut; users != nil {
			users.Users = size
		}
		if imported := loads[i].DataImport; imported != nil {
			imported.Records = 100 * size
		}
	}
}

func TestThroughputAndFailuresOverTime(t *testing.T) {
	input := lengthened(t)
	if charts := chartsOf(reportOf(t, input), "failed"); len(charts) > 0 {
		t.Errorf("nothing failed, and it is drawn: %q", charts)
	}
	remeasured(t, input, recorded.Arm, func(_ *v1alpha1.PerfRun, start time.Time, own *payload.Payload) {
		for passed := time.Duration(0); passed < 3*time.Hour; passed += time.Second {
			own.Count(payload.UserSeconds, start.Add(passed), min(8, 1+passed.Minutes()/10))
		}
		for passed := time.Hour; passed < 2*time.Hour; passed += 10 * time.Second {
			own.Record("Check-In", payload.Error, start.Add(passed), time.Second)
		}
	})
	r := reportOf(t, input)
	for kind, want := range map[string]string{
		"throughput": recorded.Arm + ` \(block \d\): from 0\.09\d* to 0\.1\d*.1/s`,
		"users":      recorded.Arm + ` \(block \d\): from 1\.\d+ to 8`,
		"failed":     recorded.Arm + ` \(block \d\): from 0 to 50.%`,
	} {
		charts := chartsOf(r, kind)
		if text := charts[kind+"-"+recorded.ConcurrentScenario+"-cico.svg"]; !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is %q, want %s", kind, text, want)
		}
	}
}

// A constant number of users is not drawn, even if they are counted with some jitter.
func TestSteadyUsersAreNotDrawn(t *testing.T) {
	input := lengthened(t)
	remeasured(t, input, "", func(_ *v1alpha1.PerfRun, start time.Time, own *payload.Payload) {
		for passed := time.Duration(0); passed < 3*time.Hour; passed += time.Second {
			late := passed / time.Second % 3 * 400 * time.Millisecond
			own.Count(payload.UserSeconds, start.Add(passed+late), 8)
		}
	})
	if charts := chartsOf(reportOf(t, input), "users"); len(charts) > 0 {
		t.Errorf("users that are as many all the time are drawn: %q", charts)
	}
}

func TestPricesAreDrawnWhereArmsCostMore(t *testing.T) {
	input := recorded.Experiment(seed)
	if charts := chartsOf(reportOf(t, input), "price"); len(charts) > 0 {
		t.Errorf("no arm has a price: %q", charts)
	}
	for i := range input.Runs {
		run := &input.Runs[i]
		cost := "1.5"
		if run.Spec.Arm == recorded.Arm {
			cost = "2.25"
		}
		run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: "system/cost/perHour", Value: cost, Unit: "USD/h"})
	}
	charts := chartsOf(reportOf(t, input), "price")
	if len(charts) == 0 {
		t.Fatal("prices are not drawn")
	}
	for file, text := range charts {
		if !regexp.MustCompile(`Cost of each arm, in USD/h, and .*xmx: 1\.50 and .*` + recorded.Arm + `: 2\.25 and `).MatchString(text) {
			t.Errorf("%s: %q", file, text)
		}
	}
}

func TestRunsAreDrawnInOrder(t *testing.T) {
	charts := chartsOf(reportOf(t, recorded.Experiment(seed)), "drift")
	if len(charts) == 0 {
		t.Fatal("no run is drawn in order")
	}
	for file, text := range charts {
		if !strings.Contains(text, " at 1, ") || !strings.Contains(text, " at 6. ") {
			t.Errorf("%s: %q", file, text)
		}
	}
}
