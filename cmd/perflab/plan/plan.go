// SPDX-License-Identifier: Apache-2.0

// Package plan has the command that plans experiments.
package plan

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/preview"
	"perflab.dev/perflab/internal/text/prose"
)

var errAssumption = errors.New("an assumption must be above zero")

type planOptions struct {
	files   []string
	output  *console.Output
	pilot   string
	cv      float64
	assumed preview.Assumptions
}

// New returns the command plan.
func New() *cobra.Command {
	options := planOptions{}
	command := &cobra.Command{
		Use:   "plan -f FILE...",
		Short: "Show what an experiment will do, without a cluster",
		Long: `Show what an experiment will do, without a cluster: its arms and how they differ, and
the heap of each module in each arm. Show the runs in order, their duration and the
smallest effect that they detect. With a price list, the cost of each arm is shown too. Errors
and warnings are those that the cluster would return. For a PerfSchedule, the
experiment that it creates is shown.

The duration of your own k6 script is read from its options, if a file holds its
ConfigMap. The script is not run.

The spread of runs is assumed (--cv) or taken from earlier runs (--pilot, in the
format that perflab analyze reads). More spread needs more blocks.

Exit codes: 0 success, 1 failure, 2 the manifest is invalid.`,
		Example: `  perflab plan -f experiment.yaml
  perflab plan -f config/samples/seed-004-maxram-vs-xmx.yaml -f config/systems/folio-poppy.yaml
  perflab plan -f experiment.yaml --cv 2.5 --overhead 6m
  perflab plan -f experiment.yaml --pilot earlier-runs.csv
  perflab plan -f experiment.yaml -o json | jq '.heaps[] | select(.arm == "maxram-66")'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	flags := command.Flags()
	source.AddMaxMemoryFlag(flags)
	flags.StringArrayVarP(&options.files, "file", "f", nil, `file or folder with the experiment, its PerfSystem, or a ConfigMap with a script or prices, also compressed (.gz); "-" is standard input; repeatable`)
	options.output = console.AddOutput(command, console.FormatText, console.FormatJSON)
	flags.Float64Var(&options.assumed.RecordsPerSecond, "records-per-second", 25, "assumed records per second of an import")
	flags.DurationVar(&options.assumed.Overhead, "overhead", 0, "assumed time of a run in addition to its load (default 15s with reset None, otherwise 2m)")
	flags.Float64Var(&options.cv, "cv", 5, "assumed coefficient of variation of the runs of an arm, in percent")
	flags.StringVar(&options.pilot, "pilot", "", `CSV file with earlier runs to take the spread from; "-" is standard input`)
	if err := command.MarkFlagRequired("file"); err != nil {
		panic(err)
	}
	return command
}

func (o planOptions) run(command *cobra.Command) error {
	if err := o.output.Check(); err != nil {
		return err
	}
	if o.assumed.RecordsPerSecond <= 0 || o.assumed.Overhead < 0 {
		return fmt.Errorf("%w: --records-per-second %g, --overhead %s", errAssumption, o.assumed.RecordsPerSecond, o.assumed.Overhead)
	}
	if !(o.cv > 0) || o.cv > 100 {
		return fmt.Errorf("%w: --cv %g must be above 0 and at most 100 percent", exit.ErrOption, o.cv)
	}
	o.assumed.CV = o.cv / 100
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	files, err := source.AllFiles(o.files)
	if err != nil {
		return err
	}
	read, err := source.ReadManifest(command.Context(), in, files)
	if err != nil {
		return err
	}
	if len(read.Experiments) == 0 {
		return exit.ErrNoExperiment
	}
	var faults []error
	for _, experiment := range read.Experiments {
		faults = append(faults, o.show(command, read, experiment))
	}
	return errors.Join(faults...)
}

func (o planOptions) show(command *cobra.Command, read source.Manifest, experiment *v1alpha1.PerfExperiment) error {
	system, err := read.System(experiment)
	if err != nil {
		return err
	}
	title, faults, warnings := read.Validate(experiment, system)
	if len(faults) > 0 {
		return source.InvalidError(title, faults)
	}
	assumed, err := o.assumptions(command, read, experiment)
	if err != nil {
		return err
	}
	shown := preview.New(experiment, *system, assumed)
	if o.output.IsData() {
		return writeJSON(command.OutOrStdout(), shown, warnings)
	}
	if err := writePlan(command.OutOrStdout(), shown, warnings); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// assumptions adds the spread of earlier runs and the price list.
func (o planOptions) assumptions(command *cobra.Command, read source.Manifest, experiment *v1alpha1.PerfExperiment) (preview.Assumptions, error) {
	assumed := o.assumed
	if !command.Flags().Changed("overhead") {
		assumed.Overhead = preview.ResetOverhead(experiment.Spec.Reset)
	}
	assumed.ConfigMaps = read.ConfigMaps
	if cost := experiment.Spec.Cost; cost != nil {
		assumed.Prices = read.ConfigMaps[cost.PriceList.Name]
	}
	if o.pilot == "" {
		return assumed, nil
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return assumed, err
	}
	err = in.Table(o.pilot, func(in io.Reader) error {
		table, err := comparison.ReadCSV(in)
		if err == nil {
			assumed.Piloted = preview.Pilot(&experiment.Spec, table)
		}
		return err
	})
	if err == nil && len(assumed.Piloted) == 0 {
		err = fmt.Errorf("%w: --pilot %s needs two runs with a primary metric of experiment %q (%s)", exit.ErrOption, o.pilot,
			experiment.Name, prose.Enumerate(analysisplan.New(&experiment.Spec).Primary))
	}
	return assumed, err
}

func writeJSON(out io.Writer, shown preview.Preview, warnings []string) error {
	err := console.Encode(out, struct {
		preview.Preview
		Warnings []string `json:"warnings,omitempty"`
	}{shown, warnings})
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}
