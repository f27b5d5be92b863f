// SPDX-License-Identifier: Apache-2.0

package archived_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archived"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/recorded"
)

func experiment() report.Input {
	input := recorded.Experiment(7)
	input.Experiment.UID = "6f0f6c1e-0000-4000-8000-000000000001"
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Timings.Finish == nil {
			run.Status.Timings.Finish = &metav1.Time{Time: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
		}
		run.UID = "run"
		for at := range run.Status.Conditions {
			run.Status.Conditions[at].LastTransitionTime = *run.Status.Timings.Finish
		}
	}
	return input
}

func rawOf(input report.Input, run *v1alpha1.PerfRun) []corev1.ConfigMap {
	var own []corev1.ConfigMap
	for _, raw := range input.Raw {
		for _, name := range naming.RawNames(run) {
			if raw.Name == name {
				own = append(own, raw)
			}
		}
	}
	return own
}

// What comes back from an archive is what perflab export would have written.
func TestWhatIsReadIsWhatWasKept(t *testing.T) {
	input, kept := experiment(), archives.New(t)
	var references []archive.Reference
	for i := range input.Runs {
		record, err := archived.Run(&input.Experiment, &input.Runs[i], rawOf(input, &input.Runs[i]))
		if err != nil {
			t.Fatal(err)
		}
		reference, err := kept.Keep(t.Context(), record)
		if err != nil {
			t.Fatal(err)
		}
		references = append(references, reference)
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: naming.Report(input.Experiment.Name), Namespace: input.Experiment.Namespace}}
	record, err := archived.Experiment(input, stored, references)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := kept.Keep(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	again, err := archived.Read(t.Context(), kept, reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exported(t, input), exported(t, again)); diff != "" {
		t.Errorf("what was kept and what is read (-kept +read):\n%s", diff)
	}
}

func exported(t *testing.T, input report.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, input); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhatIsNotOverIsNotKept(t *testing.T) {
	input := experiment()
	run := &input.Runs[0]
	run.Status.Timings.Finish = nil
	if _, err := archived.Run(&input.Experiment, run, nil); !errors.Is(err, archived.ErrNotOver) {
		t.Errorf("a run that has not finished: %v", err)
	}
	input.Experiment.Status.CompletionTime, input.Runs = nil, nil
	if _, err := archived.Experiment(input, nil, nil); !errors.Is(err, archived.ErrNotOver) {
		t.Errorf("an experiment that has not ended: %v", err)
	}
}
