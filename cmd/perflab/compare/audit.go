// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"
	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/text/prose"
)

type auditOptions struct {
	all    bool
	format string
	fail   bool
}

// NewAudit returns the command audit.
func NewAudit() *cobra.Command {
	options := auditOptions{}
	command := &cobra.Command{
		Use:   "audit [FILE...]",
		Short: "Check published deltas against the numbers next to them",
		Long: `Check published deltas against the numbers next to them, from files or standard
input. Each delta that does not follow is listed with the expected value.

The input is one of:
  - a report that perflab report wrote as Markdown; followed by the same report as
    CSV, its values are checked against the runs as well;
  - CSV with the columns report, table, configuration, scenario, metric, value, unit
    and kind, and any others. A row of kind measured is a number. A row of kind
    published_delta is the printed difference of two numbers, which its configuration
    names, as in "new minus old" or "new vs old"; otherwise the two configurations
    that explain most deltas of the column are used. Other kinds are ignored.

A delta in % is the difference in percent of the second side, or percentage points if
the numbers are percentages. It follows if the numbers, as printed, give it when
rounded to its digits. A percentage is within rounding if it is off by at most one
unit of its last digit, and correct if the numbers were rounded after it was computed.
The other outcomes are:
  sign            the size is right, the sign is reversed
  base            percent of the first side, not of the second
  sign and base   both
  last digit      a difference whose last digit is not that of the numbers
  cut             digits were truncated, not rounded
  too few digits  the numbers have too few digits to show it
  size            no reading of the two numbers gives it
  runs            a report's value is not the center of the runs in its CSV
Deltas whose numbers are missing are listed as unchecked. Deltas that a report marks
with † allow for missing runs, and are counted separately.

Exit codes: 0 the deltas were checked, 1 failure, 2 the input is invalid, 3 with
--fail: a delta does not follow.`,
		Example: `  perflab audit report.csv
  perflab audit -o json report.csv | jq '.slips[] | {metric, printed, expected, slip}'
  perflab audit --fail report-*.csv
  perflab report heap -o md > heap.md && perflab report heap -o csv > heap.csv && perflab audit --fail heap.md heap.csv`,
		RunE: func(command *cobra.Command, arguments []string) error { return options.run(command, arguments) },
	}
	flags := command.Flags()
	flags.StringVarP(&options.format, "output", "o", console.FormatTable, "output format: table, markdown or json")
	source.AddMaxMemoryFlag(flags)
	console.AddAllFlag(flags, &options.all)
	flags.BoolVar(&options.fail, "fail", false, "exit with code 3 if a delta does not follow")
	return command
}

func (o auditOptions) run(command *cobra.Command, paths []string) error {
	if err := console.CheckFormat(o.format); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{source.StandardInput}
	}
	in, err := source.CommandInput(command)
	if err != nil {
		return err
	}
	var found auditResult
	for _, path := range paths {
		if err := in.Table(path, func(in io.Reader) error { return found.read(path, in) }); err != nil {
			return err
		}
	}
	out := console.NewSink(command)
	if err := out.Finish("the findings", o.write(out, found)); err != nil {
		return err
	}
	if o.fail && len(found.Slips) > 0 {
		return fmt.Errorf("%w: %d of %d", exit.ErrSlips, len(found.Slips), found.Deltas)
	}
	return nil
}

// auditResult has the findings in all files.
type auditResult struct {
	Deltas  int `json:"deltas"`
	Follows int `json:"follows"`
	// Adjusted are deltas that a report marks as adjusted.
	Adjusted int `json:"adjusted"`
	// Values of reports were compared with the runs of their CSV.
	Values int `json:"values"`
	// Rounding are explained by numbers that were rounded before they were printed.
	Rounding  []slip `json:"rounding"`
	Slips     []slip `json:"slips"`
	Unchecked []slip `json:"unchecked"`

	// report is the last report read, and reportPath its file.
	report     []audit.Row
	reportPath string
}

// errNoReport means that runs have no report to compare with.
var errNoReport = fmt.Errorf("%w: name the report in Markdown first, then the CSV with its runs", audit.ErrRows)

// unquoted removes the quotes and separators that a spreadsheet adds to a header.
var unquoted = strings.NewReplacer(`"`, "", ";", ",", "\t", ",")

// read detects the format of a file by its beginning, and checks its content.
func (a *auditResult) read(path string, in io.Reader) error {
	buffered := bufio.NewReader(in)
	head, _ := buffered.Peek(2 * len(comparison.Header)) // A shorter file has another beginning.
	switch first, _, _ := strings.Cut(string(head), "\n"); {
	case unquoted.Replace(strings.TrimSpace(first)) == comparison.Header:
		return a.readRuns(buffered)
	case strings.HasPrefix(first, "# "):
		rows, err := audit.ReadMarkdown(buffered)
		if err != nil {
			return err
		}
		a.report, a.reportPath = rows, path
		a.add(path, audit.Check(rows))
		return nil
	}
	rows, err := audit.ReadCSV(buffered)
	if err != nil {
		return err
	}
	// Reports in different files are different reports.
	a.add(path, audit.Check(rows))
	return nil
}

// readRuns compares the values of the preceding report with its runs.
func (a *auditResult) readRuns(in io.Reader) error {
	runs, err := audit.ReadRuns(in)
	if err != nil {
		return err
	}
	if a.reportPath == "" {
		return errNoReport
	}
	for _, finding := range audit.CheckRuns(a.report, runs) {
		a.Values++
		switch {
		case finding.Outcome.IsError():
			a.Slips = append(a.Slips, newSlip(a.reportPath, finding))
		case finding.Outcome == audit.Unchecked:
			a.Unchecked = append(a.Unchecked, newSlip(a.reportPath, finding))
		}
	}
	return nil
}

