// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

var errNoRun = errors.New("no run yet")

type logsOptions struct {
	cluster *cluster.Cluster
	raw     bool
}

// NewLogs returns the command logs.
func NewLogs() *cobra.Command {
	options := logsOptions{}
	command := &cobra.Command{
		Use:   "logs EXPERIMENT|RUN",
		Short: "Show the logs of an experiment or a run",
		Long: `Show the logs of the k6 runners of an experiment, or of one of its runs. The pods of
valid runs are deleted with their TestRuns; those of the current run and of invalid
runs exist until something else deletes them. Without pods, the run's record is shown:
why the run is invalid, the outcome of each load, its last log lines, what was
measured until then, and the run's conditions. Lines that carry results are hidden
unless --raw is set.`,
		Example: `  kubectl perflab logs pubsub-partitions
  kubectl perflab logs pubsub-partitions-3-two-cico-1f2e3d --raw`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), command.OutOrStdout(), arguments[0])
		},
	}
	options.cluster = cluster.New(command.Flags())
	command.ValidArgsFunction = cluster.CompleteExperiment(options.cluster)
	command.Flags().BoolVar(&options.raw, "raw", false, "also show the lines that carry results")
	return command
}

func (o logsOptions) run(ctx context.Context, out io.Writer, name string) error {
	reader, namespace, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	pods, err := listLoadPods(ctx, reader, namespace, name)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return showRecords(ctx, reader, out, namespace, name)
	}
	config, err := o.cluster.Config()
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	for _, pod := range pods {
		log, err := clientset.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).Stream(ctx)
		if err != nil {
			_, _ = fmt.Fprintf(out, "%s: no log: %s\n", pod.Name, prose.Printable(err.Error()))
			continue
		}
		err = o.copy(out, log, pod.Name)
		if err := errors.Join(err, log.Close()); err != nil {
			return fmt.Errorf("showing the log of %q: %w", pod.Name, err)
		}
	}
	return nil
}

// listLoadPods returns the pods of an experiment's or a run's loads.
func listLoadPods(ctx context.Context, reader client.Reader, namespace, name string) ([]corev1.Pod, error) {
	for _, label := range []string{v1alpha1.LabelExperiment, v1alpha1.LabelRun} {
		var pods corev1.PodList
		err := reader.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{label: name}, client.HasLabels{v1alpha1.LabelLoad})
		if err != nil {
			return nil, fmt.Errorf("listing pods: %w", err)
		}
		if len(pods.Items) > 0 {
			slices.SortFunc(pods.Items, func(a, b corev1.Pod) int {
				return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
			})
			return pods.Items, nil
		}
	}
	return nil, nil
}

func (o logsOptions) copy(out io.Writer, log io.Reader, pod string) error {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if line != "" && (o.raw || !payload.IsResults(line) && !payload.IsLog(line)) {
			if _, err := fmt.Fprintf(out, "%s: %s\n", pod, prose.Printable(strings.TrimRight(line, "\r\n"))); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
