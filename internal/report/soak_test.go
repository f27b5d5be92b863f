// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// alone reduces an experiment to its baseline, under one scenario.
func alone(input report.Input, scenario string) report.Input {
	spec, status := &input.Experiment.Spec, &input.Experiment.Status
	spec.Arms, status.Arms, spec.Design.Calibrate = spec.Arms[:1], status.Arms[:1], false
	spec.Scenarios = slices.DeleteFunc(spec.Scenarios, func(one v1alpha1.Scenario) bool { return one.Name != scenario })
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool {
		return run.Spec.Arm != recorded.Baseline || run.Spec.Scenario.Name != scenario
	})
	return input
}

// steady removes growth and failures.
func steady(input report.Input) report.Input {
	change(&input, recorded.Baseline, "module/mod-inventory/memory/slope", func(string) string { return "0.1" })
	for _, transaction := range []string{"Check-In", "Check-Out"} {
		change(&input, recorded.Baseline, "cico/"+transaction+"/errors", func(string) string { return "0" })
	}
	return input
}

// The answer of a soak test is its growth, restarts and failures.
func TestASoakIsAnsweredByGrowthRestartsAndFailures(t *testing.T) {
	asked := func(t *testing.T) report.Input {
		t.Helper()
		return steady(alone(lengthened(t), recorded.ConcurrentScenario))
	}
	first := func(input report.Input) *v1alpha1.PerfRun { return &input.Runs[0] }
	measured := func(metric, unit string, values ...string) func(*testing.T, report.Input) {
		return func(_ *testing.T, input report.Input) {
			for i := range input.Runs {
				one := v1alpha1.Observation{Metric: metric, Value: values[i%len(values)], Unit: unit}
				input.Runs[i].Status.Observations = append(input.Runs[i].Status.Observations, one)
			}
		}
	}
	for name, tc := range map[string]struct {
		happens func(*testing.T, report.Input)
		want    string
		chips   string
	}{
		"nothing": {func(*testing.T, report.Input) {}, "> In 3h under load: no growth, no restarts, no failures.", "**no growth** · **no restarts** · **no failures**"},
		"a leak": {func(_ *testing.T, input report.Input) {
			change(&input, recorded.Baseline, "module/mod-users/memory/slope", func(value string) string { return "4" + value[len(value)-1:] })
		}, "> In 3h under load: mod-users leaks 4", "**1 growth** · **no restarts** · **no failures**"},
		"connections": {func(t *testing.T, input report.Input) {
			measured("postgres/primary/connections/total/slope", "1/h", "40", "42")(t, input)
		}, "> In 3h under load: total connections of PostgreSQL primary up 41.0/h (39.9 to 42.1); no restarts, no failures.", "**1 growth**"},
		"restarts that are counted": {func(_ *testing.T, input report.Input) {
			change(&input, recorded.Baseline, "module/mod-users/restarts", func(string) string { return "2" })
		}, "> In 3h under load: mod-users restarted 12 times; no growth, no failures.", "**12 restarts**"},
		"restarts that were seen": {func(t *testing.T, input report.Input) {
			run := first(input)
			withEnds(t, input, run, ended(run, "module/mod-users", time.Minute, "OOMKilled", 1), ended(run, "module/mod-users", time.Hour, "OOMKilled", 2))
		}, "mod-users restarted 2 times (OOMKilled)", "**2 restarts**"},
		"restarts for several reasons": {func(t *testing.T, input report.Input) {
			run := first(input)
			withEnds(t, input, run, ended(run, "kafka/broker-0", time.Minute, "OOMKilled", 1), ended(run, "kafka/broker-0", time.Hour, "Error", 1))
		}, "kafka/broker-0 restarted 2 times;", "**2 restarts**"},
		"failures": {func(_ *testing.T, input report.Input) {
			change(&input, recorded.Baseline, "cico/Check-Out/errors", func(string) string { return "1.5" })
		}, "1.5\u00a0% of Check-Out failed; no growth, no restarts.", "**1 kind of failure**"},
		"imports that failed": {measured("create-5k/failedImports", "1", "1", "0"), "3 imports of create-5k failed;", "**1 kind of failure**"},
	} {
		t.Run(name, func(t *testing.T) {
			input := asked(t)
			tc.happens(t, input)
			card := head(t, input)
			expect.Contains(t, card, []string{tc.want, tc.chips, "# Is xmx stable over 3h of load?"}, "the card")
			if strings.Contains(card, "compare") || strings.Contains(card, "noise floor") {
				t.Errorf("the card speaks of a comparison:\n%s", card)
			}
		})
	}
}

// Long runs of several arms show growth by arm, beside the comparison, or instead of it if there
// are too few blocks.
func TestLongRunsOfSeveralArmsTellGrowthByArm(t *testing.T) {
	input := lengthened(t)
	expect.Contains(t, head(t, input), []string{"> maxram-66 is", "In 3h under load: Check-In average response time up 39.97\u00a0ms/h (39.03 to 40.90) under create-5k-under-cico in maxram-66; mod-inventory leaks 36.6\u00a0MiB/h"}, "the card")
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block > 2 })
	expect.Contains(t, head(t, input), []string{"Too few blocks for a verdict", "> In 3h under load: "}, "the card of two blocks")
}

// One short run has nothing to compare, and the card shows its measurements.
func TestOneArmTellsWhatWasMeasured(t *testing.T) {
	card := head(t, alone(recorded.Experiment(seed), recorded.ConcurrentScenario))
	expect.Contains(t, card, []string{"> xmx (only arm): Check-In average response time ", "# How does xmx perform in"}, "the card")
}
