// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/testing/expect"
)

var reasonRow = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|")

// Each outcome of a run has a series from the start. The reasons are those in
// the documentation.
func TestRunsAreCountedFromZero(t *testing.T) {
	page, err := os.ReadFile("../../docs/reasons.md")
	expect.NoError(t, err)
	_, after, found := strings.Cut(string(page), "## The run is invalid")
	section, _, _ := strings.Cut(after, "\n## ")
	reasons := reasonRow.FindAllStringSubmatch(section, -1)
	if !found || len(reasons) < 10 {
		t.Fatalf("the page has %d reasons", len(reasons))
	}
	begun := begunRuns(t)
	for _, reason := range reasons {
		if !begun["invalid "+reason[1]] {
			t.Errorf("no counter begins at zero for %s", reason[1])
		}
	}
	if !begun["succeeded Valid"] {
		t.Errorf("no counter begins at zero for runs that count: %v", begun)
	}
}

// begunRuns returns the counters that exist before any run, by outcome and
// reason.
func begunRuns(t *testing.T) map[string]bool {
	t.Helper()
	registry := prometheus.NewRegistry()
	telemetry.New(registry)
	families, err := registry.Gather()
	expect.NoError(t, err)
	begun := map[string]bool{}
	for _, family := range families {
		if family.GetName() != "perflab_runs_total" {
			continue
		}
		for _, series := range family.GetMetric() {
			values := make([]string, 0, len(series.GetLabel()))
			for _, label := range series.GetLabel() {
				values = append(values, label.GetValue())
			}
			begun[strings.Join(values, " ")] = series.GetCounter().GetValue() == 0
		}
	}
	return begun
}
