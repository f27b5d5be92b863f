// SPDX-License-Identifier: Apache-2.0

// Package contents says what of an experiment and its runs is kept in an archive, and
// puts an experiment together again from what is there. What an item holds is a YAML
// document as perflab export writes it, so that nothing but an archive's objects is
// needed to report on them.
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

// ErrNotOver says that something goes on, and can't be kept yet.
var ErrNotOver = errors.New("it is not over yet")

const mediaType = "application/yaml"

// Run is the record of a run that is over: the run itself, and the ConfigMaps of its raw
// results. It fails with ErrNotOver. That its conditions changed when it finished is all that is
// kept of when they did: so the record is the same whenever it is made, before the run's status is
// written and ever after, and is kept once.
func Run(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun, raw []corev1.ConfigMap) (archive.Record, error) {
	finish := run.Status.Timings.Finish
	if finish == nil || !run.Status.Phase.IsFinal() {
		return archive.Record{}, fmt.Errorf("run %q: %w", run.Name, ErrNotOver)
	}
	ended := run.DeepCopy()
	for i := range ended.Status.Conditions {
		ended.Status.Conditions[i].LastTransitionTime = *finish
	}
	documents, err := report.RunDocuments(ended, raw)
	return archive.Record{Identity: IdentityOfRun(experiment, run), At: finish.Time, Items: itemsOf(documents)}, err
}

// IdentityOfRun is what a run is called in an archive.
func IdentityOfRun(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) archive.Identity {
	identity := IdentityOf(experiment)
	identity.Run, identity.RunUID, identity.Attempt = run.Name, string(run.UID), run.Spec.Attempt
	return identity
}

// IdentityOf is what an experiment is called in an archive.
func IdentityOf(experiment *v1alpha1.PerfExperiment) archive.Identity {
	return archive.Identity{Namespace: experiment.Namespace, Experiment: experiment.Name, ExperimentUID: string(experiment.UID)}
}

// Experiment is the record of an experiment that has ended: the experiment, the digests
// of what was recorded, what its notes are kept in, its stored report, its plan, and what a
// history needs of its runs. It rests on the records of its runs.
func Experiment(recorded report.Input, stored *corev1.ConfigMap, runs []archive.Reference) (archive.Record, error) {
	at := endOf(&recorded)
	if at.IsZero() {
		return archive.Record{}, fmt.Errorf("experiment %q: %w", recorded.Experiment.Name, ErrNotOver)
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
	record := archive.Record{Identity: IdentityOf(&recorded.Experiment), At: at, Items: itemsOf(documents), Runs: runs}
	if err := keepPlan(&record, &recorded.Experiment); err != nil {
		return record, err
	}
	return record, place(&record, &recorded.Experiment, recorded.Runs)
}

// endOf an experiment is its completion or, of one that stalled, the end of its last run.
func endOf(recorded *report.Input) time.Time {
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

// Read puts an experiment together again: its own record, and those of its runs.
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
