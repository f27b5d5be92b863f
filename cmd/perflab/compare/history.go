// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

// failOnRegression is the only value of --fail-on.
const failOnRegression = "regression"

// maxAnalyses is the largest number of analyses that can share an error rate:
// with more, only the longest series could show a change.
const maxAnalyses = 100

type historyOptions struct {
	from     *cluster.Cluster
	scope    cluster.Scope
	format   string
	failOn   string
	choose   releases.Options
	measured []releases.Measurements
	// archive is the URL of the archive to read; empty: none.
	archive string
	// notes on further experiments in the archive.
	notes []string
	// deleted are experiments whose runs were deleted.
	deleted []string
}

const historyHelp = `Show a metric over releases: the experiments in the order in which they were measured,
where the metric changed, by how much, and what differs there. Each experiment is NAME
or NAMESPACE/NAME in the cluster, a file that perflab export wrote, or a folder of
such files. Without arguments, all experiments of the namespace are shown, with -A of
all namespaces.

With --archive, the experiments come from an archive, and no cluster is needed.
NAMESPACE/NAME is the whole series of this experiment; NAMESPACE is the series of the
experiment that was measured last there. The last 300 of each series are read.

A point is the result of one arm of an experiment under one scenario. Its label is the
experiment's annotation perflab.dev/release, or the experiment's name. The experiment
that was measured last defines metrics, arms and scenarios; others are included
if they declare the scenario in the same way.

Changes are found by the E-divisive procedure with permutation tests. Without any
change, the false-positive rate over all series, and over all --analyses, is
--error-rate. A single last point may be an outlier, so a change needs two. A change
is Better or Worse, or Equivalent if it is within the margin of the experiment that
was measured last.

Exit codes: 0 success, 1 failure, 2 a file is invalid, 6 with --fail-on regression:
the last change of a series is Worse.`

