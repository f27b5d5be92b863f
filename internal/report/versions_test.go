// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/recorded"
)

func TestVersionsThatRunsMetAreOnThePage(t *testing.T) {
	input := recorded.Experiment(seed)
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, "Versions in valid runs") {
		t.Error("no run told a version, and there is a table of them")
	}
	for i := range input.Runs {
		met := &v1alpha1.RunEvidence{
			Versions: v1alpha1.MetVersions{PerfLab: "v0.4.0", Kubernetes: "v1.36.1", Strimzi: "1.2.0"},
			Images:   []v1alpha1.MetImage{{Of: "cico", ImageID: "registry.example/k6@sha256:12ab"}},
		}
		if i > 5 {
			met.Versions.Kubernetes = "v1.36.2"
		}
		input.Runs[i].Status.Evidence = met
	}
	page := written(t, reportOf(t, input), "report.md")
	for _, want := range []string{"| PerfLab | v0.4.0 |", "| Kubernetes | v1.36.1, v1.36.2 |", "| Strimzi | 1.2.0 |", "| CloudNativePG | not known |", "| cico | `registry.example/k6@sha256:12ab` |"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("%q is there %d times, want once", want, strings.Count(page, want))
		}
	}
}
