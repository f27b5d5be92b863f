// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

var update = flag.Bool("update", false, "rewrite test/argocd/testdata")

// Argo CD's health checks are tested with what the operator writes in each phase. This test keeps
// these files current.
func TestPhasesMatchHealthChecks(t *testing.T) {
	suspend := func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = true }
	for name, bring := range map[string]func(*lab){
		"new":     func(l *lab) { l.create(smallExperiment(l.t)) },
		"pending": func(l *lab) { l.create(smallExperiment(l.t, referring)); l.settle() },
		"running": func(l *lab) {
			l.create(login(), smallExperiment(l.t))
			l.untilRun(v1alpha1.RunProvisioning)
		},
		"loading": func(l *lab) {
			l.create(login(), smallExperiment(l.t))
			l.untilRun(v1alpha1.RunLoading)
		},
		"suspending": func(l *lab) {
			l.create(login(), smallExperiment(l.t))
			l.untilRun(v1alpha1.RunProvisioning)
			l.mustChange("small", suspend)
			l.settle()
		},
		"suspended": func(l *lab) { l.create(smallExperiment(l.t, suspend)); l.settle() },
		"unobserved": func(l *lab) {
			l.create(login(), smallExperiment(l.t, oneArm))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 })
		},
		"complete": func(l *lab) {
			l.create(login(), smallExperiment(l.t, oneArm))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		},
		"worse": func(l *lab) {
			l.create(login(), smallExperiment(l.t, blocks(6)))
			l.conduct("small", outcomes{slower: map[string]float64{"slow": 0.1}, spread: 0.01})
		},
		"changed": func(l *lab) {
			l.create(login(), smallExperiment(l.t))
			l.settle()
			l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Arms[1].Name = "other" })
			l.untilPhase("small", v1alpha1.ExperimentStalled)
		},
		"exhausted": func(l *lab) {
			l.create(login(), smallExperiment(l.t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
			l.outside.exit["cico"] = 107
			l.untilPhase("small", v1alpha1.ExperimentStalled)
		},
		"deleting": func(l *lab) {
			l.create(login(), smallExperiment(l.t, oneArm))
			l.untilRun(v1alpha1.RunLoading)
			l.remove(l.experiment("small"))
			l.pass()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			bring(l)
			l.compareGolden("PerfExperiment-"+name, experimentHealth(l.experiment("small")))
			if run := l.run(); run != nil && slices.Contains([]string{"running", "loading", "complete", "exhausted"}, name) {
				l.compareGolden("PerfRun-"+name, runHealth(run))
			}
		})
	}
}

// The same for schedules.
func TestSchedulePhasesMatchHealthChecks(t *testing.T) {
	for name, bring := range map[string]func(*lab){
		"new":      func(l *lab) { l.create(hourly(l.t)) },
		"in-force": func(l *lab) { l.create(hourly(l.t)); l.settleSchedules() },
		"held": func(l *lab) {
			l.create(hourly(l.t))
			for range 2 {
				l.nextHour()
				l.settleSchedules()
			}
		},
		"suspended": func(l *lab) {
			l.create(hourly(l.t, func(spec *v1alpha1.PerfScheduleSpec) { spec.Suspend = true }))
			l.settleSchedules()
		},
		"missing": func(l *lab) {
			l.create(hourly(l.t, func(spec *v1alpha1.PerfScheduleSpec) {
				spec.OnImageChange = []v1alpha1.ImageSource{{Kind: "Deployment", Name: "okapi"}}
			}))
			l.settleSchedules()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			bring(l)
			l.compareGolden("PerfSchedule-"+name, scheduleHealth(l.schedule()))
		})
	}
}

func scheduleHealth(schedule *v1alpha1.PerfSchedule) seen {
	shown := seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfSchedule"},
		Metadata: healthMetadata(schedule),
		Spec:     map[string]any{"suspend": schedule.Spec.Suspend},
	}
	if schedule.Status.ObservedGeneration != 0 {
		shown.Status = &seenStatus{ObservedGeneration: schedule.Status.ObservedGeneration, Conditions: kstatusConditions(schedule.Status.Conditions)}
	}
	return shown
}

