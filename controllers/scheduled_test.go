// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/schedule"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// hourly creates the small experiment at each full hour.
func hourly(t *testing.T, edits ...func(*v1alpha1.PerfScheduleSpec)) *v1alpha1.PerfSchedule {
	t.Helper()
	made := &v1alpha1.PerfSchedule{Spec: v1alpha1.PerfScheduleSpec{
		Schedule: "0 * * * *", TimeZone: "Europe/Berlin",
		Template: v1alpha1.PerfExperimentTemplate{
			Metadata: v1alpha1.TemplateMetadata{Labels: map[string]string{"team": "a"}},
			Spec:     smallExperiment(t).Spec,
		},
	}}
	made.Name = "hourly"
	for _, edit := range edits {
		edit(&made.Spec)
	}
	return made
}

func (l *lab) schedule() *v1alpha1.PerfSchedule {
	l.t.Helper()
	found := &v1alpha1.PerfSchedule{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "hourly"}, found), "reading the schedule")
	return found
}

// settleSchedules reconciles schedules until there is nothing more to do, with an operator that is
// restarted before each reconcile.
func (l *lab) settleSchedules() {
	l.t.Helper()
	for idle, n := 0, 0; idle <= 5; n++ {
		if n > 100 {
			l.t.Fatalf("the operator does not become idle; its last writes:\n%s", strings.Join(tail(l.line.journal, 10), "\n"))
		}
		before := l.line.effects
		l.passSchedules()
		if idle++; l.line.effects != before || l.line.cut {
			idle = 0
		}
	}
}

func (l *lab) passSchedules() {
	l.t.Helper()
	l.line.cut, l.passed = false, nil
	l.line.view.nextPass()
	experiments, _ := l.operator()
	reconciler := &schedule.Reconciler{Tools: experiments.Tools, Now: experiments.Now}
	_, err := reconciler.Reconcile(l.lease(), request(&v1alpha1.PerfSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "hourly"}}))
	l.judge("schedule", err)
	if l.eachPass != nil {
		l.eachPass()
	}
}

// nextHour moves the clock to a time after the next full hour.
func (l *lab) nextHour() { l.now = l.now.Truncate(time.Hour).Add(time.Hour + 3*time.Minute) }

// setEnded sets the condition of a finished experiment on all experiments.
func (l *lab) setEnded(condition string) {
	l.t.Helper()
	for _, experiment := range l.experiments() {
		meta.SetStatusCondition(&experiment.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Test", Message: "the test says so"})
		experiment.Status.CompletionTime = &metav1.Time{Time: l.now}
		expect.NoError(l.t, l.admin.Status().Update(l.t.Context(), &experiment), "ending experiment %s", experiment.Name)
	}
}

func (l *lab) experimentNames() []string {
	var names []string
	for _, experiment := range l.experiments() {
		names = append(names, experiment.Name)
	}
	slices.Sort(names)
	return names
}

// scheduled is the experiment of the last full hour.
func scheduled(now time.Time) string {
	return naming.ScheduledExperiment("hourly", now.Truncate(time.Hour))
}

// scheduleCondition returns a condition of the schedule; nil: none.
func (l *lab) scheduleCondition(condition string) *metav1.Condition {
	l.t.Helper()
	return meta.FindStatusCondition(l.schedule().Status.Conditions, condition)
}

// With every fault, there is one experiment for each time, and only one at a time; with a limit, old
// ones are deleted.
func TestFaultsDoNotDuplicateScheduledExperiments(t *testing.T) {
	for name, inject := range faults {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			inject(l)
			l.line.takeOver = l.passSchedules
			l.create(hourly(t, func(spec *v1alpha1.PerfScheduleSpec) { spec.SuccessfulExperimentsHistoryLimit = ptr.To[int32](1) }))
			l.now = l.schedule().CreationTimestamp.Time
			l.settleSchedules()
			if names := l.experimentNames(); len(names) > 0 {
				t.Fatalf("%v were created too early", names)
			}
			l.nextHour()
			first := scheduled(l.now)
			l.settleSchedules()
			l.checkMade(first)
			uid := l.experiment(first).UID

			l.nextHour()
			l.settleSchedules()
			if names := l.experimentNames(); !slices.Equal(names, []string{first}) || l.experiment(first).UID != uid {
				t.Errorf("%v exist while the first is running", names)
			}
			if held := l.scheduleCondition(v1alpha1.ConditionHeld); held == nil || !strings.Contains(held.Message, "waits for "+first) {
				t.Errorf("waiting is not reported: %v", held)
			}

			l.setEnded(v1alpha1.ConditionComplete)
			l.settleSchedules()
			second := scheduled(l.now)
			if names := l.experimentNames(); !slices.Equal(names, []string{first, second}) {
				t.Errorf("%v exist after the first has ended, want %s and %s", names, first, second)
			}
			if held := l.scheduleCondition(v1alpha1.ConditionHeld); held != nil {
				t.Errorf("still waiting: %v", held)
			}
			l.setEnded(v1alpha1.ConditionComplete)
			l.settleSchedules()
			if names := l.experimentNames(); !slices.Equal(names, []string{second}) {
				t.Errorf("%v exist, want the newest, %s", names, second)
			}
			status := l.schedule().Status
			if status.Making != nil || status.ActiveCount != 0 || status.LastTime == nil || status.LastSuccessfulTime == nil {
				t.Errorf("%+v", status)
			}
			if len(l.line.hit) > 0 {
				for _, write := range scheduleWrites {
					if !l.line.hit[write] {
						t.Errorf("%q meets no %q", name, write)
					}
				}
			}
		})
	}
}

