// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// A running experiment has the same fields, plus those known only from its
// runs.
func TestStateOfRunningExperiment(t *testing.T) {
	seen := underway()
	got := seen.state(after(30).Time)
	if got.SecondsLeft == nil || *got.SecondsLeft != 35*60 || got.Over || got.Current.Run != "partitions-2-two" || got.InvalidRuns[0].Reason != v1alpha1.ReasonTooManyErrors {
		t.Errorf("%+v", got)
	}
	seen.experiment.Spec.Design.Blocks, seen.experiment.Spec.Scenarios = 6, make([]v1alpha1.Scenario, 1)
	seen.experiment.Status.Arms = make([]v1alpha1.ArmStatus, 2)
	seen.experiment.Status.Analysis = &v1alpha1.AnalysisStatus{Blocks: 1}
	expect.Equal(t, BlocksJSON{Planned: 3, Complete: 1}, seen.state(noon).Blocks, "blocks, of 6 runs under 1 scenario of 2 arms")
}

// After a timeout, the error describes the last state.
func TestFollowTimesOut(t *testing.T) {
	seen := underway()
	seen.experiment.Namespace = "lab"
	// Only the run has the progress of its loads.
	seen.experiment.Status.Current.Message = "loads are running"
	reader := fake.NewClientBuilder().WithScheme(cluster.NewScheme()).WithObjects(&seen.experiment).Build()
	how := followOptions{timeout: time.Second, interval: time.Hour}
	err := follow(t.Context(), reader, client.ObjectKeyFromObject(&seen.experiment), newScreen(io.Discard), how)
	const want = `watching experiment "partitions": timed out after 1s (--timeout): Running; 2 of 6 runs are done; run partitions-2-two: Loading: loads are running`
	if exit.Code(err) != exit.Timeout || err.Error() != want {
		t.Errorf("exit code %d: %v\nwant\n%s", exit.Code(err), err, want)
	}
}

// Watching in a data format writes a document for each change, and nothing
// else.
func TestWatchForPrograms(t *testing.T) {
	for _, format := range []string{console.FormatJSON, console.FormatYAML} {
		var out, notes bytes.Buffer
		screen := newScreen(&out)
		screen.output, screen.notes = &console.Output{Format: format}, &notes
		seen := underway()
		screen.show(seen, after(30).Time)
		screen.show(seen, after(31).Time)
		screen.note("reading failed: timeout")
		screen.show(complete(v1alpha1.VerdictBetter), after(40).Time)
		expect.Equal(t, 2, strings.Count(out.String(), "secondsLeft"), "documents of %s", format)
		expect.Equal(t, format == console.FormatYAML, strings.HasPrefix(out.String(), "---\n"), "%s begins with a line", format)
		expect.Equal(t, "reading failed: timeout\n", notes.String())
	}
}
