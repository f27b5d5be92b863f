// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"slices"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

func TestWhatGoesWithARunIsNamedOnce(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	if names := naming.RawNames(run); len(names) != 0 {
		t.Errorf("a run that has not begun names %q", names)
	}
	run.Status.RawResults = "run-raw"
	run.Status.Servers = &v1alpha1.ServersStatus{RawSamples: "run-samples"}
	run.Status.Loads = []v1alpha1.LoadStatus{
		{Name: "cico"},
		{Name: "search", Script: &v1alpha1.ScriptStatus{Record: "run-scripts"}},
		{Name: "summary", Script: &v1alpha1.ScriptStatus{Record: "run-scripts"}},
	}
	if names, want := naming.RawNames(run), []string{"run-raw", "run-samples", "run-scripts"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
