// SPDX-License-Identifier: Apache-2.0

package imported_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/imported"
	"perflab.dev/perflab/internal/load/kind"
)

// An imported load can't run, and the error describes the alternative.
func TestImportedLoadCannotRun(t *testing.T) {
	load, is := imported.FromLoad(v1alpha1.Load{Name: "shop", Elsewhere: &v1alpha1.Elsewhere{Tool: "JMeter"}})
	if !is || load.Describe() != "a load outside PerfLab, measured by JMeter" {
		t.Errorf("it is one: %t, described as %q", is, load.Describe())
	}
	faults, _ := load.Validate(field.NewPath("spec"), nil)
	const want = `spec.elsewhere: Forbidden: load "shop" ran outside PerfLab, with JMeter, and can't run here: import its results with perflab import, or declare a load that PerfLab can run (checkInCheckOut, dataImport or script)`
	if len(faults) != 1 || faults[0].Error() != want {
		t.Errorf("it is refused with %v, want %s", faults, want)
	}
	if _, err := load.Length(kind.Assumptions{}); err == nil {
		t.Error("it has a length")
	}
	if _, is := imported.FromLoad(v1alpha1.Load{Name: "shop"}); is {
		t.Error("a load of no kind is one")
	}
}
