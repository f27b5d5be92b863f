// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
	"perflab.dev/perflab/payload"
)

// failed is a run with an aborted load, and its stored data.
func failed(t *testing.T) (*v1alpha1.PerfRun, *corev1.ConfigMap) {
	t.Helper()
	kept := payload.New("search", "partitions-1-two", "1", noon)
	kept.Record("Search", payload.OK, noon.Add(time.Second), 100*time.Millisecond)
	kept.Record("Search", payload.OK, noon.Add(2*time.Second), 300*time.Millisecond)
	kept.Record("Search", payload.Error, noon.Add(3*time.Second), time.Millisecond)
	kept.End = noon.Add(time.Minute)
	body, err := payload.Marshal(kept)
	expect.NoError(t, err)
	run := recordOf("partitions-1-two", 1, v1alpha1.RunInvalid)
	run.Status.Message = `load "search": k6 of runner x-1 ended with exit code 107: the script threw`
	run.Status.RawResults = naming.RawResults(run.Name)
	run.Status.Warnings = []string{"postgres/primary used 95 % of its CPU"}
	run.Status.Loads = []v1alpha1.LoadStatus{{
		Name: "search", CreateTime: after(0), StartTime: after(1), FinishTime: after(2), Outcome: v1alpha1.LoadFailed, Message: "exit code 107",
		Progress: &v1alpha1.LoadProgress{Time: *after(2), Users: 8, RequestsPerSecond: "12.3", ErrorPercent: "0.5"},
	}}
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionValid, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonLoadFailed, Message: run.Status.Message},
		{Type: v1alpha1.ConditionModulesReady, Status: metav1.ConditionTrue, Reason: "Ready", Message: "3 modules are ready"},
	}
	raw := &corev1.ConfigMap{Data: map[string]string{
		"search.log": "x-1: error: GoError: no such item\nx-2: info: setting up\n", "other.log": "of nothing",
	}, BinaryData: map[string][]byte{"search": body, "other": []byte("cut off")}}
	raw.Namespace, raw.Name = run.Namespace, run.Status.RawResults
	return run, raw
}

func partitions() *v1alpha1.PerfExperiment {
	return objects.Experiment("partitions", func(e *v1alpha1.PerfExperiment) { e.Spec.Scenarios[0].Name = "searches" })
}

func recordOf(name string, position int32, phase v1alpha1.RunPhase) *v1alpha1.PerfRun {
	return objects.Run(partitions(), name, func(r *v1alpha1.PerfRun) { r.Spec.Arm, r.Spec.Position, r.Status.Phase = "two", position, phase })
}

// recordedLogs returns the output of logs for a name without pods.
func recordedLogs(t *testing.T, name string, objects ...any) (string, error) {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(apiserver.Scheme())
	for _, object := range objects {
		switch object := object.(type) {
		case *v1alpha1.PerfRun:
			builder.WithObjects(object)
		case *v1alpha1.PerfExperiment:
			builder.WithObjects(object)
		case *corev1.ConfigMap:
			builder.WithObjects(object)
		}
	}
	var out strings.Builder
	err := showRecords(t.Context(), builder.Build(), &out, "lab", name)
	return out.String(), err
}

func TestLogsOfDeletedPods(t *testing.T) {
	run, raw := failed(t)
	got, err := recordedLogs(t, run.Name, run, raw)
	want := `run partitions-1-two (arm two, scenario searches, block 1): the pods of its loads were deleted; this is its record
  Invalid: load "search": k6 of runner x-1 ended with exit code 107: the script threw
  load search: Failed: exit code 107
    started 2026-03-01 12:01:00Z, ended 2026-03-01 12:02:00Z
    last reported, 2026-03-01 12:02:00Z: 8 users, 12.3 requests/s, 0.5 % errors
  load search logged last
    x-1: error: GoError: no such item
    x-2: info: setting up
  measured by load search over 1m0s, to a checkpoint before its end
    transaction  samples  errors  average  p95     max
    Search       3        1       200 ms   300 ms  300 ms
  warning: postgres/primary used 95 % of its CPU
  condition     status  reason      message
  Valid         False   LoadFailed  load "search": k6 of runner x-1 ended with exit code 107: the script threw
  ModulesReady  True    Ready       3 modules are ready
`
	expect.NoError(t, err)
	expect.Equal(t, want, got, "the record")
}

func TestLogsWithoutPods(t *testing.T) {
	run, _ := failed(t)
	experiment := partitions()
	waiting := experiment.DeepCopy()
	waiting.Status.WaitingFor = `waiting for PerfSystem "library": not found in the namespace`
	good, last := recordOf("partitions-0-one", 0, v1alpha1.RunSucceeded), recordOf("partitions-2-one", 2, v1alpha1.RunProvisioning)
	last.Status.Message = "Kafka is being built"
	cases := map[string]struct {
		reason  string
		name    string
		objects []any
		want    []string
		never   string
		fails   string
	}{
		"its raw results are gone": {
			reason: "the recorded messages are shown even without logs", name: run.Name, objects: []any{run},
			want: []string{"Invalid: load \"search\"", "exit code 107"}, never: "measured by",
		},
		"before its loads": {
			reason: "there was nothing to log yet", name: last.Name, objects: []any{last},
			want: []string{"no load was started, so there are no logs; this is its record\n  Provisioning: Kafka is being built\n"}, never: "gone",
		},
		"an experiment": {
			reason: "shows failed runs and the last run", name: "partitions", objects: []any{experiment, run, good, last},
			want: []string{"run partitions-1-two", "run partitions-2-one"}, never: "partitions-0-one",
		},
		"an experiment without a run": {
			reason: "shows the waiting message", name: "partitions", objects: []any{waiting},
			fails: `experiment "partitions" in namespace "lab": no run yet: waiting for PerfSystem "library": not found in the namespace`,
		},
		"nothing of the name": {
			reason: "a name may be misspelt", name: "partition",
			fails: `run "partition" not found: PerfExperiment "partition" not found in namespace "lab"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := recordedLogs(t, tc.name, tc.objects...)
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.fails)
			}
			expect.Contains(t, got, tc.want, "%s", tc.reason)
			if tc.never != "" && strings.Contains(got, tc.never) {
				t.Errorf("%s: it says %q:\n%s", tc.reason, tc.never, got)
			}
		})
	}
}
