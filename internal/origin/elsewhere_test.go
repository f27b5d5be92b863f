// SPDX-License-Identifier: Apache-2.0

package origin_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/origin"
)

// The declaration says by what it was measured, and the annotation, which may be
// lost, from which files it was read.
func TestElsewhere(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{{Name: "a", Loads: []v1alpha1.Load{{Name: "a"}}}}
	if said := origin.Elsewhere(experiment); said != "" || origin.Tool(&experiment.Spec) != "" {
		t.Errorf("what PerfLab measured was %q", said)
	}
	experiment.Spec.Scenarios[0].Loads[0].Elsewhere = &v1alpha1.Elsewhere{Tool: "JMeter"}
	if said := origin.Elsewhere(experiment); said != "measured elsewhere by JMeter" {
		t.Errorf("it was %q", said)
	}
	experiment.Annotations = map[string]string{v1alpha1.AnnotationElsewhere: "run1.jtl"}
	if said := origin.Elsewhere(experiment); said != "measured elsewhere by JMeter, read from run1.jtl" {
		t.Errorf("it was %q", said)
	}
}
