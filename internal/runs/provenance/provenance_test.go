// SPDX-License-Identifier: Apache-2.0

package provenance_test

import (
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

func TestOrigin(t *testing.T) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	here := provenance.Origin{Namespace: "archive", Name: "heap", UID: "2"}
	for name, tc := range map[string]struct {
		annotation string
		imported   bool
		want       provenance.Origin
	}{
		"measured here":             {"", false, here},
		"measured elsewhere":        {"lab/heap 1 2026-03-02T08:00:00Z", true, provenance.Origin{Namespace: "lab", Name: "heap", UID: "1", Imported: at}},
		"measured where none knows": {"lab/heap - 2026-03-02T08:00:00Z", true, provenance.Origin{Namespace: "lab", Name: "heap", Imported: at}},
		"written by hand":           {"yes", true, here},
		"no time":                   {"lab/heap 1 yesterday", true, here},
		"no namespace":              {"heap 1 2026-03-02T08:00:00Z", true, here},
	} {
		t.Run(name, func(t *testing.T) {
			experiment := &v1alpha1.PerfExperiment{}
			experiment.Namespace, experiment.Name, experiment.UID = "archive", "heap", "2"
			if tc.imported {
				experiment.Annotations = map[string]string{v1alpha1.AnnotationImported: tc.annotation}
			}
			got := provenance.OriginOf(experiment)
			if got != tc.want || provenance.IsImported(experiment) != tc.imported {
				t.Errorf("%+v, imported %t; want %+v, %t", got, provenance.IsImported(experiment), tc.want, tc.imported)
			}
			if tc.want != here && got.String() != tc.annotation {
				t.Errorf("it is written as %q, not as %q", got, tc.annotation)
			}
		})
	}
}

// An annotation without a value counts as well.
func TestEmptyAnnotationIsImported(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	run.Annotations = map[string]string{v1alpha1.AnnotationImported: ""}
	if !provenance.IsImported(run) {
		t.Error("the run is not imported")
	}
}

// The declaration has the tool, and the annotation, which may be lost, the files
// that were read.
func TestElsewhere(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{{Name: "a", Loads: []v1alpha1.Load{{Name: "a"}}}}
	if said := provenance.Elsewhere(experiment); said != "" || provenance.Tool(&experiment.Spec) != "" {
		t.Errorf("what PerfLab measured was %q", said)
	}
	experiment.Spec.Scenarios[0].Loads[0].Elsewhere = &v1alpha1.Elsewhere{Tool: "JMeter"}
	if said := provenance.Elsewhere(experiment); said != "measured elsewhere by JMeter" {
		t.Errorf("it was %q", said)
	}
	experiment.Annotations = map[string]string{v1alpha1.AnnotationElsewhere: "run1.jtl"}
	if said := provenance.Elsewhere(experiment); said != "measured elsewhere by JMeter, read from run1.jtl" {
		t.Errorf("it was %q", said)
	}
}
