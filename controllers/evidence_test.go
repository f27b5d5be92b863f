// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/expect"
)

// findEvidence returns the digest chain of an experiment.
func (l *lab) findEvidence(name string) evidence.Input {
	l.t.Helper()
	experiment := l.experiment(name)
	found := evidence.Input{Experiment: experiment, Contents: map[string]string{}}
	maps := &corev1.ConfigMapList{}
	expect.NoError(l.t, l.admin.List(l.t.Context(), maps, client.InNamespace(l.namespace)))
	for i := range maps.Items {
		sum, err := evidence.ContentDigest(&maps.Items[i])
		expect.NoError(l.t, err)
		found.Contents[maps.Items[i].Name] = sum
		if maps.Items[i].Name == naming.Evidence(name) {
			found.Manifest = maps.Items[i].Data[evidence.Key]
		}
	}
	found.Runs = l.runs()
	found.History = found.Contents[naming.History(name)]
	found.Report = ptr.To(found.Contents[naming.Report(name)])
	return found
}

// verifyChain verifies the chain and fails the test if that fails.
func (l *lab) verifyChain(name string) *evidence.Result {
	l.t.Helper()
	result, err := evidence.Verify(l.findEvidence(name))
	expect.NoError(l.t, err)
	for _, broken := range result.Broken {
		l.t.Errorf("the chain does not hold: %s", broken)
	}
	return result
}

func TestExperimentHasDigestChain(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, importUnderUsers))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	result := l.verifyChain("small")
	if !result.Stage.Ended || result.Followed[evidence.KindRecord] != 2 || result.Followed[evidence.KindRawResults] != 2 || result.Followed[evidence.KindHistory] != 1 || result.Followed[evidence.KindReport] != 1 || len(result.Notes) != 0 {
		t.Errorf("it is at %+v, followed are %v, it notes %q", result.Stage, result.Followed, result.Notes)
	}
	for _, run := range l.runs() {
		if kept := run.Status.Evidence; len(kept.Payloads) != 2 || len(kept.Payloads[0].SHA256) != 64 {
			t.Errorf("run %s has the payloads %+v", run.Name, kept.Payloads)
		}
		if met := run.Status.Evidence.Versions; met.PerfLab != "v0.4.0" || met.Kubernetes != "v1.36.1" || met.K6Operator != "" {
			t.Errorf("run %s met %+v", run.Name, met)
		}
	}
	if page := l.stored().Data["report.md"]; !strings.Contains(page, "| SHA-256 of the manifest of digests | "+result.SHA256+" |") {
		t.Errorf("the report does not print %s", result.SHA256)
	}
	if reported := strings.Join(l.events.reported, "\n"); strings.Count(reported, result.SHA256) != 1 {
		t.Errorf("events have the digest %d times, want once:\n%s", strings.Count(reported, result.SHA256), reported)
	}
}

// A change of a run between two blocks is found after the second.
func TestLaterBlockDoesNotHideChange(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(2)))
	forged := ""
	l.eachRound = func() {
		if experiment := l.experiment("small"); forged != "" || experiment.Status.Evidence == nil {
			return
		}
		run := l.runs()[0]
		run.Status.Warnings = append(run.Status.Warnings, "nothing to see here")
		expect.NoError(t, l.admin.Status().Update(t.Context(), &run))
		forged = run.Name
	}
	l.conduct("small", outcomes{spread: 0.01})
	result, err := evidence.Verify(l.findEvidence("small"))
	if err != nil || len(result.Broken) != 1 || result.Broken[0].Link != evidence.KindRecord || !strings.Contains(result.Broken[0].Object, forged) {
		t.Errorf("%v: broken are %v, want the record of %q", err, result, forged)
	}
}

// Anyone who can write ConfigMaps can replace a report, with its digest: the status has the digest of
// the operator's report, and the chain shows the difference.
func TestForgedReportFailsVerification(t *testing.T) {
	for name, forge := range map[string]func(*testing.T, *corev1.ConfigMap){
		"with its digest": func(t *testing.T, stored *corev1.ConfigMap) {
			t.Helper()
			manifest, _, _ := strings.Cut(stored.Annotations[v1alpha1.AnnotationEvidence], " ")
			sum, err := evidence.ContentDigest(stored)
			expect.NoError(t, err)
			stored.Annotations[v1alpha1.AnnotationEvidence] = manifest + " " + sum
		},
		"without one": func(_ *testing.T, stored *corev1.ConfigMap) { delete(stored.Annotations, v1alpha1.AnnotationEvidence) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.settle()
			stored := l.stored()
			stored.Data["report.md"] = "nothing to see here"
			forge(t, stored)
			expect.NoError(t, l.admin.Update(t.Context(), stored))
			of := l.experiment("small")
			of.Spec.Suspend = true
			l.update(of)
			l.settle()
			result, err := evidence.Verify(l.findEvidence("small"))
			if err != nil || len(result.Broken) != 1 || result.Broken[0].Link != evidence.KindReport {
				t.Errorf("%v: broken are %v, want the report", err, result)
			}
		})
	}
}

// A user who deletes a finished run gets another attempt, and leaves a trace: in the status, in the
// report, and in the chain if there is no reason.
func TestDeletedRunsAreRecorded(t *testing.T) {
	for name, reason := range map[string]string{"with a reason": "the network was down", "without one": ""} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t))
			run := l.untilRun(v1alpha1.RunSucceeded)
			if reason != "" {
				metav1.SetMetaDataAnnotation(&run.ObjectMeta, v1alpha1.AnnotationDeletionReason, reason)
				expect.NoError(t, l.admin.Update(t.Context(), run))
				l.settle()
			}
			l.remove(run)
			status := l.untilPhase("small", v1alpha1.ExperimentComplete).Status
			expect.Equal(t, []int32{2, 1}, status.Attempts, "attempts")
			page := l.configMap(status.Report).Data["report.md"]
			result, err := evidence.Verify(l.findEvidence("small"))
			expect.NoError(t, err)
			if reason != "" {
				expect.Contains(t, page, []string{"Deleted runs", "| 1 | 1 | " + reason + " |"})
				expect.Equal(t, 0, len(result.Broken), "%v", result.Broken)
				return
			}
			expect.Contains(t, page, []string{"| 1 | 1 | no reason given |", "1 run was deleted without a reason"})
			if len(result.Broken) != 1 || result.Broken[0].Link != evidence.KindAttempts {
				t.Errorf("broken are %v", result.Broken)
			}
		})
	}
}