// referring refers to a missing PerfSystem.
func referring(e *v1alpha1.PerfExperiment) {
	e.Spec.System = v1alpha1.System{}
	e.Spec.SystemRef = &v1alpha1.SystemRef{Name: "absent"}
}

// seen has the fields that health checks read.
type seen struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        map[string]any `json:"metadata"`
	Spec            map[string]any `json:"spec,omitempty"`
	Status          *seenStatus    `json:"status,omitempty"`
}

type seenStatus struct {
	ObservedGeneration int64               `json:"observedGeneration,omitempty"`
	Phase              string              `json:"phase,omitempty"`
	Message            string              `json:"message,omitempty"`
	Progress           string              `json:"progress,omitempty"`
	WaitingFor         string              `json:"waitingFor,omitempty"`
	Arms               []seenArm           `json:"arms,omitempty"`
	Conditions         []map[string]string `json:"conditions,omitempty"`
}

type seenArm struct {
	Name     string                `json:"name"`
	Verdicts *v1alpha1.ArmVerdicts `json:"verdicts,omitempty"`
}

func experimentHealth(experiment *v1alpha1.PerfExperiment) seen {
	status := &experiment.Status
	shown := seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfExperiment"},
		Metadata: healthMetadata(experiment),
		Spec:     map[string]any{"suspend": experiment.Spec.Suspend},
	}
	if status.Phase == "" {
		return shown
	}
	shown.Status = &seenStatus{
		ObservedGeneration: status.ObservedGeneration, Phase: string(status.Phase),
		Progress: status.Progress, WaitingFor: status.WaitingFor, Conditions: kstatusConditions(status.Conditions),
	}
	for _, arm := range status.Arms {
		shown.Status.Arms = append(shown.Status.Arms, seenArm{Name: arm.Name, Verdicts: arm.Verdicts})
	}
	return shown
}

func runHealth(run *v1alpha1.PerfRun) seen {
	return seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfRun"},
		Metadata: healthMetadata(run),
		Status: &seenStatus{
			ObservedGeneration: run.Status.ObservedGeneration, Phase: string(run.Status.Phase),
			Message: run.Status.Message, Conditions: kstatusConditions(run.Status.Conditions),
		},
	}
}

func healthMetadata(object metav1.Object) map[string]any {
	shown := map[string]any{"name": object.GetName(), "generation": object.GetGeneration()}
	if object.GetDeletionTimestamp() != nil {
		shown["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	return shown
}

// kstatusConditions returns the conditions about the whole object.
func kstatusConditions(conditions []metav1.Condition) []map[string]string {
	var shown []map[string]string
	for _, c := range conditions {
		switch c.Type {
		case v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionComplete, v1alpha1.ConditionHeld:
			shown = append(shown, map[string]string{"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message})
		}
	}
	return shown
}

func (l *lab) compareGolden(name string, got any) {
	l.t.Helper()
	written, err := yaml.Marshal(got)
	expect.NoError(l.t, err)
	written = bytes.ReplaceAll(written, []byte(l.namespace), []byte("lab"))
	path := apiserver.Root("test", "argocd", "testdata", name+".yaml")
	if *update {
		expect.NoError(l.t, os.WriteFile(path, written, 0o644))
		return
	}
	content, err := os.ReadFile(path)
	expect.NoError(l.t, err, "reading the golden file (write it with -update)")
	var want, now seen
	for _, one := range []struct {
		content []byte
		into    *seen
	}{{content, &want}, {written, &now}} {
		expect.NoError(l.t, yaml.UnmarshalStrict(one.content, one.into), "reading %s", name)
		one.into.dropMessages()
	}
	if diff := cmp.Diff(want, now); diff != "" {
		l.t.Errorf("%s differs from the tested health checks' input; run go test ./controllers -run PhasesMatch -update, then make test-argocd (-want +got):\n%s", name, diff)
	}
}

// dropMessages keeps only whether there is a message: its text may change without a change of health.
func (s *seen) dropMessages() {
	if s.Status == nil {
		return
	}
	for _, text := range []*string{&s.Status.Message, &s.Status.WaitingFor} {
		if *text != "" {
			*text = "…"
		}
	}
	for _, condition := range s.Status.Conditions {
		condition["message"] = "…"
	}
}