// NewHistory returns the command history.
func NewHistory() *cobra.Command {
	options := historyOptions{}
	command := &cobra.Command{
		Use:   "history [EXPERIMENT|FILE|FOLDER...]",
		Short: "Show a metric over releases, and where it changed",
		Long:  historyHelp,
		Example: `  perflab history -n lab
  perflab history -A --metric cico/Check-In/p95
  perflab history exports/ --metric cico/Check-In/p95
  perflab history exports/ -o html > history.html
  perflab history --archive s3://perflab/archive?region=eu-central-1 lab/heap-2026-1
  perflab history lab/heap-2026-1 lab/heap-2026-2 heap-2025.yaml.gz -o json
  kubectl annotate perfexperiment heap perflab.dev/release=2026.1`,
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	options.scope.AddFlags(flags)
	source.AddMaxMemoryFlag(flags)
	flags.StringVar(&options.archive, "archive", "", "URL of an archive to read instead of the cluster, such as s3://perflab/archive?region=eu-central-1")
	flags.StringVarP(&options.format, "output", "o", console.FormatTable, "output format: table, markdown, json or html")
	flags.StringArrayVar(&options.choose.Metrics, "metric", nil, "metric as in the runs' observations, instead of the primary ones; repeatable")
	flags.StringArrayVar(&options.choose.Arms, "arm", nil, "arm, instead of all; repeatable")
	flags.StringArrayVar(&options.choose.Scenarios, "scenario", nil, "scenario, instead of all; repeatable")
	flags.Float64Var(&options.choose.ErrorRatePercent, "error-rate", 5, "false-positive rate over all series, in percent")
	flags.IntVar(&options.choose.Analyses, "analyses", 1, "analyses that share the error rate: 20 if you run one after each of 20 releases")
	console.AddEarlierName(flags, "looks", "analyses")
	flags.StringVar(&options.failOn, "fail-on", "", `"regression" exits with code 6 if the last change of a series is Worse`)
	return command
}

func (o *historyOptions) check() error {
	if o.format != console.FormatHTML {
		if err := console.CheckFormat(o.format); err != nil {
			return fmt.Errorf("%w; or -o %s", err, console.FormatHTML)
		}
	}
	if err := exit.CheckFailOn(o.failOn, failOnRegression); err != nil {
		return err
	}
	// A lower rate would need too many permutations.
	if rate := o.choose.ErrorRatePercent; !(rate >= 0.1) || rate > 50 {
		return fmt.Errorf("%w: --error-rate %g must be from 0.1 to 50 percent", exit.ErrOption, rate)
	}
	if o.choose.Analyses < 1 || o.choose.Analyses > maxAnalyses {
		return fmt.Errorf("%w: --analyses %d must be from 1 to %d", exit.ErrOption, o.choose.Analyses, maxAnalyses)
	}
	return nil
}

func (o *historyOptions) run(command *cobra.Command, arguments []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.scope.AllNamespaces && (o.archive != "" || len(arguments) > 0) {
		return fmt.Errorf("%w: -A selects all experiments of the cluster: remove it, or remove the names and --archive", exit.ErrOption)
	}
	if err := o.addArguments(command, arguments); err != nil {
		return err
	}
	history, err := o.history()
	if err != nil {
		return err
	}
	out := console.NewSink(command)
	if err := out.Finish("the history", o.write(out, history)); err != nil {
		return err
	}
	if worse := history.Regressed(); o.failOn == failOnRegression && len(worse) > 0 {
		return fmt.Errorf("%w: %s of %s in arm %q", exit.ErrRegression, metric.Plain(worse[0].Metric), worse[0].Scenario, worse[0].Arm)
	}
	return nil
}

// addArguments reads the named experiments from their sources.
func (o *historyOptions) addArguments(command *cobra.Command, arguments []string) error {
	if o.archive != "" {
		return o.addArchived(command.Context(), arguments)
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	if len(arguments) == 0 {
		return o.addNamespace(command.Context())
	}
	for _, argument := range arguments {
		if err := o.add(command.Context(), in, argument); err != nil {
			return err
		}
	}
	return nil
}

// addArchived reads the series that an argument names from an archive.
func (o *historyOptions) addArchived(ctx context.Context, arguments []string) error {
	query := contents.HistoryQuery{Scenarios: o.choose.Scenarios, Metrics: o.choose.Metrics}
	switch len(arguments) {
	case 0:
		namespace, err := o.from.Namespace()
		if err != nil {
			return err
		}
		query.Namespace = namespace
	case 1:
		query.Namespace, query.Experiment, _ = strings.Cut(arguments[0], "/")
	}
	if len(arguments) > 1 || query.Namespace == "" || strings.Contains(query.Experiment, "/") {
		return fmt.Errorf("%w: %q: with --archive, name one experiment as NAMESPACE/NAME, or one NAMESPACE", exit.ErrOption, strings.Join(arguments, " "))
	}
	store, err := source.OpenArchive(ctx, o.archive)
	if err != nil {
		return err
	}
	found, err := contents.History(ctx, store, query)
	if err != nil {
		return err
	}
	o.measured, o.notes = found.Measurements, found.Notes
	return nil
}

// history analyzes the records, with a note on missing ones.
func (o *historyOptions) history() (*releases.History, error) {
	history, err := releases.NewHistory(o.measured, o.choose)
	if len(o.deleted) > 0 {
		o.notes = append(o.notes, fmt.Sprintf("omitted: %s, whose runs were deleted by retention.runs", prose.Enumerate(o.deleted)))
	}
	if err != nil && len(o.notes) > 0 {
		return nil, fmt.Errorf("%w; %s", err, strings.Join(o.notes, "; "))
	}
	if err != nil {
		return nil, err
	}
	history.Notes = append(history.Notes, o.notes...)
	return history, nil
}

// add reads the experiments that an argument names.
func (o *historyOptions) add(ctx context.Context, in *source.Input, argument string) error {
	if found, err := os.Stat(argument); source.IsRecordedFile(argument) || argument == source.StandardInput || err == nil && found.IsDir() {
		return o.addFiles(in, argument)
	}
	reader, key, err := o.from.Resolve(argument)
	if err != nil {
		return err
	}
	return o.fetch(ctx, reader, key)
}

// addFiles reads one file after the other, without keeping raw results.
func (o *historyOptions) addFiles(in *source.Input, argument string) error {
	paths, err := source.ListFiles(argument)
	if err != nil {
		return err
	}
	for _, path := range paths {
		inputs, err := source.ReadRecorded(in, []string{path})
		if err != nil {
			return err
		}
		for i := range inputs {
			if err := o.measure(&inputs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *historyOptions) fetch(ctx context.Context, reader client.Reader, key client.ObjectKey) error {
	recorded, err := cluster.Fetch(ctx, reader, key.Namespace, key.Name)
	if errors.Is(err, cluster.ErrRunsDeleted) {
		return o.fetchKept(ctx, reader, key, err)
	}
	if err != nil {
		return err
	}
	return o.measure(&recorded)
}

// fetchKept reads the stored history of an experiment whose runs were deleted.
func (o *historyOptions) fetchKept(ctx context.Context, reader client.Reader, key client.ObjectKey, gone error) error {
	kept, err := cluster.ConfigMap(ctx, reader, key.Namespace, naming.History(key.Name))
	if err != nil {
		return err
	}
	if kept == nil {
		return gone
	}
	experiment := &v1alpha1.PerfExperiment{}
	if err := reader.Get(ctx, key, experiment); err != nil {
		return fmt.Errorf("reading experiment %q: %w", key.Name, err)
	}
	if !regression.IsAuthentic(experiment, kept) && !provenance.IsImported(experiment) {
		return fmt.Errorf("%w: ConfigMap %q has changed since the operator wrote it", regression.ErrInvalidConfigMap, kept.Name)
	}
	measured, err := regression.DecodeMeasurements(kept, nil)
	if err != nil {
		return err
	}
	measured.Release = releases.ReleaseName(experiment)
	o.measured = append(o.measured, measured)
	return nil
}

// measure keeps the parts of an experiment that the history needs.
func (o *historyOptions) measure(recorded *report.Input) error {
	one, err := releases.Measure(releases.ExperimentRuns{Experiment: &recorded.Experiment, Runs: recorded.Runs})
	if err == nil {
		o.measured = append(o.measured, one)
	}
	return err
}

// addNamespace reads all experiments that still have runs.
func (o *historyOptions) addNamespace(ctx context.Context) error {
	namespace, err := o.from.Namespace()
	if err != nil {
		return err
	}
	reader, err := o.from.Client()
	if err != nil {
		return err
	}
	return o.addAll(ctx, reader, o.scope.ListNamespace(namespace))
}

func (o *historyOptions) addAll(ctx context.Context, reader client.Reader, namespace string) error {
	all, err := cluster.ListExperiments(ctx, reader, namespace)
	if err != nil {
		return err
	}
	for i := range all {
		err := o.fetch(ctx, reader, client.ObjectKeyFromObject(&all[i]))
		if errors.Is(err, cluster.ErrRunsDeleted) {
			o.deleted = append(o.deleted, all[i].Name)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *historyOptions) write(out io.Writer, history *releases.History) error {
	switch o.format {
	case console.FormatJSON:
		return writeHistoryJSON(out, history)
	case console.FormatHTML:
		page, err := report.OfReleases(history).HTML()
		if err != nil {
			return err
		}
		_, err = out.Write(page)
		return err
	}
	sheet := &console.Sheet{Page: *console.NewPage(out), Markdown: o.format == console.FormatMarkdown}
	writeHistory(sheet, history)
	return sheet.Err
}
