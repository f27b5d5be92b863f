// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/prose"
)

func newQueue() *cobra.Command {
	var chosen *cluster
	command := &cobra.Command{
		Use:   "queue",
		Short: "Show who measures, and who waits for a turn",
		Long: `Show which experiments measure, which wait for their turn, and behind whom, for each
part of the cluster that they take up. Of all namespaces; with --namespace, of one.

Exit codes: 0 shown, 1 it could not be shown.`,
		Example: `  kubectl perflab queue
  kubectl perflab queue --namespace lab`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return showQueue(command.Context(), chosen, command.OutOrStdout())
		},
	}
	chosen = newCluster(command.Flags())
	return command
}

func showQueue(ctx context.Context, chosen *cluster, out io.Writer) error {
	reader, _, err := chosen.reader()
	if err != nil {
		return err
	}
	experiments, err := listForQueue(ctx, reader, *chosen.flags.Namespace)
	if err != nil {
		return err
	}
	return writeQueue(out, experiments)
}

// listForQueue lists the experiments of a namespace; empty: of all.
func listForQueue(ctx context.Context, reader client.Reader, namespace string) ([]v1alpha1.PerfExperiment, error) {
	experiments := &v1alpha1.PerfExperimentList{}
	err := reader.List(ctx, experiments, client.InNamespace(namespace))
	switch {
	case isUnserved(err):
		return nil, fmt.Errorf("%w: kubectl perflab doctor says what to do", errNotInstalled)
	case apierrors.IsForbidden(err) && namespace == "":
		return nil, fmt.Errorf("you may not list the experiments of all namespaces: name one that you may, with --namespace: %w", err)
	case err != nil:
		return nil, fmt.Errorf("listing the experiments: %w", err)
	}
	return experiments.Items, nil
}

// writeQueue writes those in line, for each part of the cluster in the order of their
// turns.
func writeQueue(out io.Writer, experiments []v1alpha1.PerfExperiment) error {
	inLine := slices.DeleteFunc(experiments, func(e v1alpha1.PerfExperiment) bool { return e.Status.Lane == nil })
	p := pageTo(out)
	if len(inLine) == 0 {
		p.line("Nobody measures, and nobody waits for a turn.")
		return p.err
	}
	slices.SortFunc(inLine, func(a, b v1alpha1.PerfExperiment) int {
		one, other := a.Status.Lane, b.Status.Lane
		return cmp.Or(cmp.Compare(one.Name, other.Name), cmp.Compare(one.Position, other.Position),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"TAKES UP", "PLACE", "EXPERIMENT", "RUNS", "NOW"}}
	for i := range inLine {
		status := &inLine[i].Status
		rows = append(rows, []string{status.Lane.Name, placeOf(status), inLine[i].Namespace + "/" + inLine[i].Name, status.Progress, busyWith(status)})
	}
	p.table(rows)
	return p.err
}

func placeOf(status *v1alpha1.PerfExperimentStatus) string {
	switch {
	case status.Lane.Position > 0:
		return prose.Ordinal(status.Lane.Position)
	case status.Phase == v1alpha1.ExperimentComplete:
		return "clears up"
	default:
		return "measures"
	}
}

// busyWith is what an experiment that has its turn is at, and behind whom another waits.
func busyWith(status *v1alpha1.PerfExperimentStatus) string {
	if status.Lane.Position > 0 {
		return "behind " + status.Lane.Behind
	}
	if current := status.Current; current != nil {
		return fmt.Sprintf("%s %s", current.Run, current.Phase)
	}
	if status.Phase == v1alpha1.ExperimentComplete && status.WaitingFor != "" {
		return "waits for " + status.WaitingFor
	}
	return ""
}
