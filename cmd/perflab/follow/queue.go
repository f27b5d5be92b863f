// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/text/prose"
)

type queueOptions struct {
	cluster *cluster.Cluster
	output  *console.Output
	scope   cluster.Scope
}

// NewQueue returns the command queue.
func NewQueue() *cobra.Command {
	options := queueOptions{}
	command := &cobra.Command{
		Use:   "queue",
		Short: "Show the queue of experiments",
		Long: `Show the running and the waiting experiments, for each part of the cluster that they
occupy, and which experiment each one waits for. All namespaces are shown, or the one
of --namespace. -o json and -o yaml write fields for scripts (docs/command-line.md).

Exit codes: 0 success, 1 failure.`,
		Example: `  kubectl perflab queue
  kubectl perflab queue --namespace lab
  kubectl perflab queue -o json | jq -r '.queue[] | select(.state == "Waiting") | .behind'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return options.run(command.Context(), command.OutOrStdout())
		},
	}
	options.cluster = cluster.New(command.Flags())
	options.output = console.AddOutput(command, console.FormatTable, console.FormatJSON, console.FormatYAML)
	options.scope.AddFlags(command.Flags())
	return command
}

func (o queueOptions) run(ctx context.Context, out io.Writer) error {
	if err := o.output.Check(); err != nil {
		return err
	}
	reader, _, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	// The queue spans namespaces.
	experiments, err := cluster.ListExperiments(ctx, reader, o.scope.ListNamespace(*o.cluster.Flags.Namespace))
	if err != nil {
		return err
	}
	queue := queuedExperiments(experiments)
	if !o.output.IsData() {
		return writeQueue(out, queue)
	}
	return o.output.Write(out, struct {
		Queue []QueuedJSON `json:"queue"`
	}{queue})
}

// States of queued experiments.
const (
	stateMeasuring = "Measuring"
	StateWaiting   = "Waiting"
	// stateCleaning: the experiment is complete, and its environment is being
	// deleted.
	stateCleaning = "Cleaning"
)

// QueuedJSON is the JSON form of a queued experiment.
type QueuedJSON struct {
	// Lane is the part of the cluster that it occupies.
	Lane string `json:"lane"`
	// Position in the queue; 0: the experiment measures.
	Position  int32  `json:"position"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state"`
	// Behind is the experiment before it, as NAMESPACE/NAME.
	Behind     string               `json:"behind"`
	Progress   string               `json:"progress"`
	WaitingFor string               `json:"waitingFor"`
	Current    *v1alpha1.CurrentRun `json:"current"`
}

// queuedExperiments returns the queued experiments, by lane and position.
func queuedExperiments(experiments []v1alpha1.PerfExperiment) []QueuedJSON {
	queue := []QueuedJSON{}
	for i := range experiments {
		status := &experiments[i].Status
		if status.Lane == nil {
			continue
		}
		queue = append(queue, QueuedJSON{
			Lane: status.Lane.Name, Position: status.Lane.Position, Namespace: experiments[i].Namespace, Name: experiments[i].Name,
			State: laneState(status), Behind: status.Lane.Behind, Progress: status.Progress, WaitingFor: status.WaitingFor, Current: status.Current,
		})
	}
	slices.SortFunc(queue, func(a, b QueuedJSON) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Position, b.Position),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return queue
}

func laneState(status *v1alpha1.PerfExperimentStatus) string {
	switch {
	case status.Lane.Position > 0:
		return StateWaiting
	case status.Phase == v1alpha1.ExperimentComplete:
		return stateCleaning
	default:
		return stateMeasuring
	}
}

func writeQueue(out io.Writer, queue []QueuedJSON) error {
	p := console.NewPage(out)
	if len(queue) == 0 {
		p.Line("No experiments are running or queued.")
		return p.Err
	}
	rows := [][]string{{"LANE", "POSITION", "EXPERIMENT", "RUNS", "MESSAGE"}}
	for _, queued := range queue {
		rows = append(rows, []string{queued.Lane, queued.position(), queued.Namespace + "/" + queued.Name, queued.Progress, queued.message()})
	}
	p.Table(rows)
	return p.Err
}

func (q QueuedJSON) position() string {
	switch q.State {
	case StateWaiting:
		return prose.Ordinal(q.Position)
	case stateCleaning:
		return "cleaning up"
	default:
		return "measuring"
	}
}

// message is what a measuring experiment does, or which experiment a waiting one is
// behind.
func (q QueuedJSON) message() string {
	switch {
	case q.State == StateWaiting:
		return "behind " + q.Behind
	case q.Current != nil:
		return fmt.Sprintf("%s %s", q.Current.Run, q.Current.Phase)
	case q.State == stateCleaning && q.WaitingFor != "":
		return q.WaitingFor
	default:
		return ""
	}
}
