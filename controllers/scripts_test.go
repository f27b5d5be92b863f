// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

const searching = "export const options = {vus: 2};\nexport default function () {}\n"

// scripts is the ConfigMap of withScript's load.
func scripts(files ...string) *corev1.ConfigMap {
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "script"}, Data: map[string]string{}}
	for i := 0; i < len(files); i += 2 {
		made.Data[files[i]] = files[i+1]
	}
	return made
}

func searchScript() *corev1.ConfigMap {
	return scripts("test.js", searching, "lib.js", "export const one = 1;")
}

// withScript makes the first load a user's script.
func withScript(e *v1alpha1.PerfExperiment) {
	first := &e.Spec.Scenarios[0].Loads[0]
	first.CheckInCheckOut, first.Duration = nil, nil
	first.Script = &v1alpha1.Script{ConfigMap: &v1alpha1.ConfigMapKey{Name: "script", Key: "test.js"}}
}

// rewrite replaces a file of the scripts.
func (l *lab) rewrite(name, text string) {
	l.t.Helper()
	found := l.configMap("script")
	found.Data[name] = text
	expect.NoError(l.t, l.admin.Update(l.t.Context(), found))
}

// untilScripts waits until the experiment reports the problem with its scripts.
func (l *lab) untilScripts(reason string) string {
	l.t.Helper()
	var reported *metav1.Condition
	l.until("ScriptsAvailable: "+reason, func() bool {
		reported = meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionScriptsAvailable)
		return reported != nil && reported.Reason == reason
	})
	return reported.Message
}

func TestMissingScriptIsReportedFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		there   *corev1.ConfigMap
		message []string
		mend    func(*lab)
	}{
		"no ConfigMap": {
			message: []string{`ConfigMap "script" with the script of load "cico" not found`, "create it in namespace"},
			mend:    func(l *lab) { l.create(searchScript()) },
		},
		"no such key": {
			there:   scripts("main.js", searching),
			message: []string{`ConfigMap "script" has no key "test.js", which load "cico" refers to: it has main.js`},
			mend:    func(l *lab) { l.rewrite("test.js", searching) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			if tc.there != nil {
				l.create(tc.there)
			}
			l.create(login(), smallExperiment(t, oneArm, withScript))
			begun := l.now
			message := l.untilScripts(v1alpha1.ReasonConfiguration)
			expect.Contains(t, message, tc.message)
			if waited := l.now.Sub(begun); waited > 10*time.Second {
				t.Errorf("it was reported after %s", waited)
			}
			if built := len(l.foreign(contract.PostgresClusterKind)) + len(l.foreign(contract.KafkaKind("v1"))); built > 0 {
				t.Error("something was built already")
			}
			tc.mend(l)
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

func TestScriptIsRecorded(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), searchScript(), smallExperiment(t, oneArm, withScript))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	script := l.run().Status.Loads[0].Script
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(searching))); script == nil || script.SHA256 != want || len(script.Files) != 1 || script.Files[0].Name != "lib.js" {
		t.Fatalf("the status has %+v for the script, want digest %s and that of lib.js", script, want)
	}
	kept := l.configMap(script.Record)
	if kept.Data["cico.test.js"] != searching || kept.Data["cico.lib.js"] == "" || kept.Labels[v1alpha1.LabelRun] != l.run().Name {
		t.Errorf("%+v are stored, want both files, with the run's label", kept.Data)
	}
}

func TestEditedScriptStalls(t *testing.T) {
	for name, file := range map[string]string{"the script": "test.js", "what it imports": "lib.js"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), searchScript(), smallExperiment(t, withScript))
			first := l.untilRun(v1alpha1.RunSucceeded)
			l.rewrite(file, "export default function () { /* quite another */ }\n")
			message := l.untilScripts(v1alpha1.ReasonScriptChanged)
			expect.Contains(t, message, []string{`load "cico"`, first.Name, file + " has sha256 ", "restore the ConfigMap", first.Name + "-scripts", "a separate experiment"})
			if testRuns := l.foreign(contract.TestRunKind); len(testRuns) > 0 {
				t.Errorf("%d loads are on", len(testRuns))
			}
			l.rewrite(file, searchScript().Data[file])
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

func TestScriptWithoutValidRunsCanBeFixed(t *testing.T) {
	l := newLab(t, complete)
	l.outside.exit["cico"] = 107
	l.create(login(), searchScript(), smallExperiment(t, oneArm, withScript))
	l.untilRun(v1alpha1.RunInvalid)
	l.rewrite("test.js", "export default function () { /* fixed */ }\n")
	delete(l.outside.exit, "cico")
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if done.Status.Runs.Invalid == 0 {
		t.Error("no run was invalid")
	}
}

// A script can be fixed without a change of the experiment.
func TestInvalidScriptCreatesNoRun(t *testing.T) {
	l := newLab(t, complete)
	broken := scripts("test.js", "export const options = {scenarios: {a: {executor: 'constant-users', vus: 2, duration: '5m'}}};\nexport default function () {}\n")
	l.create(login(), broken, smallExperiment(t, oneArm, withScript))
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec,
		`spec.scenarios[0].loads[0].script.configMap.key: k6 does not run the script: options.scenarios.a.executor is "constant-users": write one that k6 2.2 supports`)

	broken.Data["test.js"] = searching
	if err := l.admin.Update(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}