// slip is a delta with the expected value.
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

// side is one of the two numbers of a delta.
type side struct {
	Configuration string  `json:"configuration"`
	Value         float64 `json:"value"`
	Unit          string  `json:"unit"`
}

func (a *auditResult) add(path string, findings []audit.Finding) {
	for _, finding := range findings {
		a.Deltas++
		switch {
		case finding.Outcome == audit.Follows:
			a.Follows++
		case finding.Outcome == audit.Adjusted:
			a.Adjusted++
		case finding.Outcome == audit.Rounding:
			a.Rounding = append(a.Rounding, newSlip(path, finding))
		case finding.Outcome.IsError():
			a.Slips = append(a.Slips, newSlip(path, finding))
		default:
			a.Unchecked = append(a.Unchecked, newSlip(path, finding))
		}
	}
}

func newSlip(path string, finding audit.Finding) slip {
	delta := finding.Delta
	result := slip{
		File: path, Line: delta.Line, Report: delta.Report, Table: delta.Table, Configuration: delta.Configuration,
		Scenario: delta.Scenario, Metric: delta.Metric, Unit: delta.Unit, Printed: delta.Value,
		Slip: finding.Outcome, Note: finding.Note,
	}
	if finding.Outcome == audit.Unchecked {
		return result
	}
	// Digits beyond the twelfth come from float64, not from the table.
	result.Expected, result.Off = finiteOrNil(console.RoundTo(finding.Expected, 12)), finiteOrNil(console.RoundTo(finding.Off, 9))
	if finding.Outcome == audit.Runs {
		return result
	}
	result.Minuend = &side{finding.Minuend.Configuration, finding.Minuend.Value, finding.Minuend.Unit}
	result.Subtrahend = &side{finding.Subtrahend.Configuration, finding.Subtrahend.Value, finding.Subtrahend.Unit}
	return result
}

func (o auditOptions) write(out io.Writer, found auditResult) error {
	if o.format == console.FormatJSON {
		// Empty lists are [] in JSON, not null.
		found.Rounding = append([]slip{}, found.Rounding...)
		found.Slips = append([]slip{}, found.Slips...)
		found.Unchecked = append([]slip{}, found.Unchecked...)
		return console.Encode(out, found)
	}
	sheet := console.Sheet{Page: *console.NewPage(out), Markdown: o.format == console.FormatMarkdown, All: o.all}
	sheet.Line("%s: %d follow, %d within rounding, %d slipped, %d unchecked%s",
		prose.Counted(found.Deltas, "published delta"), found.Follows, len(found.Rounding), len(found.Slips), len(found.Unchecked), found.reportCounts())
	writeSlips(&sheet, "Slipped", found.Slips)
	writeSlips(&sheet, "Within rounding", found.Rounding)
	writeUnchecked(&sheet, found.Unchecked)
	return sheet.Err
}

// reportCounts are the counts that only reports have.
func (a *auditResult) reportCounts() string {
	text := ""
	if a.Adjusted > 0 {
		text = fmt.Sprintf(", %d marked as adjusted", a.Adjusted)
	}
	if a.Values > 0 {
		text += fmt.Sprintf("; %s compared with the runs", prose.Counted(a.Values, "value"))
	}
	return text
}

// source is the calculation of a delta, or the runs of a number.
func (s slip) source() string {
	if s.Minuend == nil {
		return "the runs of " + s.Configuration
	}
	first := console.FormatExact(s.Minuend.Value)
	if s.Minuend.Unit != s.Subtrahend.Unit {
		first = console.WithUnit(first, s.Minuend.Unit)
	}
	return fmt.Sprintf("%s less %s", first, console.WithUnit(console.FormatExact(s.Subtrahend.Value), s.Subtrahend.Unit))
}

// valueOrNaN returns NaN for null.
func valueOrNaN(value *float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return *value
}

func writeSlips(sheet *console.Sheet, title string, slips []slip) {
	if len(slips) == 0 {
		return
	}
	sheet.Title(title)
	admitted := sheet.Admit(len(slips))
	rows := [][]string{{"file:line", "table", "scenario", "metric", "from", "printed", "should be", "off by", "slip", "note"}}
	for _, s := range slips[:admitted] {
		rows = append(rows, []string{
			s.File + ":" + strconv.Itoa(s.Line), s.Table, s.Scenario, s.Metric,
			s.source(), console.WithUnit(console.FormatExact(s.Printed), s.Unit), console.WithUnit(console.FormatRounded(valueOrNaN(s.Expected)), s.Unit), console.FormatSigned(valueOrNaN(s.Off)), string(s.Slip), s.Note,
		})
	}
	sheet.Rows(rows, "table", "off by", "note")
	sheet.WriteOmitted(len(slips) - admitted)
}

func writeUnchecked(sheet *console.Sheet, slips []slip) {
	if len(slips) == 0 {
		return
	}
	sheet.Title("Unchecked")
	admitted := sheet.Admit(len(slips))
	rows := [][]string{{"file:line", "table", "scenario", "metric", "printed", "why"}}
	for _, s := range slips[:admitted] {
		rows = append(rows, []string{s.File + ":" + strconv.Itoa(s.Line), s.Table, s.Scenario, s.Metric, console.WithUnit(console.FormatExact(s.Printed), s.Unit), s.Note})
	}
	sheet.Rows(rows, "table")
	sheet.WriteOmitted(len(slips) - admitted)
}
