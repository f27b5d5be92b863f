// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view/progress"
)

var errImported = errors.New("it was imported unfinished and does not continue")

type statusOptions struct {
	cluster *cluster.Cluster
	output  *console.Output
	watch   bool
	scope   cluster.Scope
	follow  followOptions
}

// NewStatus returns the command status.
func NewStatus() *cobra.Command {
	options := statusOptions{}
	command := &cobra.Command{
		Use:   "status [EXPERIMENT]",
		Short: "Show the progress of an experiment",
		Long: `Show the progress of an experiment: the finished and the remaining runs, users,
requests and response times of the current run, the remaining time, and results.
Without a name, list the experiments of the namespace, with -A of all namespaces.

-o json and -o yaml write fields for scripts (docs/command-line.md), with --watch after
every change.

Exit codes: 0 success (with --watch: the experiment is complete), 1 failure, 4 the
experiment is stalled, 6 with --fail-on worse: an arm is worse, 9 with --watch:
--timeout expired.`,
		Example: `  kubectl perflab status -A
  kubectl perflab status pubsub-partitions
  kubectl perflab status pubsub-partitions --namespace lab --watch --timeout 4h
  kubectl perflab status pubsub-partitions -o json | jq -r '.comparisons[].verdict'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	options.cluster = cluster.New(command.Flags())
	options.output = console.AddOutput(command, console.FormatText, console.FormatJSON, console.FormatYAML)
	options.scope.AddFlags(command.Flags())
	command.ValidArgsFunction = cluster.CompleteExperiment(options.cluster)
	command.Flags().BoolVarP(&options.watch, "watch", "w", false, "watch until the experiment is complete or stalled")
	options.follow.addFlags(command.Flags())
	return command
}

func (o statusOptions) check(named bool) error {
	switch {
	case named && o.scope.AllNamespaces:
		return fmt.Errorf("%w: a name belongs to one namespace: remove -A, or set the namespace with -n", exit.ErrOption)
	case !named && (o.watch || o.follow.failOn != ""):
		return fmt.Errorf("%w: --watch and --fail-on require the name of an experiment", exit.ErrOption)
	}
	if err := o.output.Check(); err != nil {
		return err
	}
	return o.follow.check()
}

func (o statusOptions) run(command *cobra.Command, names []string) error {
	if err := o.check(len(names) > 0); err != nil {
		return err
	}
	ctx, out := command.Context(), command.OutOrStdout()
	reader, namespace, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return o.list(ctx, out, reader, namespace)
	}
	key := client.ObjectKey{Namespace: namespace, Name: names[0]}
	if o.watch {
		screen := newScreen(out)
		if o.output.IsData() {
			screen.output, screen.notes = o.output, command.ErrOrStderr()
		}
		return follow(ctx, reader, key, screen, o.follow)
	}
	seen, err := takeSnapshot(ctx, reader, key)
	if err != nil {
		return err
	}
	if err := o.show(out, seen, time.Now()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return seen.outcome(o.follow.failOn)
}

func (o statusOptions) show(out io.Writer, seen snapshot, now time.Time) error {
	if o.output.IsData() {
		return o.output.Write(out, seen.state(now))
	}
	_, err := io.WriteString(out, console.StyleOf(out).PaintStatus(seen.lines(now)))
	return err
}

// snapshot is an experiment with its runs. Its warnings mention runs that only
// have its name.
type snapshot struct {
	experiment v1alpha1.PerfExperiment
	runs       []v1alpha1.PerfRun
}

func takeSnapshot(ctx context.Context, reader client.Reader, key client.ObjectKey) (snapshot, error) {
	var seen snapshot
	if err := reader.Get(ctx, key, &seen.experiment); err != nil {
		return seen, cluster.ReadError(err, cluster.ExperimentKind, key)
	}
	var runs v1alpha1.PerfRunList
	err := reader.List(ctx, &runs, client.InNamespace(key.Namespace), client.MatchingLabels{v1alpha1.LabelExperiment: key.Name})
	if err != nil {
		return seen, fmt.Errorf("listing the runs of experiment %q: %w", key.Name, err)
	}
	seen.runs, _ = runfilter.Following(&seen.experiment, runfilter.Recorded(&seen.experiment), runs.Items)
	progress.CopyRunProgress(&seen.experiment, seen.runs)
	return seen, nil
}

func (s snapshot) isOver() bool { return progress.IsFinished(&s.experiment) }

// outcome is the result for scripts.
func (s snapshot) outcome(failOn string) error {
	if s.experiment.Status.Phase == v1alpha1.ExperimentStalled {
		return fmt.Errorf("experiment %q: %w: %s", s.experiment.Name, exit.ErrStalled, conditionMessage(s.experiment.Status.Conditions, v1alpha1.ConditionStalled))
	}
	if failOn == "" {
		return nil
	}
	for _, found := range s.experiment.Status.Comparisons {
		if found.Primary && !found.Twin && found.Verdict == v1alpha1.VerdictWorse {
			return fmt.Errorf("experiment %q: %w: %s", s.experiment.Name, exit.ErrRegression, comparisonLine(found, s.experiment.Status.Analysis))
		}
	}
	return nil
}

// followOptions are the flags for following an experiment.
type followOptions struct {
	interval time.Duration
	timeout  time.Duration
	failOn   string
}

func (f *followOptions) addFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&f.interval, "interval", 2*time.Second, "polling interval")
	flags.DurationVar(&f.timeout, "timeout", 0, "time after which the command exits with code 9; the experiment continues; 0: no timeout")
	flags.StringVar(&f.failOn, "fail-on", "", exit.FailOnHelp)
}

func (f *followOptions) check() error {
	if f.timeout < 0 || f.interval <= 0 {
		return fmt.Errorf("%w: --timeout %s must be at least 0, and --interval %s above 0", exit.ErrOption, f.timeout, f.interval)
	}
	return exit.CheckFailOn(f.failOn, exit.FailOnWorse)
}

// withTimeout returns a context that ends with the timeout.
func (f *followOptions) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("%w after %s (--timeout)", exit.ErrTimeout, prose.Duration(f.timeout)))
}

// follow shows an experiment until it ends. It retries failed reads: the
// experiment continues while the cluster is unreachable.
func follow(ctx context.Context, reader client.Reader, key client.ObjectKey, screen *screen, how followOptions) error {
	ctx, done := how.withTimeout(ctx)
	defer done()
	last := "it was never read"
	for {
		seen, err := takeSnapshot(ctx, reader, key)
		switch {
		case errors.Is(err, cluster.ErrNotFound):
			return err
		case ctx.Err() != nil:
		case err != nil:
			last = "reading failed: " + err.Error()
			screen.note(last)
		default:
			screen.show(seen, time.Now())
			if seen.isOver() {
				return seen.outcome(how.failOn)
			}
			if provenance.IsImported(&seen.experiment) {
				return fmt.Errorf("experiment %q: %w", key.Name, errImported)
			}
			last = seen.waitMessage()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching experiment %q: %w: %s", key.Name, context.Cause(ctx), last)
		case <-time.After(how.interval):
		}
	}
}

// waitMessage is the progress of an unfinished experiment.
func (s snapshot) waitMessage() string {
	parts := []string{s.phase()}
	if counts := s.experiment.Status.Runs; counts != nil {
		parts = append(parts, prose.Partly(counts.Done, counts.Planned, "run")+" done")
	}
	return strings.Join(append(parts, s.currentNews()...), "; ")
}
