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

var update = flag.Bool("update", false, "write test/argocd/testdata anew")

// Argo CD's health checks are tested with what the operator really writes in
// each phase. These files are that, and stay so.
func TestEachPhaseIsAsTheHealthChecksKnowIt(t *testing.T) {
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
			l.compareGolden("PerfExperiment-"+name, healthOfExperiment(l.experiment("small")))
			if run := l.run(); run != nil && slices.Contains([]string{"running", "loading", "complete", "exhausted"}, name) {
				l.compareGolden("PerfRun-"+name, healthOfRun(run))
			}
		})
	}
}

// What the health checks know of schedules is what the operator writes, too.
func TestEachPhaseOfAScheduleIsAsTheHealthChecksKnowIt(t *testing.T) {
	for name, bring := range map[string]func(*lab){
		"new":      func(l *lab) { l.create(hourly(l.t)) },
		"in-force": func(l *lab) { l.create(hourly(l.t)); l.schedulesSettle() },
		"held": func(l *lab) {
			l.create(hourly(l.t))
			for range 2 {
				l.nextHour()
				l.schedulesSettle()
			}
		},
		"suspended": func(l *lab) {
			l.create(hourly(l.t, func(spec *v1alpha1.PerfScheduleSpec) { spec.Suspend = true }))
			l.schedulesSettle()
		},
		"missing": func(l *lab) {
			l.create(hourly(l.t, func(spec *v1alpha1.PerfScheduleSpec) {
				spec.OnImageChange = []v1alpha1.ImageSource{{Kind: "Deployment", Name: "okapi"}}
			}))
			l.schedulesSettle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			bring(l)
			l.compareGolden("PerfSchedule-"+name, healthOfSchedule(l.schedule()))
		})
	}
}

func healthOfSchedule(schedule *v1alpha1.PerfSchedule) seen {
	shown := seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfSchedule"},
		Metadata: metadataOf(schedule),
		Spec:     map[string]any{"suspend": schedule.Spec.Suspend},
	}
	if schedule.Status.ObservedGeneration != 0 {
		shown.Status = &seenStatus{ObservedGeneration: schedule.Status.ObservedGeneration, Conditions: kstatusOf(schedule.Status.Conditions)}
	}
	return shown
}

// referring takes the system from a PerfSystem that is not there.
func referring(e *v1alpha1.PerfExperiment) {
	e.Spec.System = v1alpha1.System{}
	e.Spec.SystemRef = &v1alpha1.SystemRef{Name: "absent"}
}

// seen is what health checks may look at.
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

func healthOfExperiment(experiment *v1alpha1.PerfExperiment) seen {
	status := &experiment.Status
	shown := seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfExperiment"},
		Metadata: metadataOf(experiment),
		Spec:     map[string]any{"suspend": experiment.Spec.Suspend},
	}
	if status.Phase == "" {
		return shown
	}
	shown.Status = &seenStatus{
		ObservedGeneration: status.ObservedGeneration, Phase: string(status.Phase),
		Progress: status.Progress, WaitingFor: status.WaitingFor, Conditions: kstatusOf(status.Conditions),
	}
	for _, arm := range status.Arms {
		shown.Status.Arms = append(shown.Status.Arms, seenArm{Name: arm.Name, Verdicts: arm.Verdicts})
	}
	return shown
}

func healthOfRun(run *v1alpha1.PerfRun) seen {
	return seen{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfRun"},
		Metadata: metadataOf(run),
		Status: &seenStatus{
			ObservedGeneration: run.Status.ObservedGeneration, Phase: string(run.Status.Phase),
			Message: run.Status.Message, Conditions: kstatusOf(run.Status.Conditions),
		},
	}
}

func metadataOf(object metav1.Object) map[string]any {
	shown := map[string]any{"name": object.GetName(), "generation": object.GetGeneration()}
	if object.GetDeletionTimestamp() != nil {
		shown["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	return shown
}

// kstatusOf leaves the conditions that say how the whole object is.
func kstatusOf(conditions []metav1.Condition) []map[string]string {
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
	expect.NoError(l.t, err, "reading what is known (write it with -update)")
	var want, now seen
	for _, one := range []struct {
		content []byte
		into    *seen
	}{{content, &want}, {written, &now}} {
		expect.NoError(l.t, yaml.UnmarshalStrict(one.content, one.into), "reading %s", name)
		one.into.forgetWords()
	}
	if diff := cmp.Diff(want, now); diff != "" {
		l.t.Errorf("%s is no longer what the health checks were tested with; run go test ./controllers -run EachPhase -update, then make test-argocd (-known +now):\n%s", name, diff)
	}
}

// forgetWords leaves that something is said, not how: a sentence may be put
// better without a change of health.
func (s *seen) forgetWords() {
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
