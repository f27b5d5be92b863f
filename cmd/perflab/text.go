// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fatih/color"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/preview"
	"perflab.dev/perflab/internal/text/prose"
)

// maxListedChanges is how many changes of an arm are listed.
const maxListedChanges = 12

// page writes lines and keeps the first error.
type page struct {
	out io.Writer
	style
	err error
	// omitted are the columns that the previous table omitted.
	omitted string
}

// newPage returns a page in the style of the writer.
func newPage(out io.Writer) *page { return &page{out: out, style: styleOf(out)} }

func (p *page) line(format string, values ...any) {
	p.write(wrapHanging(prose.Printable(fmt.Sprintf(format, values...)), p.width))
}

// heading begins a section.
func (p *page) heading(shade *color.Color, format string, values ...any) {
	p.write("\n" + p.paint(shade, wrapHanging(prose.Printable(fmt.Sprintf(format, values...)), p.width)))
}

func (p *page) write(line string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, line)
	}
}

// table writes aligned rows. On a terminal they fit its width, and columns named by
// spare may be omitted.
func (p *page) table(rows [][]string, spare ...string) {
	if p.err != nil {
		return
	}
	if p.style != (style{}) {
		p.fit(rows, spare)
		return
	}
	var aligned bytes.Buffer
	writer := tabwriter.NewWriter(&aligned, 0, 0, columnGap, ' ', 0)
	for _, row := range rows {
		// Writes to the buffer can't fail.
		_, _ = fmt.Fprintln(writer, prose.Printable("  "+strings.Join(row, "\t")))
	}
	_ = writer.Flush()
	for line := range strings.Lines(aligned.String()) {
		p.write(strings.TrimRight(line, " \n"))
	}
}

// fit writes a table that fits, and mentions omitted columns once.
func (p *page) fit(rows [][]string, spare []string) {
	printable := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, text := range row {
			cells = append(cells, strings.Join(strings.FieldsFunc(prose.Printable(text), func(r rune) bool { return r == '\n' || r == '\t' }), " "))
		}
		printable = append(printable, cells)
	}
	table := fitTable(printable, p.width, spare)
	for _, line := range table.render(p.style) {
		p.write(line)
	}
	if left := strings.Join(table.omitted, ", "); left != "" && left != p.omitted {
		p.line("  columns omitted to fit the terminal: %s; use a wider terminal, a pipe or -o json", left)
		p.omitted = left
	}
}

func writePlan(out io.Writer, shown preview.Preview, warnings []string) error {
	p := newPage(out)
	p.line("Experiment %s: %s (%s x %s x %s), %s %s", shown.Experiment,
		prose.Counted(len(shown.Runs), "run"), prose.Counted(len(shown.Arms), "arm"), prose.Counted(len(shown.Scenarios), "scenario"),
		prose.Counted(int(shown.Blocks), "block"), precisionWord(shown.WallTime), shown.WallTime.Total)
	if shown.WallTime.Max > 0 {
		p.line("  up to %s if design.target adds blocks", shown.WallTime.Max)
	}
	p.line("  assuming that %s", strings.Join(shown.WallTime.Assumes, " and "))
	for _, load := range shown.WallTime.Unknown {
		p.line("  not counted: %s", load)
	}
	writeQuestion(p, shown)
	writeArms(p, shown.Arms)
	writeCosts(p, shown.Costs)
	writeHeaps(p, shown)
	writeRuns(p, shown)
	if len(warnings) > 0 {
		p.heading(colorWarning, "Warnings")
	}
	for _, warning := range warnings {
		p.line("  - %s", warning)
	}
	return p.err
}

// precisionWord is the precision of an estimate.
func precisionWord(time preview.Estimate) string {
	if len(time.Unknown) > 0 {
		return "more than"
	}
	return "about"
}

