// SPDX-License-Identifier: Apache-2.0

package main

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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/elsewhere"
	"perflab.dev/perflab/internal/report"
	ours "perflab.dev/perflab/internal/schema"
)

type convertOptions struct {
	from, load, only string
	measured         string
	arms             []string
	scenario         string
	experiment       elsewhere.Experiment
	margin           int
}

func newConvert() *cobra.Command {
	options := convertOptions{}
	command := &cobra.Command{
		Use:   "convert --from FORMAT --name NAME --arm ARM=FILE...",
		Short: "Make a record of what other tools measured",
		Long: `Make a record of what other tools measured, as perflab export writes one, without
a cluster: perflab report, compare, history and import read it.

` + convertFormats() + `
A file is a run of an arm, and the files of an arm are its blocks, in the order in
which they are given. The first arm is the baseline, unless --baseline names
another. Files may be packed by gzip. What can't be right is refused, with its line
and the reason.

Metrics are named LOAD/TRANSACTION/STATISTIC; the load is called like the scenario,
unless --load says otherwise. The averages of all transactions decide, or the
metrics that --primary names. --only chooses transactions by their names.

The record says that it was measured elsewhere, by which tool, and from which files
it was read, with their SHA-256. PerfLab saw nothing of it: nothing proves how the
system was configured, and nobody drew the order of the runs.

Exit codes: 0 it was written, 1 it could not be, 2 a file is invalid.`,
		Example: `  perflab convert --from jmeter --name checkout-2025 --release 2025.1 --scenario cico \
    --arm xmx=run1.jtl --arm xmx=run2.jtl --arm maxram=run3.jtl > checkout-2025.yaml
  perflab convert --from k6-summary --measured 2025-01-03 --name search --arm base=summary.json | perflab report -f -
  perflab convert --from gobench --measured 2025-01-03 --name codec --arm old=old.txt --arm new=new.txt > codec.yaml
  perflab import -f checkout-2025.yaml -n archive`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	flags := command.Flags()
	flags.StringVar(&options.from, "from", "", "format of the files: "+strings.Join(elsewhere.Names(), ", "))
	flags.StringVar(&options.experiment.Name, "name", "", "name of the experiment")
	flags.StringVar(&options.experiment.Release, "release", "", "release that was measured: its name in perflab history")
	flags.StringVar(&options.experiment.Question, "question", "", "what was to be answered: the title of the report")
	flags.StringVar(&options.scenario, "scenario", "load", "name of the workload; only what has the same name is compared in perflab history")
	flags.StringVar(&options.load, "load", "", "first part of the metrics' names (default: the scenario)")
	flags.StringArrayVar(&options.arms, "arm", nil, "ARM=FILE: a run of an arm; given once for each file")
	flags.StringVar(&options.experiment.Baseline, "baseline", "", "arm that the others are compared with (default: the first)")
	flags.StringArrayVar(&options.experiment.Primary, "primary", nil, "metric that decides; may be given several times")
	flags.IntVar(&options.margin, "margin", 5, "difference that does not matter, in percent of the baseline")
	flags.StringVar(&options.measured, "measured", "", "date or time (2025-01-03, 2025-01-03T08:00:00Z) of the runs, where the files don't tell")
	flags.StringVar(&options.only, "only", "", "regular expression of the transactions that are read; all if not given")
	flags.StringVar(&options.experiment.Target, "target", "", "address that the load was put on, if it may be told: http://host:port")
	addMaxMemory(flags)
	for _, name := range []string{"from", "name", "arm"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

// convertFormats lists them for the help.
func convertFormats() string {
	var text strings.Builder
	for _, one := range elsewhere.All() {
		fmt.Fprintf(&text, "  %-14s %s\n", one.Name(), one.Reads())
	}
	return text.String()
}

func (o *convertOptions) run(command *cobra.Command) error {
	reader, found := elsewhere.Named(o.from)
	if !found {
		return fmt.Errorf("%w: --from %q: write one of %s", errOption, o.from, strings.Join(elsewhere.Names(), ", "))
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := o.read(command, reader); err != nil {
		return err
	}
	o.experiment.Tool = reader.Tool()
	experiment, runs, err := o.experiment.Record()
	if err != nil {
		return err
	}
	recorded := report.Input{Experiment: *experiment, Runs: runs}
	if err := asStored(command.Context(), &recorded); err != nil {
		return err
	}
	// What nobody can report on is no record.
	if _, err := report.New(recorded); err != nil {
		return err
	}
	for _, doubt := range experiment.Status.Warnings {
		command.PrintErrf("perflab: %s\n", doubt)
	}
	out := newSink(command)
	if err := errors.Join(report.Write(out, recorded), out.Flush()); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	return nil
}

func (o *convertOptions) check() (err error) {
	if o.margin < 1 || o.margin > 100 {
		return fmt.Errorf("%w: --margin %d must be from 1 to 100 percent", errOption, o.margin)
	}
	o.experiment.MarginPercent = int32(o.margin)
	if o.measured != "" {
		if o.experiment.Began, err = momentOf(o.measured); err != nil {
			return err
		}
	}
	o.load = cmp.Or(o.load, o.scenario)
	o.experiment.Scenarios = []string{o.scenario}
	for _, one := range o.arms {
		arm, file, found := strings.Cut(one, "=")
		if !found || arm == "" || file == "" {
			return fmt.Errorf("%w: --arm %q must be ARM=FILE, for example --arm xmx=run1.jtl", errOption, one)
		}
		if !slices.Contains(o.experiment.Arms, arm) {
			o.experiment.Arms = append(o.experiment.Arms, arm)
		}
	}
	o.experiment.Baseline = cmp.Or(o.experiment.Baseline, o.experiment.Arms[0])
	if !slices.Contains(o.experiment.Arms, o.experiment.Baseline) {
		return fmt.Errorf("%w: --baseline %q is none of the arms: %s", errOption, o.experiment.Baseline, strings.Join(o.experiment.Arms, ", "))
	}
	return nil
}

func momentOf(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if found, err := time.Parse(layout, text); err == nil {
			return found, nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: --measured %q must be a date or a time with its zone, for example 2025-01-03 or 2025-01-03T08:00:00Z", errOption, text)
}

// read reads one file after the other.
func (o *convertOptions) read(command *cobra.Command, reader elsewhere.Reader) error {
	only, err := expression("only", o.only)
	if err != nil {
		return err
	}
	blocks, seen := map[string]int32{}, map[string]string{}
	for _, one := range o.arms {
		arm, file, _ := strings.Cut(one, "=")
		// Each file has all the memory: of the one before, next to nothing is left.
		in, err := inputOf(command)
		if err != nil {
			return err
		}
		measured, sum, err := measuredIn(in, file, reader, elsewhere.Source{Load: o.load, Only: only})
		if err != nil {
			return err
		}
		if other, twice := seen[sum]; twice {
			return fmt.Errorf("%w: %s and %s are the same file: a run counts once", errOption, other, file)
		}
		seen[sum] = file
		blocks[arm]++
		o.experiment.Runs = append(o.experiment.Runs, elsewhere.Run{
			Arm: arm, Scenario: o.scenario, Loads: []string{o.load}, Block: blocks[arm],
			File: filepath.Base(file), SHA256: sum, Measured: measured,
		})
		for _, note := range measured.Notes {
			command.PrintErrf("perflab: %s: %s\n", file, note)
		}
	}
	return nil
}

func measuredIn(in *input, file string, reader elsewhere.Reader, from elsewhere.Source) (measured *elsewhere.Measured, sum string, err error) {
	sum, err = in.results(file, func(stream io.Reader) (err error) {
		from.In, from.Memory = stream, in.left
		measured, err = reader.Read(from)
		return err
	})
	return measured, sum, err
}

// asStored gives the objects the values that the API server would, and says what it
// would refuse.
func asStored(ctx context.Context, recorded *report.Input) error {
	reader, err := ours.NewReader()
	if err != nil {
		return err
	}
	if err := defaulted(ctx, reader, "PerfExperiment", &recorded.Experiment); err != nil {
		return err
	}
	for i := range recorded.Runs {
		if err := defaulted(ctx, reader, "PerfRun", &recorded.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func defaulted(ctx context.Context, reader *ours.Reader, kind string, object runtime.Object) error {
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind(v1alpha1.GroupVersion.WithKind(kind)))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("encoding a %s: %w", kind, err)
	}
	encoded := &unstructured.Unstructured{Object: fields}
	if faults := reader.Check(ctx, encoded); len(faults) > 0 {
		return refused(fmt.Sprintf("%s %q", kind, encoded.GetName()), faults)
	}
	return decode(encoded, object)
}
