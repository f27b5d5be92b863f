// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/importers"

	ours "perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/prose"
)

type convertOptions struct {
	from, load, only string
	higher, lower    string
	measured         string
	arms             []string
	scenario         string
	experiment       importers.Experiment
	margin           int
}

// convertHelp describes the formats and the record.
func convertHelp() string {
	return `Convert results of other tools into a record as perflab export writes it, which
perflab report, compare, history and import read. No cluster is needed.

` + formatsHelp() + `
A file is a run of an arm. The files of an arm are its blocks, in the given order.
The first arm is the baseline unless --baseline names another. Files may be
compressed by gzip. An invalid file is rejected with its line and the reason.

A table has a row for each run and metric, with the columns
` + importers.TableColumns + `; the first
three are optional. It names its own arms, blocks and scenarios. Each release in it
becomes an experiment, named NAME and the release.

Metrics are named LOAD/TRANSACTION/STATISTIC; the load has the name of the scenario
unless --load names it. The averages of up to 8 transactions are primary, or the
metrics of --primary. --only selects transactions by name. PerfLab infers the
direction of custom metrics from units such as req/s or B/op, from the file, or from
--higher-is-better and --lower-is-better; others are not primary.

The record names the tool and the files it comes from, with their SHA-256. PerfLab
did not observe the runs: it cannot verify how the system was configured, and their
order was not randomized.

Exit codes: 0 success, 1 failure, 2 a file is invalid.`
}

const convertExamples = `  perflab convert --from jmeter --name checkout-2025 --release 2025.1 --scenario cico \
    --arm xmx=run1.jtl --arm xmx=run2.jtl --arm maxram=run3.jtl > checkout-2025.yaml
  perflab convert --from k6-summary --measured 2025-01-03 --name search --arm base=summary.json | perflab report -f -
  perflab convert --from gobench --measured 2025-01-03 --name codec --arm old=old.txt --arm new=new.txt > codec.yaml
  perflab convert --from table --name checkout past.csv > past.yaml
  perflab import -f checkout-2025.yaml -n archive`

