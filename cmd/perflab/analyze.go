// SPDX-License-Identifier: Apache-2.0

package main

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

	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/stats"
	"perflab.dev/perflab/internal/verdict"
)

// maxLooks is the largest number of blocks that looks are planned for.
const maxLooks = 100

// errOption says that an option's value makes no sense.
var errOption = errors.New("an option is invalid")

type analyzeOptions struct {
	format             string
	baseline, twin     string
	primary            string
	higher, lower      string
	margin, confidence float64
	looks              string
	looked             stats.Looks
	seed               uint64
	isPrimary          *regexp.Regexp
	isHigher, isLower  *regexp.Regexp
	all                bool
}

const analyzeHelp = `Compare the arms of an experiment with its baseline, from a file or standard
input, without a cluster.

The input is CSV with the header ` + comparison.Header + `:
one row per run and metric, in any order. A missing run is a missing row. Bad
rows are refused with their line and the reason. Files saved by
spreadsheets are read as well: with semicolons, decimal commas or in UTF-16.

Per scenario, metric and arm, the additive model arm + block is fitted by least
squares, on logarithms (scale "ratio": delta and intervals are percent of the
baseline). Where the unit is % or a value is at or below zero, it is fitted on plain
values (scale "difference": delta and intervals are in the unit).

Verdicts, asked in this order:
  Equivalent    the equivalence interval (90 % at --confidence 95) lies within
                the margin: percent of the baseline's center on both scales
  Better/Worse  the adjusted interval excludes 0: the adjusted p-value is below
                5 % and that of the sign-flip test at most 5 % (at --confidence 95)
  Inconclusive  neither; a warning tells about how many blocks would settle it
  no verdict    fewer than 6 blocks hold both arms, or their error shares differ
                (metrics LOAD/errors in %): "" in JSON, "-" in tables

The interval in tables, and low and high in JSON, are those that decided: of
Equivalent the equivalence interval, otherwise the adjusted one. Where the
sign-flip test does not agree with the t test, the interval reaches to 0. Without
a verdict it is the interval at --confidence, not adjusted.

Metrics that match --primary are adjusted together over all scenarios and arms
by Holm's procedure; the rest is exploratory and adjusted by Benjamini and
Hochberg's. The error share of an interval is divided by the factor by which its
p is adjusted. Without --primary all metrics are primary. Which way a metric gets
better is known by PerfLab's own names, such as LOAD/requestsPerSecond, and by
units: of times, and of work per second such as req/s or B/s. Of others,
--higher-is-better and --lower-is-better say it; without, a difference has no
verdict. Regular expressions match anywhere in the metric's name.

Who looks after each block, to stop once that is enough, says so with --looks
FIRST-LAST: the first block after which one looks, and the last there may be,
both chosen beforehand. Intervals, p-values and verdicts then hold at all looks
together; as many blocks as the file has make the look that this one is.

Exit codes: 0 the comparison was made, whatever its verdicts, 1 it could not be
made, 2 the input is invalid.`

func newAnalyze() *cobra.Command {
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
	flags.StringVar(&o.baseline, "baseline", "", "arm that the others are compared with")
	flags.StringVar(&o.twin, "twin", "", "arm configured as the baseline: where it differs on a primary metric (p adjusted by Holm's procedure over the twin's), there is no verdict")
	flags.Float64Var(&o.margin, "margin", 5, "difference that does not matter, in percent of the baseline")
	flags.Float64Var(&o.confidence, "confidence", 95, "confidence of the intervals, in percent")
	flags.StringVar(&o.looks, "looks", "", "FIRST-LAST: one looks after each block from the first to the last, and stops once that is enough (default: once, when all blocks are done)")
	flags.StringVar(&o.primary, "primary", "", "regular expression of the metrics that decide; all if not given")
	flags.StringVar(&o.higher, "higher-is-better", "", "regular expression of the metrics that get better when higher")
	flags.StringVar(&o.lower, "lower-is-better", "", "regular expression of the metrics that get better when lower")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the sign-flip test, which draws at random beyond 20 blocks")
	flags.StringVarP(&o.format, "output", "o", formatTable, "output format: table, markdown or json")
	addAll(flags, &o.all)
	addMaxMemory(flags)
}

func (o *analyzeOptions) run(command *cobra.Command, arguments []string) error {
	if err := o.check(); err != nil {
		return err
	}
	in, err := inputOf(command)
	if err != nil {
		return err
	}
	path := standardInput
	if len(arguments) > 0 {
		path = arguments[0]
	}
	var table *comparison.Table
	err = in.table(path, func(in io.Reader) (err error) {
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
		command.PrintErrf("perflab: --primary %q matches no metric, so that every verdict is exploratory\n", o.primary)
	}
	out := newSink(command)
	return out.end("the comparisons", o.write(out, comparisons))
}

func (o *analyzeOptions) check() (err error) {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if !(o.margin >= 0) || o.margin > 100 {
		return fmt.Errorf("%w: --margin %g must be from 0 to 100 percent", errOption, o.margin)
	}
	if !(o.confidence > 50 && o.confidence < 100) {
		return fmt.Errorf("%w: --confidence %g must be above 50 and below 100 percent", errOption, o.confidence)
	}
	if o.looked, err = looksOf(o.looks); err != nil {
		return err
	}
	if o.isPrimary, err = expression("primary", o.primary); err != nil {
		return err
	}
	if o.isHigher, err = expression("higher-is-better", o.higher); err != nil {
		return err
	}
	o.isLower, err = expression("lower-is-better", o.lower)
	return err
}

// looksOf reads --looks.
func looksOf(text string) (stats.Looks, error) {
	if text == "" {
		return stats.Looks{}, nil
	}
	first, last, _ := strings.Cut(text, "-")
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errors.Join(errFrom, errTo) != nil || from < verdict.MinimumBlocks || to < from || to > maxLooks {
		return stats.Looks{}, fmt.Errorf("%w: --looks %q must be FIRST-LAST, two numbers of blocks from %d to %d, for example 6-20", errOption, text, verdict.MinimumBlocks, maxLooks)
	}
	return stats.Looks{First: from, Last: to}, nil
}

func checkFormat(format string) error {
	return checkOneOf(format, formatTable, formatMarkdown, formatJSON)
}

func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // No expression is a choice, not a fault.
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: --%s: %w", errOption, flag, err)
	}
	return compiled, nil
}

func (o *analyzeOptions) comparison() comparison.Options {
	options := comparison.Options{
		Baseline: o.baseline, Twin: o.twin, MarginPercent: o.margin, ConfidencePercent: o.confidence, Looks: o.looked, Seed: o.seed,
		Direction: o.direction,
	}
	if o.isPrimary != nil {
		options.Primary = func(name string) bool { return o.isPrimary.MatchString(metric.Plain(name)) }
	}
	return options
}

// direction of a metric, as it is asked for or else known.
func (o *analyzeOptions) direction(name, unit string) verdict.Direction {
	switch plain := metric.Plain(name); {
	case o.isHigher != nil && o.isHigher.MatchString(plain):
		return verdict.HigherIsBetter
	case o.isLower != nil && o.isLower.MatchString(plain):
		return verdict.LowerIsBetter
	}
	return verdict.DirectionOf(metric.Parse(name).Direction(unit, nil, nil))
}
