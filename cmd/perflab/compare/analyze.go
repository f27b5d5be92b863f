// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

// maxInterimBlock is the last block that may have an interim analysis.
const maxInterimBlock = 100

type analyzeOptions struct {
	format             string
	baseline, twin     string
	primary            string
	higher, lower      string
	margin, confidence float64
	interim            string
	interimAnalyses    stats.InterimAnalyses
	seed               uint64
	isPrimary          *regexp.Regexp
	isHigher, isLower  *regexp.Regexp
	all                bool
}

const analyzeHelp = `Compare the arms of an experiment with its baseline. The input is a file or
standard input; no cluster is needed.

The input is CSV with the header ` + comparison.Header + `:
one row per run and metric, in any order. A missing run is a missing row. An
invalid row is rejected with its line and the reason. CSV files from spreadsheets
work too: with semicolons, decimal commas or in UTF-16.

The additive model arm + block is fitted by least squares for each scenario, metric
and arm. It is fitted to logarithms (scale "ratio": delta and interval are in percent
of the baseline). If the unit is % or a value is zero or negative, it is fitted to the
values (scale "difference": delta and interval are in the unit).

Verdicts; the first that applies is given:
  Equivalent    the equivalence interval (90 % at --confidence 95) lies within
                the margin: percent of the baseline's center on both scales
  Better/Worse  the adjusted interval excludes 0: the adjusted p-value is below
                5 % and that of the sign-flip test at most 5 % (at --confidence 95)
  Inconclusive  neither; a warning estimates how many blocks would settle it
  no verdict    fewer than 6 blocks hold both arms, or their error shares differ
                (metrics LOAD/errors in %): "" in JSON, "-" in tables

The interval in tables, and low and high in JSON, is the one of the verdict: the
equivalence interval for Equivalent, otherwise the adjusted interval. If the
sign-flip test disagrees with the t test, the interval extends to 0. Without a
verdict it is the unadjusted interval at --confidence.

Holm's procedure adjusts the metrics that match --primary, over all scenarios and
arms together. Benjamini and Hochberg's procedure adjusts the others, which are
exploratory. The error rate of an interval is divided by the factor that adjusts its
p-value. Without --primary, all metrics are primary.

PerfLab defines the direction of its own metrics, such as LOAD/requestsPerSecond, of
times, and of work per second, such as req/s or B/s. For other metrics, set
--higher-is-better or --lower-is-better: without a direction, a difference has no
verdict. Regular expressions match anywhere in a metric's name.

For early stopping, set --interim-analyses FIRST-LAST: the first and the last block
after which you may analyze, both chosen before the first run. Intervals, p-values and verdicts
then hold over all interim analyses together. The number of blocks in the file
determines which interim analysis this is.

Exit codes: 0 the comparison succeeded, whatever the verdicts; 1 it failed; 2 the
input is invalid.`