// NewConvert returns the command convert.
func NewConvert() *cobra.Command {
	options := convertOptions{}
	command := &cobra.Command{
		Use:     "convert --from FORMAT --name NAME {--arm ARM=FILE... | TABLE...}",
		Short:   "Convert results of other tools",
		Long:    convertHelp(),
		Example: convertExamples,
		RunE:    func(command *cobra.Command, tables []string) error { return options.run(command, tables) },
	}
	options.addFlags(command.Flags())
	for _, name := range []string{"from", "name"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

func (o *convertOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.from, "from", "", "format of the files: "+strings.Join(Formats(), ", "))
	flags.StringVar(&o.experiment.Name, "name", "", "name of the experiment")
	flags.StringVar(&o.experiment.Release, "release", "", "release that was measured: its name in perflab history")
	flags.StringVar(&o.experiment.Question, "question", "", "question that the experiment answers: the title of the report")
	flags.StringVar(&o.scenario, "scenario", "load", "name of the scenario; perflab history compares only experiments with the same")
	flags.StringVar(&o.load, "load", "", "first part of the metrics' names (default: the scenario)")
	flags.StringArrayVar(&o.arms, "arm", nil, "ARM=FILE: a run of an arm; repeat for each file")
	flags.StringVar(&o.experiment.Baseline, "baseline", "", "baseline arm (default: the first)")
	flags.StringArrayVar(&o.experiment.Primary, "primary", nil, "primary metric; repeatable")
	flags.StringVar(&o.higher, "higher-is-better", "", "regular expression of the custom metrics that get better when higher")
	flags.StringVar(&o.lower, "lower-is-better", "", "regular expression of the custom metrics that get better when lower")
	flags.IntVar(&o.margin, "margin", 5, "equivalence margin, in percent of the baseline")
	flags.StringVar(&o.measured, "measured", "", "date or time (2025-01-03, 2025-01-03T08:00:00Z) of the runs, if the files lack it")
	flags.StringVar(&o.only, "only", "", "regular expression of the transactions to read (default: all)")
	flags.StringVar(&o.experiment.Target, "target", "", "address of the system under load, if you want to record it: http://host:port")
	source.AddMaxMemoryFlag(flags)
}

// formatsHelp lists the formats for the help.
func formatsHelp() string {
	var text strings.Builder
	for _, one := range importers.All() {
		fmt.Fprintf(&text, "  %-14s %s\n", one.Name(), one.Reads())
	}
	fmt.Fprintf(&text, "  %-14s %s\n", formatResultsTable, "CSV with all runs of any number of releases, from any tool")
	return text.String()
}

// formatResultsTable is the format with the runs of any number of releases.
const formatResultsTable = "table"

// Formats are the names of the formats that can be converted.
func Formats() []string { return append(importers.Names(), formatResultsTable) }

func (o *convertOptions) run(command *cobra.Command, tables []string) error {
	experiments, err := o.experiments(command, tables)
	if err != nil {
		return err
	}
	// Check all before writing the first.
	records := make([]report.Input, 0, len(experiments))
	for i := range experiments {
		recorded, err := newRecord(command.Context(), &experiments[i])
		if err != nil {
			return err
		}
		for _, doubt := range recorded.Experiment.Status.Warnings {
			command.PrintErrf("perflab: %s\n", doubt)
		}
		records = append(records, recorded)
	}
	out := console.NewSink(command)
	for _, recorded := range records {
		err = errors.Join(err, report.Write(out, recorded))
	}
	return out.Finish("the record", err)
}

// newRecord returns the experiment as the cluster would store it.
func newRecord(ctx context.Context, experiment *importers.Experiment) (report.Input, error) {
	recordedExperiment, runs, err := experiment.Record()
	if err != nil {
		return report.Input{}, err
	}
	recorded := report.Input{Experiment: *recordedExperiment, Runs: runs}
	if err := applyDefaults(ctx, &recorded); err != nil {
		return report.Input{}, err
	}
	// A record must be reportable.
	_, err = report.New(recorded)
	return recorded, err
}

// experiments reads the files: one experiment, or one for each release of
// tables.
func (o *convertOptions) experiments(command *cobra.Command, tables []string) ([]importers.Experiment, error) {
	if err := o.checkOptions(); err != nil {
		return nil, err
	}
	if o.from == formatResultsTable {
		return o.readTables(command, tables)
	}
	reader, found := importers.Named(o.from)
	switch {
	case !found:
		return nil, fmt.Errorf("%w: --from %q: write one of %s", exit.ErrOption, o.from, strings.Join(Formats(), ", "))
	case len(tables) > 0 || len(o.arms) == 0:
		return nil, fmt.Errorf("%w: --arm is missing: assign each file to an arm, for example --arm xmx=run1.jtl", exit.ErrOption)
	}
	if err := o.checkArms(); err != nil {
		return nil, err
	}
	o.experiment.Tool = reader.Tool()
	err := o.readArms(command, reader)
	return []importers.Experiment{o.experiment}, err
}

// readTables reads the experiments of tables, in the order of their releases.
func (o *convertOptions) readTables(command *cobra.Command, tables []string) ([]importers.Experiment, error) {
	if len(tables) == 0 || len(o.arms) > 0 {
		return nil, fmt.Errorf("%w: --from table needs the file of the table and no --arm, because the table names its arms", exit.ErrOption)
	}
	only, err := console.CompileExpression("only", o.only)
	if err != nil {
		return nil, err
	}
	var made []importers.Experiment
	for _, file := range tables {
		in, err := source.CommandInput(command)
		if err != nil {
			return nil, err
		}
		var placed []importers.TableRecord
		sum, err := in.Results(file, func(stream io.Reader) (err error) {
			placed, err = importers.ReadTable(importers.Source{In: stream, Only: only, Memory: in.Budget})
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, one := range placed {
			one.File, one.SHA256 = filepath.Base(file), sum
			made = o.addRun(made, one)
		}
	}
	return made, nil
}

// addRun adds a run to the experiment of its release.
func (o *convertOptions) addRun(experiments []importers.Experiment, run importers.TableRecord) []importers.Experiment {
	release := cmp.Or(run.Release, o.experiment.Release)
	at := slices.IndexFunc(experiments, func(e importers.Experiment) bool { return e.Release == release })
	if at < 0 {
		added := o.experiment
		added.Release, added.Tool = release, importers.TableTool
		added.Baseline = cmp.Or(added.Baseline, run.Arm)
		if run.Release != "" {
			added.Name = o.experiment.Name + "-" + nameFrom(release)
		}
		experiments, at = append(experiments, added), len(experiments)
	}
	experiment := &experiments[at]
	if !slices.Contains(experiment.Arms, run.Arm) {
		experiment.Arms = append(experiment.Arms, run.Arm)
	}
	if !slices.Contains(experiment.Scenarios, run.Scenario) {
		experiment.Scenarios = append(experiment.Scenarios, run.Scenario)
	}
	experiment.Runs = append(experiment.Runs, run.Run)
	return experiments
}

// nameFrom turns a release into a part of a name: 2025.1 becomes 2025-1.
func nameFrom(release string) string {
	return strings.Trim(strings.Map(func(letter rune) rune {
		if letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9' {
			return letter
		}
		return '-'
	}, strings.ToLower(release)), "-")
}

// checkOptions checks the flags of all formats.
func (o *convertOptions) checkOptions() (err error) {
	if o.margin < 1 || o.margin > 100 {
		return fmt.Errorf("%w: --margin %d must be from 1 to 100 percent", exit.ErrOption, o.margin)
	}
	o.experiment.MarginPercent = int32(o.margin)
	if o.measured != "" {
		if o.experiment.Began, err = parseTime(o.measured); err != nil {
			return err
		}
	}
	if o.experiment.Higher, err = console.CompileExpression("higher-is-better", o.higher); err != nil {
		return err
	}
	o.experiment.Lower, err = console.CompileExpression("lower-is-better", o.lower)
	return err
}

// checkArms checks the flags of formats with a file for each run.
func (o *convertOptions) checkArms() error {
	o.load = cmp.Or(o.load, o.scenario)
	o.experiment.Scenarios = []string{o.scenario}
	for _, one := range o.arms {
		arm, file, found := strings.Cut(one, "=")
		if !found || arm == "" || file == "" {
			return fmt.Errorf("%w: --arm %q must be ARM=FILE, for example --arm xmx=run1.jtl", exit.ErrOption, one)
		}
		if !slices.Contains(o.experiment.Arms, arm) {
			o.experiment.Arms = append(o.experiment.Arms, arm)
		}
	}
	o.experiment.Baseline = cmp.Or(o.experiment.Baseline, o.experiment.Arms[0])
	if !slices.Contains(o.experiment.Arms, o.experiment.Baseline) {
		return fmt.Errorf("%w: --baseline %q is not one of the arms: %s", exit.ErrOption, o.experiment.Baseline, strings.Join(o.experiment.Arms, ", "))
	}
	return nil
}

func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if found, err := time.Parse(layout, text); err == nil {
			return found, nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: --measured %q must be a date or a time with its zone, for example 2025-01-03 or 2025-01-03T08:00:00Z", exit.ErrOption, text)
}

// readArms reads one file after the other.
func (o *convertOptions) readArms(command *cobra.Command, reader importers.Reader) error {
	only, err := console.CompileExpression("only", o.only)
	if err != nil {
		return err
	}
	blocks, seen := map[string]int32{}, map[string]string{}
	for _, one := range o.arms {
		arm, file, _ := strings.Cut(one, "=")
		// Each file may use the whole limit, because little of the previous one is
		// kept.
		in, err := source.CommandInput(command)
		if err != nil {
			return err
		}
		measured, sum, err := measureFile(in, file, reader, importers.Source{Load: o.load, Only: only})
		if err != nil {
			return err
		}
		if other, twice := seen[sum]; twice {
			return fmt.Errorf("%w: %s and %s are the same file: remove one", exit.ErrOption, other, file)
		}
		seen[sum] = file
		blocks[arm]++
		o.experiment.Runs = append(o.experiment.Runs, importers.Run{
			Arm: arm, Scenario: o.scenario, Loads: []string{o.load}, Block: blocks[arm],
			File: filepath.Base(file), SHA256: sum, Measured: measured,
		})
	}
	o.printNotes(command)
	return nil
}

// printNotes prints the notes on the files, without duplicates.
func (o *convertOptions) printNotes(command *cobra.Command) {
	var notes []string
	files := map[string][]string{}
	for _, run := range o.experiment.Runs {
		for _, note := range run.Measured.Notes {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
			files[note] = append(files[note], run.File)
		}
	}
	for _, note := range notes {
		command.PrintErrf("perflab: %s: %s\n", prose.Enumerate(files[note]), note)
	}
}

func measureFile(in *source.Input, file string, reader importers.Reader, from importers.Source) (measured *importers.Measured, sum string, err error) {
	sum, err = in.Results(file, func(stream io.Reader) (err error) {
		from.In, from.Memory = stream, in.Budget
		measured, err = importers.Read(reader, from)
		return err
	})
	return measured, sum, err
}

// applyDefaults sets the API server's defaults and returns what it would refuse.
func applyDefaults(ctx context.Context, recorded *report.Input) error {
	if err := applyDefault(ctx, cluster.ExperimentKind, &recorded.Experiment); err != nil {
		return err
	}
	for i := range recorded.Runs {
		if err := applyDefault(ctx, "PerfRun", &recorded.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func applyDefault(ctx context.Context, kind string, object runtime.Object) error {
	object.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("encoding a %s: %w", kind, err)
	}
	encoded := &unstructured.Unstructured{Object: fields}
	if faults := ours.Check(ctx, encoded); len(faults) > 0 {
		return source.InvalidError(fmt.Sprintf("%s %q", kind, encoded.GetName()), faults)
	}
	return source.Decode(encoded, object)
}