// checkMade checks the first experiment.
func (l *lab) checkMade(name string) {
	l.t.Helper()
	if names := l.experimentNames(); !slices.Equal(names, []string{name}) {
		l.t.Fatalf("%v were made, want %s", names, name)
	}
	made, owner := l.experiment(name), l.schedule()
	if !metav1.IsControlledBy(made, owner) || !*made.OwnerReferences[0].BlockOwnerDeletion {
		l.t.Errorf("owned by %v", made.OwnerReferences)
	}
	if made.Labels["team"] != "a" || made.Labels[v1alpha1.LabelSchedule] != "hourly" {
		l.t.Errorf("labels %v", made.Labels)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	expect.NoError(l.t, err)
	if release := l.now.Truncate(time.Hour).In(berlin).Format("2006-01-02T15:04"); made.Annotations[v1alpha1.AnnotationRelease] != release {
		l.t.Errorf("annotations %v, want release %s", made.Annotations, release)
	}
	if status := owner.Status; !slices.Equal(status.Active, []string{name}) || status.ActiveCount != 1 ||
		!status.LastScheduleTime.Equal(&metav1.Time{Time: l.now.Truncate(time.Hour)}) {
		l.t.Errorf("%+v", status)
	}
}

// rollOut updates a Deployment to an image, and the number of ready pods.
func (l *lab) rollOut(image string, ready int32) {
	l.t.Helper()
	found := &appsv1.Deployment{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mod-inventory"}, found))
	found.Spec.Template.Spec.Containers[0].Image = image
	expect.NoError(l.t, l.admin.Update(l.t.Context(), found))
	wanted := *found.Spec.Replicas
	found.Status = appsv1.DeploymentStatus{ObservedGeneration: found.Generation, Replicas: wanted, UpdatedReplicas: wanted, ReadyReplicas: min(ready, wanted)}
	expect.NoError(l.t, l.admin.Status().Update(l.t.Context(), found))
}

// An image that has rolled out creates one experiment; images that roll out meanwhile create one, for
// the latest.
func TestImageRolloutCreatesExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.line.fate = alternate(lost, unanswered)
	l.create(hourly(t, func(spec *v1alpha1.PerfScheduleSpec) {
		spec.Schedule, spec.TimeZone = "", ""
		spec.OnImageChange = []v1alpha1.ImageSource{{Kind: "Deployment", Name: "mod-inventory"}}
	}))
	l.settleSchedules()
	if stalled := l.scheduleCondition(v1alpha1.ConditionStalled); stalled == nil || stalled.Reason != v1alpha1.ReasonWorkloadMissing ||
		!strings.Contains(stalled.Message, `there is no Deployment "mod-inventory" in the namespace`) {
		t.Errorf("the missing workload is not reported: %v", stalled)
	}
	l.install(inventory, byHelm)
	l.rollOut("example.org/mod-inventory:1", 9)
	l.settleSchedules()
	l.rollOut("example.org/mod-inventory:2", 0)
	l.settleSchedules()
	if names := l.experimentNames(); len(names) > 0 {
		t.Errorf("%v were created at the first reconcile, or before the image has rolled out", names)
	}
	l.rollOut("example.org/mod-inventory:2", 9)
	l.settleSchedules()
	names := l.experimentNames()
	if len(names) != 1 || l.experiment(names[0]).Annotations[v1alpha1.AnnotationRelease] != "2" {
		t.Fatalf("%v were made, want one for 2", names)
	}
	for _, tag := range []string{"3", "4"} {
		l.rollOut("example.org/mod-inventory:"+tag, 9)
		l.settleSchedules()
	}
	if len(l.experimentNames()) != 1 {
		t.Errorf("%v exist while the first is running", l.experimentNames())
	}
	l.setEnded(v1alpha1.ConditionStalled)
	l.settleSchedules()
	var releases []string
	for _, experiment := range l.experiments() {
		releases = append(releases, experiment.Annotations[v1alpha1.AnnotationRelease])
	}
	if slices.Sort(releases); !slices.Equal(releases, []string{"2", "4"}) {
		t.Errorf("releases %v, want 2 and 4", releases)
	}
	if ready := l.scheduleCondition(v1alpha1.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		t.Errorf("ready: %v", ready)
	}
}

// Replace deletes only the schedule's own experiments. A taken name is reported, and its object stays
// unchanged. The garbage collector handles the deletion of the schedule.
func TestScheduleReplacesOnlyOwnExperiments(t *testing.T) {
	l := newLab(t, complete)
	l.create(hourly(t, func(spec *v1alpha1.PerfScheduleSpec) { spec.ConcurrencyPolicy = v1alpha1.ReplaceConcurrent }))
	l.now = l.schedule().CreationTimestamp.Time
	l.nextHour()
	first := scheduled(l.now)
	l.settleSchedules()
	theirs := smallExperiment(t)
	theirs.Name, theirs.Labels = "theirs", map[string]string{v1alpha1.LabelSchedule: "hourly"}
	taken := smallExperiment(t)
	taken.Name = scheduled(l.now.Add(2 * time.Hour))
	l.create(theirs, taken)
	kept := map[string]types.UID{theirs.Name: theirs.UID, taken.Name: taken.UID}

	l.nextHour()
	l.settleSchedules()
	second := scheduled(l.now)
	if names := l.experimentNames(); slices.Contains(names, first) || !slices.Contains(names, second) || len(names) != 3 {
		t.Errorf("%v exist, want %s instead of %s, and two others", names, second, first)
	}
	l.nextHour()
	l.settleSchedules()
	if stalled := l.scheduleCondition(v1alpha1.ConditionStalled); stalled == nil || stalled.Reason != v1alpha1.ReasonNameTaken {
		t.Errorf("the taken name is not reported: %v", stalled)
	}
	l.nextHour()
	l.settleSchedules()
	last := scheduled(l.now)
	if stalled := l.scheduleCondition(v1alpha1.ConditionStalled); stalled != nil || !slices.Contains(l.experimentNames(), last) {
		t.Errorf("%v, stalled: %v", l.experimentNames(), stalled)
	}
	for name, uid := range kept {
		if l.experiment(name).UID != uid {
			t.Errorf("%s is another one", name)
		}
	}
	gone := l.schedule()
	l.remove(gone)
	l.settleSchedules()
	if experiment := l.experiment(last); !metav1.IsControlledBy(experiment, gone) || experiment.DeletionTimestamp != nil {
		t.Errorf("the operator itself deleted %s", last)
	}
}
