//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestLoads checks that each kind of load, and the servers, have metrics.
func TestLoads(t *testing.T) {
	// The sample is not shortened: users must have requests before the first import.
	_, done := runSample(t, "loads.yaml")
	byScenario := map[string]v1alpha1.PerfRun{}
	for _, run := range done {
		byScenario[run.Spec.Scenario.Name] = run
	}
	t.Run("windows", func(t *testing.T) { assertWindows(t, byScenario["cico-with-imports"]) })
	t.Run("servers", func(t *testing.T) { assertServers(t, byScenario["cico-with-imports"]) })
	t.Run("other records", func(t *testing.T) {
		run := byScenario["other-records"]
		for _, metric := range []string{"holdings/records", "authorities/records"} {
			expect.Equal(t, 200, observed(t, run, metric), "%s", metric)
		}
	})
	t.Run("scripts", func(t *testing.T) { assertScripts(t, byScenario["scripts"]) })
}

// assertWindows checks the windows of a run: users alone, during each import, and after.
func assertWindows(t *testing.T, run v1alpha1.PerfRun) {
	transactions := func(in string) float64 {
		return observed(t, run, "cico/Check-In/samples"+in) + observed(t, run, "cico/Check-Out/samples"+in)
	}
	for _, window := range []string{"alone", "during-create", "during-update"} {
		count := transactions("@" + window)
		t.Logf("%g transactions %s", count, window)
		if count == 0 {
			t.Errorf("no transactions %s", window)
		}
	}
	// A load that runs until an import ends has a window of that import.
	if whole, during := transactions(""), transactions("@during-update"); whole != during {
		t.Errorf("%g transactions count, %g while the last import was on", whole, during)
	}
	for metric, want := range map[string]float64{
		"create/records": 250, "create/childJobs": 3, "create/failedChildJobs": 0, "update/records": 100, "update/failedRecords": 0,
	} {
		expect.Equal(t, want, observed(t, run, metric), "%s", metric)
	}
}

// assertServers checks that the collector sampled every component of the system.
func assertServers(t *testing.T, run v1alpha1.PerfRun) {
	for _, component := range []string{
		"module/gateway/cpu", "module/circulation/memory", "module/inventory-storage/cpu", "module/data-import/memory",
		"postgres/primary/cpu", "postgres/primary/memory", "postgres/primary/connections/total",
		"kafka/broker-0/cpu", "kafka/broker-0/memory", "kafka/broker-0/disk",
	} {
		average, highest := observed(t, run, component+"/average"), observed(t, run, component+"/max")
		if average <= 0 || highest < average {
			t.Errorf("%s: average %g, max %g", component, average, highest)
		}
	}
	reported := run.Status.Servers
	if reported == nil || reported.Rounds < 10 || len(reported.Statements) == 0 {
		t.Fatalf("the servers' status is %+v, want rounds and statements", reported)
	}
	t.Logf("rounds %d, longest gap %s, notes %q", reported.Rounds, reported.LongestGap.Duration, reported.Notes)
	for _, statement := range reported.Statements {
		t.Logf("%s %% %s", statement.Percent, statement.Text)
	}
}

// assertScripts checks that groups are transactions. k6's own summary covers the whole
// test.
func assertScripts(t *testing.T, run v1alpha1.PerfRun) {
	if samples := observed(t, run, "search/Search items/samples"); samples < 20 {
		t.Errorf("%g searches, want 20 or more", samples)
	}
	if p95 := observed(t, run, "search/Search items/p95"); p95 <= 0 {
		t.Errorf("p95 of searches is %g", p95)
	}
	if p95 := observed(t, run, "summary/group_duration/p95"); p95 <= 0 {
		t.Errorf("p95 of groups is %g by k6's own summary", p95)
	}
	for _, observation := range run.Status.Observations {
		if value, err := strconv.ParseFloat(observation.Value, 64); strings.HasSuffix(observation.Metric, "/errors") && (err != nil || value != 0) {
			t.Errorf("%s = %s", observation.Metric, observation.Value)
		}
	}
}
