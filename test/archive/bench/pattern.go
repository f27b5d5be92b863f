// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/naming"
)

// pattern is the record of a run with placeholders where the runs of an experiment differ.
// Writing half a million runs as YAML takes an hour; replacing placeholders takes minutes.
type pattern struct {
	experiment *v1alpha1.PerfExperiment
	record     archive.Record
	marked     *v1alpha1.PerfRun
}

const (
	markedBlock    = 7_000_001
	markedPosition = 7_000_002
)

func markedTime(second int) metav1.Time {
	return metav1.NewTime(time.Date(2001, time.January, 1, 0, 0, second, 0, time.UTC))
}

// newPattern builds the pattern of an experiment from one of its runs.
func newPattern(experiment *v1alpha1.PerfExperiment, like *v1alpha1.PerfRun) (*pattern, error) {
	run := like.DeepCopy()
	run.Name, run.UID, run.Spec.Arm, run.Spec.Scenario.Name = "marked-name", "marked-uid", "marked-arm", "marked-scenario"
	run.Spec.Block, run.Spec.Position = markedBlock, markedPosition
	run.Labels = naming.RunLabels(run)
	start, finish := markedTime(1), markedTime(2)
	run.Status.Timings.LoadStart, run.Status.Timings.LoadFinish, run.Status.Timings.Finish = &start, &finish, &finish
	for i := range run.Status.Observations {
		run.Status.Observations[i].Value = markedValue(i)
	}
	record, err := contents.RunRecord(experiment, run, nil)
	return &pattern{experiment, record, run}, err
}

func markedValue(nth int) string { return fmt.Sprintf("7%06d.5", nth) }

// newRecord returns the record of a run, as contents.RunRecord builds it.
func (p *pattern) newRecord(run *v1alpha1.PerfRun) archive.Record {
	pairs := []string{
		"marked-name", run.Name, "marked-uid", string(run.UID), "marked-arm", run.Spec.Arm, "marked-scenario", run.Spec.Scenario.Name,
		strconv.Itoa(markedBlock), fmt.Sprint(run.Spec.Block), strconv.Itoa(markedPosition), fmt.Sprint(run.Spec.Position),
		markedTime(1).Format(time.RFC3339), run.Status.Timings.LoadStart.UTC().Format(time.RFC3339),
		markedTime(2).Format(time.RFC3339), run.Status.Timings.Finish.UTC().Format(time.RFC3339),
	}
	for i := range run.Status.Observations {
		pairs = append(pairs, strconv.Quote(markedValue(i)), strconv.Quote(run.Status.Observations[i].Value))
	}
	marks := strings.NewReplacer(pairs...)
	record := archive.Record{Identity: contents.RunIdentity(p.experiment, run), At: run.Status.Timings.Finish.Time}
	for _, item := range p.record.Items {
		item.Name, item.Bytes = marks.Replace(item.Name), []byte(marks.Replace(string(item.Bytes)))
		record.Items = append(record.Items, item)
	}
	return record
}
