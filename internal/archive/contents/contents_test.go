// SPDX-License-Identifier: Apache-2.0

package contents_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/expect"
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

// Reading an archive returns what perflab export would have written.
func TestReadReturnsStoredExperiment(t *testing.T) {
	input, kept := experiment(), archives.New(t)
	var references []archive.Reference
	for i := range input.Runs {
		record, err := contents.RunRecord(&input.Experiment, &input.Runs[i], rawOf(input, &input.Runs[i]))
		expect.NoError(t, err)
		reference, err := kept.Keep(t.Context(), record)
		expect.NoError(t, err)
		references = append(references, reference)
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: naming.Report(input.Experiment.Name), Namespace: input.Experiment.Namespace}}
	record, err := contents.ExperimentRecord(input, stored, references)
	expect.NoError(t, err)
	reference, err := kept.Keep(t.Context(), record)
	expect.NoError(t, err)
	again, err := contents.Read(t.Context(), kept, reference)
	expect.NoError(t, err)
	if diff := cmp.Diff(exported(t, input), exported(t, again)); diff != "" {
		t.Errorf("what was kept and what is read (-kept +read):\n%s", diff)
	}
}

// The stored plan is the one that the runs of real experiments followed.
func TestExperimentRecordHasPlan(t *testing.T) {
	examples, err := filepath.Glob("../../../docs/examples/*.yaml.gz")
	if err != nil || len(examples) == 0 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, example := range examples {
		t.Run(filepath.Base(example), func(t *testing.T) {
			t.Parallel()
			input := read(t, example)
			record, err := contents.ExperimentRecord(input, nil, nil)
			expect.NoError(t, err)
			kept := planOf(t, record)
			status := &input.Experiment.Status
			if kept.Hash != status.PlanHash || kept.Seed != *status.Seed || len(kept.Runs) != int(status.Runs.Planned) {
				t.Errorf("plan %s of seed %d has %d runs, want %s, %d, %d", kept.Hash, kept.Seed, len(kept.Runs), status.PlanHash, *status.Seed, status.Runs.Planned)
			}
			for i := range input.Runs {
				did := &input.Runs[i].Spec
				if was := kept.Runs[did.Position-1]; was != (placed{did.Position, did.Block, did.Arm, did.Scenario.Name}) {
					t.Errorf("run %s did block %d, arm %s, scenario %s, where the plan has %+v", input.Runs[i].Name, did.Block, did.Arm, did.Scenario.Name, was)
				}
			}
		})
	}
}

type placed struct {
	Position, Block int32
	Arm, Scenario   string
}

type order struct {
	Hash string
	Seed int64
	Runs []placed
}

func planOf(t *testing.T, record archive.Record) (plan order) {
	t.Helper()
	at := slices.IndexFunc(record.Items, func(item archive.Item) bool { return item.Kind == "Plan" })
	if at < 0 {
		t.Fatal("there is no plan")
	}
	expect.NoError(t, json.Unmarshal(record.Items[at].Bytes, &plan))
	return plan
}

func read(t *testing.T, name string) report.Input {
	t.Helper()
	file, err := os.Open(name)
	expect.NoError(t, err)
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	expect.NoError(t, err)
	var reader report.Reader
	expect.NoError(t, reader.Add(unzipped))
	inputs, err := reader.Inputs()
	expect.NoError(t, err)
	return inputs[0]
}

func exported(t *testing.T, input report.Input) string {
	t.Helper()
	var out bytes.Buffer
	expect.NoError(t, report.Write(&out, input))
	return out.String()
}

func TestRecordsNeedFinishedRuns(t *testing.T) {
	input := experiment()
	run := &input.Runs[0]
	run.Status.Timings.Finish = nil
	if _, err := contents.RunRecord(&input.Experiment, run, nil); !errors.Is(err, contents.ErrNotFinished) {
		t.Errorf("a run that has not finished: %v", err)
	}
	input.Experiment.Status.CompletionTime, input.Runs = nil, nil
	if _, err := contents.ExperimentRecord(input, nil, nil); !errors.Is(err, contents.ErrNotFinished) {
		t.Errorf("an experiment that has not ended: %v", err)
	}
}
