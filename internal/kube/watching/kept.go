// SPDX-License-Identifier: Apache-2.0

package watching

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/view"
)

// ReportInput reads the raw results of the runs, one run after the other, the manifest of their
// digests, the history and the notes. Without permission to read ConfigMaps the result is
// empty.
func (e *Experiment) ReportInput(ctx context.Context, of view.Snapshot) (view.ReportInput, error) {
	// With a non-nil map the report does not unpack raw results.
	kept := view.ReportInput{Traces: map[string]*report.Trace{}}
	for i := range of.Runs {
		run := &of.Runs[i]
		if known := e.trace(run.Name); known != nil {
			kept.Traces[run.Name] = known
			continue
		}
		raw, err := kube.RawResults(ctx, e.client, run)
		if apierrors.IsForbidden(err) {
			return view.ReportInput{}, nil
		}
		if err != nil {
			return view.ReportInput{}, err
		}
		if len(raw) == 0 {
			continue
		}
		if kept.Traces[run.Name], err = report.TraceOf(run, raw...); err != nil {
			return view.ReportInput{}, err
		}
		if run.Status.Phase.IsFinal() {
			e.remember(run.Name, kept.Traces[run.Name])
		}
	}
	var err error
	if kept.Manifest, err = e.beside(ctx, naming.Evidence(of.Experiment.Name)); err != nil {
		return kept, err
	}
	if kept.History, err = e.beside(ctx, naming.History(of.Experiment.Name)); err != nil {
		return kept, err
	}
	kept.Notes, err = kube.Notes(ctx, e.client, of.Experiment)
	return kept, err
}

// trace returns the trace of a run whose raw results were read before: they never change.
func (e *Experiment) trace(run string) *report.Trace {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.traces[run]
}

func (e *Experiment) remember(run string, trace *report.Trace) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.traces[run] = trace
}

// beside reads a ConfigMap that the operator keeps for the experiment; nil if it does not
// exist or is forbidden.
func (e *Experiment) beside(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := e.client.Get(ctx, client.ObjectKey{Namespace: e.key.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil //nolint:nilnil // A missing ConfigMap is no error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %q: %w", name, err)
	}
	return found, nil
}
