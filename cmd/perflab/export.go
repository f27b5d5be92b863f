// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/runfilter"
)

var errRunsDeleted = errors.New("the runs were deleted")

func newExport() *cobra.Command {
	var from *cluster
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Export the results of an experiment",
		Long: `Write an experiment, its runs, their raw results, all digests, and its notes as one
YAML stream. perflab report -f and perflab verify read it without a cluster; perflab
import records it in another cluster.

You need the rights to read PerfExperiments, PerfRuns and ConfigMaps in the namespace.

Exit codes: 0 success, 1 failure.`,
		Example: `  perflab export maxram-vs-xmx -n lab > maxram-vs-xmx.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(command *cobra.Command, arguments []string) error { return export(command, from, arguments[0]) },
	}
	from = newCluster(command.Flags())
	command.ValidArgsFunction = completeExperiment(from)
	return command
}

func export(command *cobra.Command, from *cluster, name string) error {
	recorded, err := from.fetch(command.Context(), name)
	if err != nil {
		return err
	}
	out := newSink(command)
	return out.finish("the recorded objects", report.Write(out, recorded))
}

// fetch reads an experiment with all its records from the cluster.
func (c *cluster) fetch(ctx context.Context, name string) (report.Input, error) {
	namespace, err := c.namespace()
	if err != nil {
		return report.Input{}, err
	}
	reader, err := c.client()
	if err != nil {
		return report.Input{}, err
	}
	recorded, err := fetch(ctx, reader, namespace, name)
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
	if err := fetchKept(ctx, reader, &recorded); err != nil {
		return report.Input{}, err
	}
	recorded.Notes, err = kube.Notes(ctx, reader, &recorded.Experiment)
	return recorded, err
}

// fetchKept reads the manifest of digests and the stored history of an experiment.
func fetchKept(ctx context.Context, reader client.Reader, recorded *report.Input) (err error) {
	if recorded.Manifest, err = readEvidence(ctx, reader, &recorded.Experiment); err != nil {
		return err
	}
	recorded.History, err = configMap(ctx, reader, recorded.Experiment.Namespace, naming.History(recorded.Experiment.Name))
	return err
}

// fetch reads an experiment and its runs, without their raw results. Runs that
// only have its name are excluded.
func fetch(ctx context.Context, reader client.Reader, namespace, name string) (report.Input, error) {
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
			errRunsDeleted, name, gone.Runs.UTC().Format(time.DateOnly), naming.Report(name), namespace)
	}
	own := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelExperiment: name}}
	runs := &v1alpha1.PerfRunList{}
	if err := reader.List(ctx, runs, own...); err != nil {
		return report.Input{}, fmt.Errorf("listing the runs of experiment %q: %w", name, err)
	}
	recorded.Runs, _ = runfilter.Following(&recorded.Experiment, runfilter.Recorded(&recorded.Experiment), runs.Items)
	return recorded, nil
}
