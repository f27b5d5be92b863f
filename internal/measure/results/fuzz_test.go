// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// Any log of another k6 yields a bounded summary and observations that a status can hold.
func FuzzReadSummary(f *testing.F) {
	f.Add(aSummary)
	f.Add(aSummary[:len(aSummary)/2])
	f.Add("{\n\"metrics\": {\"a\": {\"avg\": 1e308, \"count\": -1}, \"checks\": {\"passes\": 1e308, \"fails\": 1e308}}}")
	f.Fuzz(func(t *testing.T, log string) {
		read, err := results.ReadSummary(strings.NewReader(log))
		if err != nil {
			return
		}
		kept, err := results.SelectForStatus(observed(read))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, one := range kept.Status {
			if names[one.Metric] || len(one.Metric) > payload.MaxName+100 {
				t.Fatalf("%q is there twice, or long", one.Metric)
			}
			names[one.Metric] = true
		}
	})
}
