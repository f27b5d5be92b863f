// SPDX-License-Identifier: Apache-2.0

// Package compare has the commands that compare experiments, releases and tables.
package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

type compareOptions struct {
	from   *cluster.Cluster
	format string
	margin float64
	pairs  []string
	failOn string
}

// NewCompare returns the command compare.
func NewCompare() *cobra.Command {
	options := compareOptions{}
	command := &cobra.Command{
		Use:   "compare FIRST SECOND",
		Short: "Compare an experiment with another one, if their baselines are equivalent",
		Long: `Compare the second experiment with the first: yesterday's with last month's, one
cluster's with another's. Each is NAME or NAMESPACE/NAME in the cluster, or a file
that perflab export wrote (.yaml, .yml or .json; .gz if compressed).

Runs of two experiments are not in one random order, so a difference may come from the
day or the node. Therefore the baselines are compared first. In each primary metric
that both have, under scenarios with the same load, they must be equivalent (Welch's
interval, 90 % at a confidence level of 95 %, within the margin).

Then arms are compared, each relative to its own baseline: the effect in the second
experiment against the effect in the first, adjusted over all pairs and metrics by
Holm's procedure. Arms with the same name are compared. If there are none, each arm of
the first is compared with each arm of the second; --arms chooses pairs.

Differences between the systems are always listed.

Exit codes: 0 success, 1 failure, 2 a file is invalid, 5 the baselines are not
shown to be equivalent, 6 with --fail-on worse: an arm is worse.`,
		Example: `  perflab compare heap-2024-06 heap-2024-09 -n lab
  perflab compare heap-2024-06.yaml lab/heap --arms small=medium
  perflab compare before.yaml after.yaml --margin 10 -o json`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	options.from = cluster.New(flags)
	source.AddMaxMemoryFlag(flags)
	flags.StringVarP(&options.format, "output", "o", console.FormatTable, "output format: table, markdown or json")
	flags.Float64Var(&options.margin, "margin", 0, "equivalence margin, in percent of the first (default: the smaller one of the experiments)")
	flags.StringArrayVar(&options.pairs, "arms", nil, "FIRST=SECOND: arms to compare; repeatable")
	flags.StringVar(&options.failOn, "fail-on", "", exit.FailOnHelp)
	return command
}

func (o *compareOptions) run(command *cobra.Command, arguments []string) error {
	if err := console.CheckFormat(o.format); err != nil {
		return err
	}
	if err := exit.CheckFailOn(o.failOn, exit.FailOnWorse); err != nil {
		return err
	}
	if !(o.margin >= 0) || o.margin > 100 {
		return fmt.Errorf("%w: --margin %g must be from 0 to 100 percent", exit.ErrOption, o.margin)
	}
	pairs, err := parseArmPairs(o.pairs)
	if err != nil {
		return err
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	var records [2]crosscompare.ExperimentRuns
	for i, argument := range arguments {
		if records[i], err = source.ReadRecord(command.Context(), o.from, in, argument); err != nil {
			return err
		}
	}
	result, err := crosscompare.Compare(records[0], records[1], crosscompare.Options{MarginPercent: o.margin, Pairs: pairs})
	if err != nil {
		return err
	}
	out := console.NewSink(command)
	if err := out.Finish("the comparison", o.write(out, result)); err != nil {
		return err
	}
	return o.outcome(result)
}

func parseArmPairs(given []string) ([]crosscompare.Pair, error) {
	var pairs []crosscompare.Pair
	for _, text := range given {
		first, second, found := strings.Cut(text, "=")
		if !found || first == "" || second == "" {
			return nil, fmt.Errorf("%w: --arms %q must be FIRST=SECOND, for example small=medium", exit.ErrOption, text)
		}
		pairs = append(pairs, crosscompare.Pair{First: first, Second: second})
	}
	return pairs, nil
}

func (o *compareOptions) outcome(result *crosscompare.Result) error {
	if !result.Alike {
		return exit.ErrNotEquivalent
	}
	for i := range result.Arms {
		if c := &result.Arms[i]; o.failOn == exit.FailOnWorse && c.Verdict == verdict.Worse {
			return fmt.Errorf("%w: %s of %s in arm %q", exit.ErrRegression, metric.Plain(c.Metric), c.Scenario, c.Second)
		}
	}
	return nil
}

func (o *compareOptions) write(out io.Writer, result *crosscompare.Result) error {
	if o.format == console.FormatJSON {
		return writeCrossJSON(out, result)
	}
	sheet := &console.Sheet{Page: *console.NewPage(out), Markdown: o.format == console.FormatMarkdown}
	writeCrossComparison(sheet, result)
	return sheet.Err
}
