// SPDX-License-Identifier: Apache-2.0

package runfilter_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

func experiment() *v1alpha1.PerfExperiment {
	made := objects.Experiment("heap")
	made.Spec.Design = v1alpha1.Design{Blocks: 2, Calibrate: true, Target: &v1alpha1.PrecisionTarget{MaxBlocks: 4}}
	made.Status.PlanHash = "abc"
	return made
}

func run(edits ...func(*v1alpha1.PerfRun)) v1alpha1.PerfRun {
	return *objects.Run(experiment(), "heap-1", edits...)
}

func TestOwnedRejectsOtherRuns(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*v1alpha1.PerfRun)
		want string
	}{
		"as the operator makes it":   {func(*v1alpha1.PerfRun) {}, ""},
		"the last block":             {func(r *v1alpha1.PerfRun) { r.Spec.Block = 4 }, ""},
		"the last attempt":           {func(r *v1alpha1.PerfRun) { r.Spec.Attempt = 3 }, ""},
		"the baseline's twin":        {func(r *v1alpha1.PerfRun) { r.Spec.Arm = "one-twin" }, ""},
		"without an owner":           {func(r *v1alpha1.PerfRun) { r.OwnerReferences = nil }, "names this experiment, but is not owned by it"},
		"owned by another":           {func(r *v1alpha1.PerfRun) { r.OwnerReferences[0].Name, r.OwnerReferences[0].UID = "other", "2" }, "is not owned by it"},
		"owned, and not controlled":  {func(r *v1alpha1.PerfRun) { r.OwnerReferences[0].Controller = nil }, "is not owned by it"},
		"of another by its spec":     {func(r *v1alpha1.PerfRun) { r.Spec.Experiment = "other" }, `but its spec names "other"`},
		"imported":                   {func(r *v1alpha1.PerfRun) { r.Annotations = map[string]string{v1alpha1.AnnotationImported: ""} }, "was imported, but this experiment is measured here"},
		"another plan":               {func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "def" }, `follows plan "def", but this experiment follows plan "abc"`},
		"no plan":                    {func(r *v1alpha1.PerfRun) { r.Spec.PlanHash = "" }, "follows plan"},
		"an arm that is not planned": {func(r *v1alpha1.PerfRun) { r.Spec.Arm = "three" }, `a position that the plan does not have (block 1, arm "three", scenario "search")`},
		"an unknown scenario":        {func(r *v1alpha1.PerfRun) { r.Spec.Scenario.Name = "browse" }, "a position that the plan does not have"},
		"a block too many":           {func(r *v1alpha1.PerfRun) { r.Spec.Block = 5 }, "a position that the plan does not have"},
		"no block":                   {func(r *v1alpha1.PerfRun) { r.Spec.Block = 0 }, "a position that the plan does not have"},
		"an attempt too many":        {func(r *v1alpha1.PerfRun) { r.Spec.Attempt = 4 }, "is attempt 4 at its position, which may have 3"},
		"no attempt":                 {func(r *v1alpha1.PerfRun) { r.Spec.Attempt = 0 }, "is attempt 0"},
	} {
		t.Run(name, func(t *testing.T) {
			of, one := experiment(), run(c.edit)
			if got := runfilter.RejectionReason(of, runfilter.Recorded(of), &one); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("it %q, want %q", got, c.want)
			}
			own, foreign := runfilter.Following(of, runfilter.Recorded(of), []v1alpha1.PerfRun{one})
			if wanted := c.want == ""; wanted != (len(own) == 1) || wanted != (len(foreign) == 0) {
				t.Errorf("%d runs and %d that only look like it", len(own), len(foreign))
			}
		})
	}
}

func TestRejectedStringHasAdvice(t *testing.T) {
	_, foreign := runfilter.Owned(experiment(), []v1alpha1.PerfRun{run(func(r *v1alpha1.PerfRun) { r.OwnerReferences = nil })})
	want := `left out: PerfRun "heap-1" names this experiment, but is not owned by it; it is excluded from all results and reports: delete it if you don't need it (kubectl delete perfrun heap-1 -n lab)`
	expect.Equal(t, want, foreign[0].String())
}

// Runs that the cluster is about to delete are not reported.
func TestOwnedIgnoresRunsBeingDeleted(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.PerfRun){
		"of an earlier experiment": func(r *v1alpha1.PerfRun) { r.OwnerReferences[0].UID = "0" },
		"deleted": func(r *v1alpha1.PerfRun) {
			r.OwnerReferences, r.DeletionTimestamp = nil, &metav1.Time{Time: time.Unix(1, 0)}
		},
	} {
		if own, foreign := runfilter.Owned(experiment(), []v1alpha1.PerfRun{run(edit)}); len(own)+len(foreign) != 0 {
			t.Errorf("%s: %v, %v", name, own, foreign)
		}
	}
}

// Positions are not checked if the spec has changed since it was planned, or if
// the experiment was planned elsewhere.
func TestOwnedChecksPositionsOfPlan(t *testing.T) {
	elsewhere := run(func(r *v1alpha1.PerfRun) { r.Spec.Arm = "before" })
	changed := experiment()
	changed.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSpecChanged}}
	record := experiment()
	record.Annotations = map[string]string{v1alpha1.AnnotationImported: ""}
	for name, of := range map[string]*v1alpha1.PerfExperiment{"changed": changed, "record": record} {
		if why := runfilter.RejectionReason(of, runfilter.Recorded(of), &elsewhere); why != "" {
			t.Errorf("%s: a run %s", name, why)
		}
	}
}
