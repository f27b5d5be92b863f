// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/payload"
)

// A second hump of a few samples is in no mean, but in the heat map.
func TestAHeatMapShowsEverySample(t *testing.T) {
	input := lengthened(t)
	remeasured(t, input, recorded.Arm, func(run *v1alpha1.PerfRun, start time.Time, own *payload.Payload) {
		if run.Spec.Block == 3 {
			own.Record("Check-In", payload.OK, start.Add(95*time.Minute), 9*time.Second)
			own.Record("Check-In", payload.Error, start.Add(96*time.Minute), 60*time.Second)
		}
	})
	charts := chartsOf(reportOf(t, input), "heat")
	text := charts["heat-"+recorded.Beside+"-cico-Check-In.svg"]
	want := regexp.MustCompile(recorded.Arm + ` \(6 runs\): most from 464\.2 to 681\.3 ms, all from 464\.2 to 10000 ms\.`)
	if !want.MatchString(text) {
		t.Errorf("the heat map is described as %q, want %s", text, want)
	}
	large := recorded.Large(seed, 5, 1, 6)
	for file := range chartsOf(reportOf(t, large), "heat") {
		if strings.HasPrefix(file, "heat-") {
			t.Errorf("%s has rows for more arms than a reader can compare", file)
		}
	}
}
