// SPDX-License-Identifier: Apache-2.0

// Package contents converts experiments and runs into records of an archive and back. An item
// is a YAML document as perflab export writes it, so the objects of an archive are sufficient
// for reports.
package contents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/report"
)

// ErrNotFinished means that an experiment or a run is not finished.
var ErrNotFinished = errors.New("it is not finished")

const mediaType = "application/yaml"

// RunRecord returns the record of a finished run: the run and the ConfigMaps of its raw
// results. It fails with ErrNotFinished. The times of its conditions are replaced by the time
// it finished, so the record is the same before and after the run's status is written, and is
// stored once.
func RunRecord(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun, raw []corev1.ConfigMap) (archive.Record, error) {
	finish := run.Status.Timings.Finish
	if finish == nil || !run.Status.Phase.IsFinal() {
		return archive.Record{}, fmt.Errorf("run %q: %w", run.Name, ErrNotFinished)
	}
	ended := run.DeepCopy()
	for i := range ended.Status.Conditions {
		ended.Status.Conditions[i].LastTransitionTime = *finish
	}
	documents, err := report.RunDocuments(ended, raw)
	return archive.Record{Identity: RunIdentity(experiment, run), At: finish.Time, Items: itemsOf(documents)}, err
}

// RunIdentity returns the identity of a run.
func RunIdentity(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) archive.Identity {
	identity := ExperimentIdentity(experiment)
	identity.Run, identity.RunUID, identity.Attempt = run.Name, string(run.UID), run.Spec.Attempt
	return identity
}

// ExperimentIdentity returns the identity of an experiment.
func ExperimentIdentity(experiment *v1alpha1.PerfExperiment) archive.Identity {
	return archive.Identity{Namespace: experiment.Namespace, Experiment: experiment.Name, ExperimentUID: string(experiment.UID)}
}

// ExperimentRecord returns the record of a finished experiment: the experiment, its manifest
// of digests, its notes, its stored report, its plan and its measurements for histories. It
// refers to the records of its runs.
func ExperimentRecord(recorded report.Input, stored *corev1.ConfigMap, runs []archive.Reference) (archive.Record, error) {
	at := endTime(&recorded)
	if at.IsZero() {
		return archive.Record{}, fmt.Errorf("experiment %q: %w", recorded.Experiment.Name, ErrNotFinished)
	}
	rest := recorded
	rest.Runs, rest.Raw = nil, nil
	if stored != nil {
		rest.Notes = append(slices.Clone(rest.Notes), *stored)
	}
	documents, err := report.Documents(rest)
	if err != nil {
		return archive.Record{}, err
	}
	record := archive.Record{Identity: ExperimentIdentity(&recorded.Experiment), At: at, Items: itemsOf(documents), Runs: runs}
	if err := addPlan(&record, &recorded.Experiment); err != nil {
		return record, err
	}
	return record, addSeriesEntry(&record, &recorded.Experiment, recorded.Runs)
}

// endTime of an experiment is its completion or, if it stalled, the end of its last run.
func endTime(recorded *report.Input) time.Time {
	if done := recorded.Experiment.Status.CompletionTime; done != nil {
		return done.Time
	}
	var last time.Time
	for i := range recorded.Runs {
		if finish := recorded.Runs[i].Status.Timings.Finish; finish != nil && finish.After(last) {
			last = finish.Time
		}
	}
	return last
}

func itemsOf(documents []report.Document) []archive.Item {
	items := make([]archive.Item, 0, len(documents))
	for _, document := range documents {
		items = append(items, archive.Item{Kind: document.Kind, Name: document.Name, MediaType: mediaType, Bytes: document.Text})
	}
	return items
}

// Read assembles an experiment from its record and those of its runs.
func Read(ctx context.Context, store *archive.Store, experiment archive.Reference) (report.Input, error) {
	var reader report.Reader
	record, err := store.Load(ctx, experiment)
	if err != nil {
		return report.Input{}, err
	}
	if err := add(&reader, record); err != nil {
		return report.Input{}, err
	}
	for _, run := range record.Runs {
		record, err := store.Load(ctx, run)
		if err != nil {
			return report.Input{}, err
		}
		if err := add(&reader, record); err != nil {
			return report.Input{}, err
		}
	}
	inputs, err := reader.Inputs()
	if err != nil {
		return report.Input{}, fmt.Errorf("reading the record %s: %w", experiment, err)
	}
	return inputs[0], nil
}

func add(reader *report.Reader, record archive.Record) error {
	for _, item := range record.Items {
		if item.MediaType != mediaType {
			continue
		}
		if err := reader.Add(bytes.NewReader(item.Bytes)); err != nil {
			return fmt.Errorf("reading the %s %q of the archive: %w", item.Kind, item.Name, err)
		}
	}
	return nil
}
