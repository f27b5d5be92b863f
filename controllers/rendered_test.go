// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
)

func twoBlocks(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 }

func TestRunsOfArmHaveSameManifests(t *testing.T) {
	reset := func(policy v1alpha1.ResetPolicy) func(*v1alpha1.PerfExperiment) {
		return func(e *v1alpha1.PerfExperiment) { e.Spec.Reset = policy }
	}
	for name, edit := range map[string]func(*v1alpha1.PerfExperiment){
		"as it is":     reset(v1alpha1.ResetRestartModules),
		"recreated":    reset(v1alpha1.ResetRecreate),
		"kept warm":    func(e *v1alpha1.PerfExperiment) { e.Spec.KeepWarm = true },
		"with adopted": borrowing("Deployment", v1alpha1.Module{}),
		"two loads":    importUnderUsers,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.install(inventory, byHelm)
			l.create(login(), smallExperiment(t, edit, twoBlocks))
			l.outside.held["cico"] = name == "two loads"
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			for _, run := range l.runs() {
				if run.Status.Evidence.RenderedChange != nil {
					t.Errorf("run %s warns: %q", run.Name, run.Status.Warnings)
				}
				if rendered := run.Status.Evidence.Rendered; len(rendered) < 2 || !strings.HasPrefix(rendered[len(rendered)-1].Of, "load ") {
					t.Errorf("run %s notes what was made of %+v", run.Name, rendered)
				}
			}
		})
	}
}

// An operator that is upgraded during an experiment may render other manifests. The later runs report
// that, and so does the page.
func TestChangedManifestsAreReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, twoBlocks))
	first := l.untilRun(v1alpha1.RunSucceeded)
	for i := range first.Status.Evidence.Rendered {
		if rendered := &first.Status.Evidence.Rendered[i]; rendered.Of == "Kafka" {
			rendered.SHA256 = "another"
		}
	}
	first.Status.Evidence.Versions.PerfLab = "v0.3.0"
	l.updateStatus(first)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	want := `not built as run "` + first.Name + `" of the same arm: PerfLab renders Kafka differently (version v0.3.0 then, v0.4.0 now)`
	for _, run := range l.runs() {
		change := run.Status.Evidence.RenderedChange
		warns := change != nil && change.Since == first.Name && change.Message == want && slices.Contains(run.Status.Warnings, want)
		if again := run.Spec.Arm == first.Spec.Arm && run.Spec.Block == 2; warns != again {
			t.Errorf("run %s warns: %t, want %t: %q", run.Name, warns, again, run.Status.Warnings)
		}
	}
	if page := l.pages(l.stored())["report.md"]; !strings.Contains(page, "was not built as run") || !strings.Contains(page, "A block with runs of both builds") {
		t.Errorf("the page does not report it:\n%s", page)
	}
}
