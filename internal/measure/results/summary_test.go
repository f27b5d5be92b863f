// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"errors"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
)

func metricOf(pattern, statistic string) string { return strings.ReplaceAll(pattern, "%s", statistic) }

// aSummary is k6 2.2.0's summary of 40 requests, 2 of which failed, with other lines of its log.
const aSummary = `time="2026-03-01T12:00:00Z" level=info msg="{ not this }"
{
    "root_group": {"name": "", "path": "", "groups": {"search": {"name": "search", "groups": {}, "checks": {}}}, "checks": {}},
    "metrics": {
        "http_req_duration": {"count": 40, "avg": 120, "min": 10, "med": 100, "max": 900, "p(75)": 150, "p(95)": 400, "p(99)": 800},
        "iterations": {"count": 20, "rate": 2},
        "http_reqs": {"count": 40, "rate": 4},
        "vus": {"value": 1, "min": 1, "max": 2},
        "checks": {"passes": 19, "fails": 1, "value": 0.95},
        "http_req_failed": {"passes": 2, "fails": 38, "value": 0.05}
    }
}
running (10.0s), 0/2 VUs
`

func summary(t *testing.T) *results.Summary {
	t.Helper()
	read, err := results.ReadSummary(strings.NewReader(aSummary))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func observed(of *results.Summary) []v1alpha1.Observation {
	load := v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{}}
	return results.Observe(loads(load), map[string]results.Measured{"search": {Summary: of, Start: at(0), End: at(10)}}, v1alpha1.Measurement{})
}

func TestObserveSummary(t *testing.T) {
	observations := observed(summary(t))
	for metric, want := range map[string]string{
		"search/http_req_duration/average": "120",
		"search/http_req_duration/p95":     "400",
		"search/http_req_duration/max":     "900",
		"search/http_req_duration/samples": "40",
		"search/http_req_duration/errors":  "5",
		"search/iterations/count":          "20",
		"search/requestsPerSecond":         "4",
		"search/iterationsPerSecond":       "2",
	} {
		if got := value(t, observations, metric).Value; got != want {
			t.Errorf("%s = %s, want %s", metric, got, want)
		}
	}
}

func TestSummariesOfTwoRunnersHaveNoPercentiles(t *testing.T) {
	slow := strings.Replace(aSummary, `{"count": 40, "avg": 120, "min": 10, "med": 100, "max": 900, "p(75)": 150, "p(95)": 400,`,
		`{"count": 120, "avg": 160, "min": 10, "med": 100, "max": 2000, "p(75)": 150, "p(95)": 1000,`, 1)
	observations := observed(gathered(t, aSummary, slow).Summary)
	if got := value(t, observations, "search/http_req_duration/average").Value; got != "150" {
		t.Errorf("average = %s, want 150, that of all 160 requests", got)
	}
	if got := value(t, observations, "search/http_req_duration/max").Value; got != "2000" {
		t.Errorf("max = %s, want 2000", got)
	}
	for _, observation := range observations {
		if strings.Contains(observation.Metric, "/p") {
			t.Errorf("%s = %s, want no percentile of two runners", observation.Metric, observation.Value)
		}
	}
}

func TestReadSummaryNeedsOne(t *testing.T) {
	if _, err := results.ReadSummary(strings.NewReader("k6 was killed\n")); !errors.Is(err, results.ErrNoSummary) {
		t.Errorf("error %v, want %v", err, results.ErrNoSummary)
	}
	if _, err := results.ReadSummary(strings.NewReader(aSummary[:len(aSummary)/2])); err == nil {
		t.Error("half a summary was read")
	}
}

func TestCheckSummary(t *testing.T) {
	load := v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{}}
	check := func(of *results.Summary) *results.Fault {
		return results.Check(load, map[string]results.Measured{"search": {Summary: of}}, v1alpha1.Measurement{}, v1alpha1.Validity{})
	}
	if fault := check(summary(t)); fault == nil || fault.Reason != v1alpha1.ReasonTooManyErrors {
		t.Errorf("5 %% errors: %+v, want %s", fault, v1alpha1.ReasonTooManyErrors)
	}
	good := summary(t)
	good.FailedRequests = 0
	if fault := check(good); fault == nil || !strings.Contains(fault.Message, "1 of 20 checks failed (5 %)") {
		t.Errorf("5 %% failed checks: %+v, want %s", fault, v1alpha1.ReasonTooManyErrors)
	}
	good.FailedChecks = 0
	if fault := check(good); fault != nil {
		t.Errorf("no errors: %+v, want no fault", fault)
	}
	good.Counts["dropped_iterations"] = 1
	if fault := check(good); fault == nil || fault.Reason != v1alpha1.ReasonLoadNotHeld {
		t.Errorf("a dropped iteration: %+v, want %s", fault, v1alpha1.ReasonLoadNotHeld)
	}
}
