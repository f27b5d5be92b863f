// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/preview"
	"perflab.dev/perflab/internal/validate"
)

// Formats of the output.
const (
	formatText = "text"
	formatJSON = "json"
)

var (
	errNoExperiment = errors.New("the files hold no PerfExperiment: name one with -f experiment.yaml")
	errFormat       = errors.New("unknown output format")
	errAssumption   = errors.New("an assumption must be above zero")
)

type planOptions struct {
	files   []string
	format  string
	assumed preview.Assumptions
}

func newPlan() *cobra.Command {
	options := planOptions{}
	command := &cobra.Command{
		Use:   "plan -f FILE...",
		Short: "Show what an experiment will do, without a cluster",
		Long: `Show what an experiment will do, without a cluster: its arms and what differs
between them, the heap each module gets in each arm, the runs in order and how
long they take. A manifest the cluster would refuse is refused with the same
sentences.

Exit codes: 0 the plan was shown, 1 it could not be made, 2 the manifest is
invalid.`,
		Example: `  perflab plan -f experiment.yaml
  perflab plan -f config/samples/seed-004-maxram-vs-xmx.yaml -f config/systems/folio-poppy.yaml
  perflab plan -f experiment.yaml -o json | jq '.heaps[] | select(.arm == "maxram-66")'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	flags := command.Flags()
	flags.StringArrayVarP(&options.files, "file", "f", nil, `file with the experiment, or with the PerfSystem it refers to; "-" is standard input; may be given several times`)
	flags.StringVarP(&options.format, "output", "o", formatText, "output format: text or json")
	flags.Float64Var(&options.assumed.RecordsPerSecond, "records-per-second", 25, "records an import is assumed to process per second")
	flags.DurationVar(&options.assumed.Overhead, "overhead", 2*time.Minute, "time a run is assumed to take beside its load")
	if err := command.MarkFlagRequired("file"); err != nil {
		panic(err)
	}
	return command
}

func (o planOptions) run(command *cobra.Command) error {
	if o.format != formatText && o.format != formatJSON {
		return fmt.Errorf("%w %q: write -o text or -o json", errFormat, o.format)
	}
	if o.assumed.RecordsPerSecond <= 0 || o.assumed.Overhead < 0 {
		return fmt.Errorf("%w: --records-per-second %g, --overhead %s", errAssumption, o.assumed.RecordsPerSecond, o.assumed.Overhead)
	}
	read, err := readManifest(command.Context(), command.InOrStdin(), o.files)
	if err != nil {
		return err
	}
	if len(read.experiments) == 0 {
		return errNoExperiment
	}
	for _, experiment := range read.experiments {
		if err := o.show(command, read, experiment); err != nil {
			return err
		}
	}
	return nil
}

func (o planOptions) show(command *cobra.Command, read manifest, experiment *v1alpha1.PerfExperiment) error {
	system, err := read.systemOf(experiment)
	if err != nil {
		return err
	}
	faults, warnings := validate.Experiment(experiment, system)
	if len(faults) > 0 {
		return refused(fmt.Sprintf("PerfExperiment %q", experiment.Name), faults)
	}
	shown := preview.Of(experiment, *system, o.assumed)
	if o.format == formatJSON {
		return writeJSON(command.OutOrStdout(), shown, warnings)
	}
	if err := writePlan(command.OutOrStdout(), shown, warnings); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

func writeJSON(out io.Writer, shown preview.Preview, warnings []string) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		preview.Preview
		Warnings []string `json:"warnings,omitempty"`
	}{shown, warnings})
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}