// writeQuestion writes the question and the statistical power.
func writeQuestion(p *page, shown preview.Preview) {
	if len(shown.Primary) == 0 {
		p.heading(colorStrong, "Question: no primary metric, so all comparisons are exploratory")
		return
	}
	p.heading(colorStrong, "Question: does any arm differ by more than %d %%, at %d %% confidence?", shown.MarginPercent, shown.ConfidencePercent)
	for _, name := range shown.Primary {
		p.line("  %s", metric.Plain(name))
	}
	for _, capacity := range shown.Capacities {
		p.line("  %s", capacity)
	}
	for _, fault := range shown.Faults {
		p.line("  %s", fault)
	}
	if len(shown.Power) == 0 {
		return
	}
	p.heading(colorStrong, "Statistical power (%s)", prose.Counted(shown.Power[0].Family, "primary comparison"))
	for _, power := range shown.Power {
		for _, sentence := range power.Sentences(shown.MarginPercent) {
			p.line("  %s", sentence)
		}
	}
	writeDesigns(p, shown)
}

// writeDesigns writes alternative designs, if there are any.
func writeDesigns(p *page, shown preview.Preview) {
	if len(shown.Designs) < 2 {
		return
	}
	p.heading(colorStrong, "Other designs, and the effect that each detects with 80 %% power")
	rows := [][]string{{"design", "runs", "effect", "duration"}}
	for i, design := range shown.Designs {
		name := design.String()
		if i == 0 {
			name = "as declared: " + name
		}
		rows = append(rows, []string{name, fmt.Sprint(design.Runs), effectSize(design), precisionWord(shown.WallTime) + " " + design.WallTime.String()})
	}
	p.table(rows)
	for _, note := range designNotes(shown.Designs) {
		p.line("  %s", note)
	}
}

func effectSize(design preview.Design) string {
	if design.DetectablePercent == 0 {
		return "no effect"
	}
	return fmt.Sprintf("%.1f %%", design.DetectablePercent)
}

// designNotes explain designs, without duplicates.
func designNotes(designs []preview.Design) []string {
	var notes []string
	for _, design := range designs {
		if design.Interim != nil {
			notes = append(notes, fmt.Sprintf("until verdicts (target: {verdicts: true, maxBlocks: %d}): %s; runs and duration are for equal arms", design.Interim.Last, design.Interim))
		}
		if len(design.Scenarios) > 0 {
			notes = append(notes, fmt.Sprintf("%s uses only %s: %s", design.Alone, prose.Counted(len(design.Scenarios), "scenario"), prose.Enumerate(design.Scenarios)))
		}
		if len(design.Windows) > 0 {
			first := design.Windows[0]
			notes = append(notes, fmt.Sprintf("windows half as long, with the same warm-up and tail: %s lasts %s instead of %s, and runs of one arm spread by at most %.3g %%", first.Load, first.Duration, first.Declared, design.CVPercent))
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

func writeCosts(p *page, costs []preview.Cost) {
	if len(costs) == 0 {
		return
	}
	p.heading(colorStrong, "Cost of each arm's nodes")
	for _, cost := range costs {
		p.line("  %s: %s", cost.Arm, cost)
	}
}

func writeArms(p *page, all []preview.Arm) {
	p.heading(colorStrong, "Arms")
	for _, arm := range all {
		switch {
		case arm.Baseline:
			p.line("  %s (baseline)", arm.Name)
		case arm.Twin:
			p.line("  %s: A/A control", arm.Name)
		case len(arm.Differences) == 0:
			p.line("  %s: same as the baseline", arm.Name)
		default:
			p.line("  %s", arm.Name)
		}
		changes := arms.Changes(arm.Differences)
		for _, change := range changes[:min(len(changes), maxListedChanges)] {
			p.line("    %s: %s -> %s", change.Setting, change.Baseline, change.Arm)
		}
		if more := len(changes) - maxListedChanges; more > 0 {
			p.line("    and %s (-o json lists all)", prose.Counted(more, "more change"))
		}
	}
}

func writeRuns(p *page, shown preview.Preview) {
	if shown.Seed == nil {
		p.heading(colorStrong, "Runs in order, for example: without design.seed, the order is chosen at creation")
	} else {
		p.heading(colorStrong, "Runs in order (seed %d)", *shown.Seed)
	}
	rows := [][]string{{"run", "block", "arm", "scenario", "starts after"}}
	for _, run := range shown.Runs {
		rows = append(rows, []string{
			fmt.Sprint(run.Position), fmt.Sprint(run.Block), run.Arm, run.Scenario, run.Start.String(),
		})
	}
	p.table(rows)
}
