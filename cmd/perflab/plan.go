// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/preview"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/question"
)

var (
	errNoExperiment = errors.New("the files hold no PerfExperiment: name one with -f experiment.yaml")
	errFormat       = errors.New("unknown output format")
	errAssumption   = errors.New("an assumption must be above zero")
)

type planOptions struct {
	files   []string
	output  *output
	pilot   string
	cv      float64
	assumed preview.Assumptions
}

func newPlan() *cobra.Command {
	options := planOptions{}
	command := &cobra.Command{
		Use:   "plan -f FILE...",
		Short: "Show what an experiment will do, without a cluster",
		Long: `Show what an experiment will do, without a cluster: its arms and what differs
between them, and the heap of each module in each arm. Show the runs in order, their
duration and the smallest effect that they detect and, if a file has the price list,
what each arm costs. A manifest the cluster would refuse is refused with
the same sentences, and warned of with the same. Of a PerfSchedule the
experiment is shown that it makes.

How long a k6 script of one's own lasts is read from its options, where a file
holds the ConfigMap with it; nothing of the script is run.

How much runs spread is assumed (--cv) or taken from earlier runs (--pilot, in
the format perflab analyze reads): the more they do, the more blocks it takes.

Exit codes: 0 the plan was shown, 1 it could not be made, 2 the manifest is
invalid.`,
		Example: `  perflab plan -f experiment.yaml
  perflab plan -f config/samples/seed-004-maxram-vs-xmx.yaml -f config/systems/folio-poppy.yaml
  perflab plan -f experiment.yaml --cv 2.5 --overhead 6m
  perflab plan -f experiment.yaml --pilot earlier-runs.csv
  perflab plan -f experiment.yaml -o json | jq '.heaps[] | select(.arm == "maxram-66")'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	flags := command.Flags()
	addMaxMemory(flags)
	flags.StringArrayVarP(&options.files, "file", "f", nil, `file, or folder of files, with the experiment, the PerfSystem it refers to, or a ConfigMap with a script or prices, also packed (.gz); "-" is standard input; may be given several times`)
	options.output = addOutput(command, formatText, formatJSON)
	flags.Float64Var(&options.assumed.RecordsPerSecond, "records-per-second", 25, "records an import is assumed to process per second")
	flags.DurationVar(&options.assumed.Overhead, "overhead", 0, "time a run is assumed to take beside its load (default 15s with reset None, otherwise 2m)")
	flags.Float64Var(&options.cv, "cv", 5, "how much runs of one arm are assumed to spread, in percent of their mean (coefficient of variation)")
	flags.StringVar(&options.pilot, "pilot", "", `CSV file with earlier runs, from which the spread is taken instead; "-" is standard input`)
	if err := command.MarkFlagRequired("file"); err != nil {
		panic(err)
	}
	return command
}

func (o planOptions) run(command *cobra.Command) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.assumed.RecordsPerSecond <= 0 || o.assumed.Overhead < 0 {
		return fmt.Errorf("%w: --records-per-second %g, --overhead %s", errAssumption, o.assumed.RecordsPerSecond, o.assumed.Overhead)
	}
	if !(o.cv > 0) || o.cv > 100 {
		return fmt.Errorf("%w: --cv %g must be above 0 and at most 100 percent", errOption, o.cv)
	}
	o.assumed.CV = o.cv / 100
	in, err := inputOf(command)
	if err != nil {
		return err
	}
	files, err := allFiles(o.files)
	if err != nil {
		return err
	}
	read, err := readManifest(command.Context(), in, files)
	if err != nil {
		return err
	}
	if len(read.experiments) == 0 {
		return errNoExperiment
	}
	var faults []error
	for _, experiment := range read.experiments {
		faults = append(faults, o.show(command, read, experiment))
	}
	return errors.Join(faults...)
}

func (o planOptions) show(command *cobra.Command, read manifest, experiment *v1alpha1.PerfExperiment) error {
	system, err := read.systemOf(experiment)
	if err != nil {
		return err
	}
	title, faults, warnings := read.judge(experiment, system)
	if len(faults) > 0 {
		return refused(title, faults)
	}
	assumed, err := o.assumptions(command, read, experiment)
	if err != nil {
		return err
	}
	shown := preview.Of(experiment, *system, assumed)
	if o.output.isData() {
		return writeJSON(command.OutOrStdout(), shown, warnings)
	}
	if err := writePlan(command.OutOrStdout(), shown, warnings); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// assumptions adds what earlier runs and the price list tell.
func (o planOptions) assumptions(command *cobra.Command, read manifest, experiment *v1alpha1.PerfExperiment) (preview.Assumptions, error) {
	assumed := o.assumed
	if !command.Flags().Changed("overhead") {
		assumed.Overhead = preview.OverheadOf(experiment.Spec.Reset)
	}
	assumed.ConfigMaps = read.configMaps
	if cost := experiment.Spec.Cost; cost != nil {
		assumed.Prices = read.configMaps[cost.PriceList.Name]
	}
	if o.pilot == "" {
		return assumed, nil
	}
	in, err := inputOf(command)
	if err != nil {
		return assumed, err
	}
	err = in.table(o.pilot, func(in io.Reader) error {
		table, err := comparison.ReadCSV(in)
		if err == nil {
			assumed.Piloted = preview.Pilot(&experiment.Spec, table)
		}
		return err
	})
	if err == nil && len(assumed.Piloted) == 0 {
		err = fmt.Errorf("%w: --pilot %s has no two runs of a primary metric of experiment %q (%s)", errOption, o.pilot,
			experiment.Name, prose.Enumerate(question.Of(&experiment.Spec).Primary))
	}
	return assumed, err
}

func writeJSON(out io.Writer, shown preview.Preview, warnings []string) error {
	err := encode(out, struct {
		preview.Preview
		Warnings []string `json:"warnings,omitempty"`
	}{shown, warnings})
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}