// NewAnalyze returns the command analyze.
func NewAnalyze() *cobra.Command {
	options := analyzeOptions{}
	command := &cobra.Command{
		Use:   "analyze [FILE]",
		Short: "Compare the arms of an experiment with its baseline",
		Long:  analyzeHelp,
		Example: `  perflab analyze --baseline xmx --primary '^cico/.*/average$' runs.csv
  perflab analyze --baseline xmx --margin 3 --higher-is-better throughput -o markdown < runs.csv
  perflab analyze --baseline xmx -o json runs.csv | jq '.comparisons[] | select(.verdict == "Worse")'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	options.addFlags(command.Flags())
	if err := command.MarkFlagRequired("baseline"); err != nil {
		panic(err)
	}
	return command
}

func (o *analyzeOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.baseline, "baseline", "", "baseline arm")
	flags.StringVar(&o.twin, "twin", "", "A/A control arm, configured as the baseline: where it differs in a primary metric (p adjusted by Holm's procedure over the control's metrics), there is no verdict")
	flags.Float64Var(&o.margin, "margin", 5, "equivalence margin, in percent of the baseline")
	flags.Float64Var(&o.confidence, "confidence", 95, "confidence level, in percent")
	flags.StringVar(&o.interim, "interim-analyses", "", "FIRST-LAST: the blocks after which interim analyses are planned (default: one analysis, after the last block)")
	console.AddEarlierName(flags, "looks", "interim-analyses")
	flags.StringVar(&o.primary, "primary", "", "regular expression of the primary metrics (default: all)")
	flags.StringVar(&o.higher, "higher-is-better", "", "regular expression of the metrics that get better when higher")
	flags.StringVar(&o.lower, "lower-is-better", "", "regular expression of the metrics that get better when lower")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the sign-flip test, which samples beyond 20 blocks")
	flags.StringVarP(&o.format, "output", "o", console.FormatTable, "output format: table, markdown or json")
	console.AddAllFlag(flags, &o.all)
	source.AddMaxMemoryFlag(flags)
}

func (o *analyzeOptions) run(command *cobra.Command, arguments []string) error {
	if err := o.check(); err != nil {
		return err
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	path := source.StandardInput
	if len(arguments) > 0 {
		path = arguments[0]
	}
	var table *comparison.Table
	err = in.Table(path, func(in io.Reader) (err error) {
		table, err = comparison.ReadCSV(in)
		return err
	})
	if err != nil {
		return err
	}
	comparisons, err := table.Compare(o.comparison())
	if err != nil {
		return err
	}
	if o.isPrimary != nil && !slices.ContainsFunc(comparisons, func(c comparison.Comparison) bool { return c.Primary }) {
		command.PrintErrf("perflab: --primary %q does not match any metric, so every verdict is exploratory\n", o.primary)
	}
	out := console.NewSink(command)
	return out.Finish("the comparisons", o.write(out, comparisons))
}

func (o *analyzeOptions) check() (err error) {
	if err := console.CheckFormat(o.format); err != nil {
		return err
	}
	if !(o.margin >= 0) || o.margin > 100 {
		return fmt.Errorf("%w: --margin %g must be from 0 to 100 percent", exit.ErrOption, o.margin)
	}
	if !(o.confidence > 50 && o.confidence < 100) {
		return fmt.Errorf("%w: --confidence %g must be above 50 and below 100 percent", exit.ErrOption, o.confidence)
	}
	if o.interimAnalyses, err = parseInterimAnalyses(o.interim); err != nil {
		return err
	}
	if o.isPrimary, err = console.CompileExpression("primary", o.primary); err != nil {
		return err
	}
	if o.isHigher, err = console.CompileExpression("higher-is-better", o.higher); err != nil {
		return err
	}
	o.isLower, err = console.CompileExpression("lower-is-better", o.lower)
	return err
}

// parseInterimAnalyses parses --interim-analyses.
func parseInterimAnalyses(text string) (stats.InterimAnalyses, error) {
	if text == "" {
		return stats.InterimAnalyses{}, nil
	}
	first, last, _ := strings.Cut(text, "-")
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errors.Join(errFrom, errTo) != nil || from < verdict.MinimumBlocks || to < from || to > maxInterimBlock {
		return stats.InterimAnalyses{}, fmt.Errorf("%w: --interim-analyses %q must be FIRST-LAST, two numbers of blocks from %d to %d, for example 6-20", exit.ErrOption, text, verdict.MinimumBlocks, maxInterimBlock)
	}
	return stats.InterimAnalyses{First: from, Last: to}, nil
}

func (o *analyzeOptions) comparison() comparison.Options {
	options := comparison.Options{
		Baseline: o.baseline, Twin: o.twin, MarginPercent: o.margin, ConfidencePercent: o.confidence, Interim: o.interimAnalyses, Seed: o.seed,
		Direction: o.direction,
	}
	if o.isPrimary != nil {
		options.Primary = func(name string) bool { return o.isPrimary.MatchString(metric.Plain(name)) }
	}
	return options
}

// direction of a metric: that of a flag, or the known one.
func (o *analyzeOptions) direction(name, unit string) verdict.Direction {
	switch plain := metric.Plain(name); {
	case o.isHigher != nil && o.isHigher.MatchString(plain):
		return verdict.HigherIsBetter
	case o.isLower != nil && o.isLower.MatchString(plain):
		return verdict.LowerIsBetter
	}
	return verdict.NewDirection(metric.Parse(name).Direction(unit, nil, nil))
}
