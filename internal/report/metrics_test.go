// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// measuring adds observations to all valid runs of an experiment.
func measuring(observations ...v1alpha1.Observation) report.Input {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		if status := &input.Runs[i].Status; status.Phase == v1alpha1.RunSucceeded {
			status.Observations = slices.Concat(status.Observations, observations)
		}
	}
	return input
}

// The cost belongs to the system, even if a load has the system's name.
func TestTheSystemsCostIsNoLoads(t *testing.T) {
	input := measuring(
		v1alpha1.Observation{Metric: "system/cost/perHour", Value: "0.25", Unit: "USD/h"},
		v1alpha1.Observation{Metric: "system/duration", Value: "60", Unit: "s"},
	)
	input.Experiment.Spec.Analysis.Primary = []string{"system/cost/perHour", "system/duration"}
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{"Cost per hour under ", "Duration of import system under "}, "the report")
	// The table has the comparisons least likely by chance, so arms cost more than the baseline.
	for i := range input.Runs {
		if run := &input.Runs[i]; run.Spec.Arm != "xmx" {
			for j := range run.Status.Observations {
				if one := &run.Status.Observations[j]; one.Metric == "system/cost/perHour" {
					one.Value = "0.35"
				}
			}
		}
	}
	input.Experiment.Spec.Analysis.Primary = nil
	_, tables, _ := strings.Cut(written(t, reportOf(t, input), "report.md"), "Servers and cost")
	if servers, _, _ := strings.Cut(tables, "\n\n**"); !strings.Contains(servers, "`system/cost/perHour`") || strings.Contains(servers, "`system/duration`") {
		t.Errorf("the table of servers and cost:\n%s", servers)
	}
}

// The page names the better direction only of metrics that it shows: of rates, but not of counts
// that only the CSV lists.
func TestDirectionsAreThoseOfThePage(t *testing.T) {
	input := measuring(
		v1alpha1.Observation{Metric: "postgres/primary/cacheHits/average", Value: "99", Unit: "%"},
		v1alpha1.Observation{Metric: "postgres/primary/transactionsPerSecond/average", Value: "9", Unit: "1/s"},
		v1alpha1.Observation{Metric: "cico/requestsPerSecond", Value: "9", Unit: "1/s"},
		v1alpha1.Observation{Metric: "cico/iterationsPerSecond", Value: "9", Unit: "1/s"},
	)
	const want = "Lower is better, except for cache hits, iterations per second, records per second, requests per second, transactions per second."
	if page := written(t, reportOf(t, input), "report.md"); !strings.Contains(page, want) {
		t.Errorf("the report does not say %q", want)
	}
}

// Each import of a series has its own row, in order.
func TestImportsOfASeriesAreToldOneByOne(t *testing.T) {
	var observations []v1alpha1.Observation
	for part, took := range []string{"60.4", "61.5", "3600"} {
		observations = append(observations, v1alpha1.Observation{Metric: metric.Name("create-5k", metric.Part(part+1), metric.Duration), Value: took, Unit: "s"})
	}
	page := written(t, reportOf(t, measuring(observations...)), "report.md")
	_, table, found := strings.Cut(page, "**Imports of create-5k under "+recorded.ConcurrentScenario+": individual durations")
	if !found {
		t.Fatal("there is no table of them")
	}
	table, _, _ = strings.Cut(table, "\n\n**")
	expect.Contains(t, table, []string{"| 1 | 00:01:00 | 00:01:00 | 00:00:00 |", "| 2 | 00:01:02 ", "| 3 | 01:00:00 "})
	if page := written(t, reportOf(t, recorded.Experiment(seed)), "report.md"); strings.Contains(page, "individual durations") {
		t.Error("a single import is listed by itself")
	}
}

// Metrics of Amazon's services appear in the sections of databases and brokers, not among custom
// metrics. The page warns about a service at its limit.
func TestWhatAmazonRunsIsShownInItsSections(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		status := &input.Runs[i].Status
		for _, one := range []v1alpha1.Observation{
			{Metric: "postgres/replica-7/cpuUsed/average", Value: "93.5", Unit: "%"},
			{Metric: "postgres/replica-7/cpuUsed/max", Value: "99", Unit: "%"},
			{Metric: "postgres/replica-7/memoryFree/average", Value: "3072", Unit: "MiB"},
			{Metric: "postgres/replica-7/memoryFree/max", Value: "3100", Unit: "MiB"},
			{Metric: "kafka/broker-7/diskUsed/average", Value: "31", Unit: "%"},
			{Metric: "kafka/broker-7/diskUsed/max", Value: "32", Unit: "%"},
			{Metric: "kafka/broker-7/cpuUsed/average", Value: "40", Unit: "%"},
			{Metric: "kafka/broker-7/cpuUsed/max", Value: "99", Unit: "%"},
			{Metric: "kafka/broker-7/bytesIn/average", Value: "1000", Unit: "B/s"},
			{Metric: "kafka/broker-7/bytesIn/max", Value: "2000", Unit: "B/s"},
		} {
			one.Samples = 30
			status.Observations = append(status.Observations, one)
		}
	}
	page := written(t, reportOf(t, input), "report.md")
	section := func(title string) string {
		_, rest, found := strings.Cut(page, "### "+title+"\n")
		if !found {
			t.Fatalf("there is no section %q", title)
		}
		own, _, _ := strings.Cut(rest, "\n### ")
		return own
	}
	for title, rows := range map[string][]string{
		"Database": {"`replica-7 cpuUsed`", "`replica-7 memoryFree`"},
		"Kafka":    {"`broker-7 diskUsed`", "`broker-7 bytesIn`"},
	} {
		for _, row := range rows {
			if own := section(title); !strings.Contains(own, row) {
				t.Errorf("%s lacks %s:\n%.1500s", title, row, own)
			}
		}
	}
	const limit = "Average CPU utilization of PostgreSQL replica-7 under "
	if !strings.Contains(page, limit) || strings.Contains(page, "CPU utilization of Kafka broker-7 under") {
		t.Errorf("the page does not say %q, or says it of others", limit)
	}
}
