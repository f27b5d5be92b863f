// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/recorded"
)

// What Amazon runs stands where databases and brokers do, and not among what somebody
// asked for; one at its limit is told of.
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
	const limit = "Average share of CPUs in use of PostgreSQL replica-7 under "
	if !strings.Contains(page, limit) || strings.Contains(page, "share of CPUs in use of Kafka broker-7 under") {
		t.Errorf("the page does not say %q, or says it of others", limit)
	}
}
