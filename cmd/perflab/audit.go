// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/internal/audit"
	"perflab.dev/perflab/internal/prose"
)

// errSlips says that a delta does not follow, where that is to fail.
var errSlips = errors.New("published deltas do not follow from the numbers next to them")

type auditOptions struct {
	format string
	fail   bool
}

func newAudit() *cobra.Command {
	options := auditOptions{}
	command := &cobra.Command{
		Use:   "audit [FILE...]",
		Short: "Check published deltas against the numbers next to them",
		Long: `Check published deltas against the numbers next to them, from files or standard
input, and list each that does not follow, with what it should be.

The input is CSV with the columns report, table, configuration, scenario,
metric, value, unit and kind, and any others. A row of kind measured is a number,
one of kind published_delta the printed difference of two: its configuration
says which, as in "new minus old" or "new vs old"; where it does not, the two
configurations that explain most deltas of the column are taken. Other kinds
are passed over.

A delta in % is the difference in percent of the second side, or percentage
points where the numbers are percentages. The digits printed are allowed for:
what rounding or cutting can explain is listed apart. The rest slipped:
  sign           the size is right, the sign is the wrong way round
  base           percent of the first side, not of the second
  sign and base  both
  size           no reading of the two numbers gives it
Deltas whose numbers are missing are listed as unchecked.

Exit codes: 0 the deltas were checked, 1 they could not be, 2 the input is
invalid, 3 some slipped and --fail is given.`,
		Example: `  perflab audit report.csv
  perflab audit -o json report.csv | jq '.slips[] | {metric, printed, expected, slip}'
  perflab audit --fail report-*.csv`,
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	flags.StringVarP(&options.format, "output", "o", formatTable, "output format: table, markdown or json")
	addMaxMemory(flags)
	flags.BoolVar(&options.fail, "fail", false, "end with exit code 3 if a delta slipped")
	return command
}

func (o auditOptions) run(command *cobra.Command, paths []string) error {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{standardInput}
	}
	in, err := inputOf(command)
	if err != nil {
		return err
	}
	var found audited
	for _, path := range paths {
		err := in.table(path, func(in io.Reader) error {
			rows, err := audit.ReadCSV(in)
			if err != nil {
				return err
			}
			// A report is told apart from another by its file as well.
			found.add(path, audit.Check(rows))
			return nil
		})
		if err != nil {
			return err
		}
	}
	out := bufio.NewWriter(command.OutOrStdout())
	if err := errors.Join(o.write(out, found), out.Flush()); err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	if o.fail && len(found.Slips) > 0 {
		return fmt.Errorf("%w: %d of %d", errSlips, len(found.Slips), found.Deltas)
	}
	return nil
}

// audited is what was found in all files.
type audited struct {
	Deltas  int `json:"deltas"`
	Follows int `json:"follows"`
	// Rounding are explained by digits that were rounded or cut.
	Rounding  []slip `json:"rounding"`
	Slips     []slip `json:"slips"`
	Unchecked []slip `json:"unchecked"`
}

// slip is one delta with what it should be.
type slip struct {
	File          string        `json:"file"`
	Line          int           `json:"line"`
	Report        string        `json:"report"`
	Table         string        `json:"table"`
	Configuration string        `json:"configuration"`
	Scenario      string        `json:"scenario"`
	Metric        string        `json:"metric"`
	Unit          string        `json:"unit"`
	Printed       float64       `json:"printed"`
	Expected      *float64      `json:"expected"`
	Off           *float64      `json:"off"`
	Slip          audit.Outcome `json:"slip"`
	Minuend       *side         `json:"minuend"`
	Subtrahend    *side         `json:"subtrahend"`
	Note          string        `json:"note"`
}

// side is one of the numbers that a delta comes from.
type side struct {
	Configuration string  `json:"configuration"`
	Value         float64 `json:"value"`
	Unit          string  `json:"unit"`
}

func (a *audited) add(path string, findings []audit.Finding) {
	for _, finding := range findings {
		a.Deltas++
		switch {
		case finding.Outcome == audit.Follows:
			a.Follows++
		case finding.Outcome == audit.Rounding:
			a.Rounding = append(a.Rounding, slipOf(path, finding))
		case finding.Outcome.Slip():
			a.Slips = append(a.Slips, slipOf(path, finding))
		default:
			a.Unchecked = append(a.Unchecked, slipOf(path, finding))
		}
	}
}

func slipOf(path string, finding audit.Finding) slip {
	delta := finding.Delta
	result := slip{
		File: path, Line: delta.Line, Report: delta.Report, Table: delta.Table, Configuration: delta.Configuration,
		Scenario: delta.Scenario, Metric: delta.Metric, Unit: delta.Unit, Printed: delta.Value,
		Slip: finding.Outcome, Note: finding.Note,
	}
	if finding.Outcome == audit.Unchecked {
		return result
	}
	// The twelfth digit is float64's, not the table's.
	expected, off := roundTo(finding.Expected, 12), roundTo(finding.Off, 9)
	result.Expected, result.Off = &expected, &off
	result.Minuend = &side{finding.Minuend.Configuration, finding.Minuend.Value, finding.Minuend.Unit}
	result.Subtrahend = &side{finding.Subtrahend.Configuration, finding.Subtrahend.Value, finding.Subtrahend.Unit}
	return result
}

func (o auditOptions) write(out io.Writer, found audited) error {
	if o.format == formatJSON {
		// Lists are always there, if empty.
		found.Rounding = append([]slip{}, found.Rounding...)
		found.Slips = append([]slip{}, found.Slips...)
		found.Unchecked = append([]slip{}, found.Unchecked...)
		return encode(out, found)
	}
	sheet := sheet{page: page{out: out}, markdown: o.format == formatMarkdown}
	sheet.line("%s: %d follow, %d within rounding, %d slipped, %d unchecked",
		prose.Counted(found.Deltas, "published delta"), found.Follows, len(found.Rounding), len(found.Slips), len(found.Unchecked))
	writeSlips(&sheet, "Slipped", found.Slips)
	writeSlips(&sheet, "Within rounding", found.Rounding)
	writeUnchecked(&sheet, found.Unchecked)
	return sheet.err
}

func writeSlips(sheet *sheet, title string, slips []slip) {
	if len(slips) == 0 {
		return
	}
	sheet.title(title)
	rows := [][]string{{"file:line", "table", "scenario", "metric", "from", "printed", "should be", "off by", "slip", "note"}}
	for _, s := range slips {
		rows = append(rows, []string{
			s.File + ":" + strconv.Itoa(s.Line), s.Table, s.Scenario, s.Metric,
			fmt.Sprintf("%s less %s %s", plain(s.Minuend.Value), plain(s.Subtrahend.Value), s.Minuend.Unit),
			withUnit(plain(s.Printed), s.Unit), withUnit(rounded(*s.Expected), s.Unit), signed(*s.Off), string(s.Slip), s.Note,
		})
	}
	sheet.rows(rows)
}

func writeUnchecked(sheet *sheet, slips []slip) {
	if len(slips) == 0 {
		return
	}
	sheet.title("Unchecked")
	rows := [][]string{{"file:line", "table", "scenario", "metric", "printed", "why"}}
	for _, s := range slips {
		rows = append(rows, []string{s.File + ":" + strconv.Itoa(s.Line), s.Table, s.Scenario, s.Metric, withUnit(plain(s.Printed), s.Unit), s.Note})
	}
	sheet.rows(rows)
}
