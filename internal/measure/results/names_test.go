// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
)

// The metrics accepted before a run are those measured in one: an unlisted name would be rejected,
// and one listed in vain accepted.
func TestKnownNamesAreObserved(t *testing.T) {
	users := v1alpha1.Load{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{}}
	failing := cico(t)
	failing.Record("Check-In", "error", at(5), 1)
	files := imported(t, 1, 0, 400, 0)
	files.Count("perflab_child_jobs", at(9), 2)
	servers := sampledFor(constant(1), constant(300)).Samples
	cases := map[string]struct {
		observed []v1alpha1.Observation
		known    []string
	}{
		"transactions": {results.Observe(loads(users), measurements(failing), v1alpha1.Measurement{}), metric.TransactionStatistics()},
		"imports":      {results.Observe(loads(imports(1, 400)), measurements(files), v1alpha1.Measurement{}), metric.ImportStatistics()},
		"summaries":    {observed(summary(t)), append(metric.SummaryStatistics(), metric.Rates()...)},
		"servers":      {observedWithGrowth(servers, window("", 0, 60)), metric.ServerStatistics()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var seen []string
			for _, observation := range tc.observed {
				_, last := metric.CutStatistic(observation.Metric)
				if !slices.Contains(seen, last) {
					seen = append(seen, last)
				}
			}
			slices.Sort(seen)
			known := slices.Sorted(slices.Values(tc.known))
			if diff := cmp.Diff(known, seen); diff != "" {
				t.Errorf("statistics (-known +observed):\n%s", diff)
			}
		})
	}
}
