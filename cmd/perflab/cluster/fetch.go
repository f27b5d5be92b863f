// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// ErrRunsDeleted means that the retention of an experiment has deleted its runs.
var ErrRunsDeleted = errors.New("the runs were deleted")

// Fetch reads an experiment with all its records from the cluster.
func (c *Cluster) Fetch(ctx context.Context, name string) (report.Input, error) {
	namespace, err := c.Namespace()
	if err != nil {
		return report.Input{}, err
	}
	reader, err := c.Client()
	if err != nil {
		return report.Input{}, err
	}
	recorded, err := Fetch(ctx, reader, namespace, name)
	if err != nil {
		return report.Input{}, err
	}
	for i := range recorded.Runs {
		found, err := kube.RawResults(ctx, reader, &recorded.Runs[i])
		if err != nil {
			return report.Input{}, err
		}
		recorded.Raw = append(recorded.Raw, found...)
	}
	if err := FetchKept(ctx, reader, &recorded); err != nil {
		return report.Input{}, err
	}
	recorded.Notes, err = kube.Notes(ctx, reader, &recorded.Experiment)
	return recorded, err
}

// FetchKept reads the manifest of digests and the stored history of an experiment.
func FetchKept(ctx context.Context, reader client.Reader, recorded *report.Input) (err error) {
	if recorded.Manifest, err = readEvidence(ctx, reader, &recorded.Experiment); err != nil {
		return err
	}
	recorded.History, err = ConfigMap(ctx, reader, recorded.Experiment.Namespace, naming.History(recorded.Experiment.Name))
	return err
}

// Fetch reads an experiment and its runs, without their raw results. Runs that
// only have its name are excluded.
func Fetch(ctx context.Context, reader client.Reader, namespace, name string) (report.Input, error) {
	recorded := report.Input{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &recorded.Experiment)
	if apierrors.IsNotFound(err) {
		return report.Input{}, fmt.Errorf("PerfExperiment %q not found in namespace %q: list experiments with kubectl get perfexperiments -A", name, namespace)
	}
	if err != nil {
		return report.Input{}, fmt.Errorf("reading experiment %q: %w", name, err)
	}
	if gone := recorded.Experiment.Status.History; gone != nil && gone.Runs != nil {
		return report.Input{}, fmt.Errorf("%w of experiment %q, on %s, by retention.runs; its stored report remains: kubectl get configmap %s --namespace %s -o jsonpath='{.binaryData.report\\.html\\.gz}' | base64 -d | gunzip > report.html",
			ErrRunsDeleted, name, gone.Runs.UTC().Format(time.DateOnly), naming.Report(name), namespace)
	}
	own := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelExperiment: name}}
	runs := &v1alpha1.PerfRunList{}
	if err := reader.List(ctx, runs, own...); err != nil {
		return report.Input{}, fmt.Errorf("listing the runs of experiment %q: %w", name, err)
	}
	recorded.Runs, _ = runfilter.Following(&recorded.Experiment, runfilter.Recorded(&recorded.Experiment), runs.Items)
	return recorded, nil
}

// ConfigMap reads a ConfigMap; nil: it does not exist.
func ConfigMap(ctx context.Context, reader client.Reader, namespace, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // One that is not there is no error.
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %q: %w", name, err)
	}
	return found, nil
}

// readEvidence reads the manifest of an experiment's digests; nil: none.
func readEvidence(ctx context.Context, reader client.Reader, experiment *v1alpha1.PerfExperiment) (*corev1.ConfigMap, error) {
	return ConfigMap(ctx, reader, experiment.Namespace, naming.Evidence(experiment.Name))
}
