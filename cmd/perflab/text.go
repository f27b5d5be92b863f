// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/preview"
	"perflab.dev/perflab/internal/prose"
)

// maxChanges is how many changes an arm makes are listed.
const maxChanges = 12

// page collects what is written and the first error of writing it.
type page struct {
	out io.Writer
	err error
}

func (p *page) line(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, prose.Printable(fmt.Sprintf(format, values...)))
	}
}

// table writes rows with their columns aligned.
func (p *page) table(rows [][]string) {
	if p.err != nil {
		return
	}
	writer := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		// The writer keeps everything until it is flushed.
		_, _ = fmt.Fprintln(writer, prose.Printable("  "+strings.Join(row, "\t")))
	}
	p.err = writer.Flush()
}

func writePlan(out io.Writer, shown preview.Preview, warnings []string) error {
	p := &page{out: out}
	p.line("Experiment %s: %s (%s x %s x %s), %s %s", shown.Experiment,
		prose.Counted(len(shown.Runs), "run"), prose.Counted(len(shown.Arms), "arm"), prose.Counted(len(shown.Scenarios), "scenario"),
		prose.Counted(int(shown.Blocks), "block"), precision(shown.WallTime), shown.WallTime.Total)
	if shown.WallTime.Max > 0 {
		p.line("  up to %s where blocks are added for design.target", shown.WallTime.Max)
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
		p.line("\nWarnings")
	}
	for _, warning := range warnings {
		p.line("  - %s", warning)
	}
	return p.err
}

// precision says how good an estimate is.
func precision(time preview.Estimate) string {
	if len(time.Unknown) > 0 {
		return "more than"
	}
	return "about"
}

// writeQuestion says what is decided, and what can be.
func writeQuestion(p *page, shown preview.Preview) {
	if len(shown.Primary) == 0 {
		p.line("\nQuestion: no metric decides, every comparison is exploratory")
		return
	}
	p.line("\nQuestion: does any arm differ by more than %d %%, at %d %% confidence?", shown.MarginPercent, shown.ConfidencePercent)
	for _, metric := range shown.Primary {
		p.line("  %s", metric)
	}
	if len(shown.Power) == 0 {
		return
	}
	p.line("\nWhat the design can show (%s)", prose.Counted(shown.Power[0].Family, "primary comparison"))
	for _, power := range shown.Power {
		for _, sentence := range power.Sentences(shown.MarginPercent) {
			p.line("  %s", sentence)
		}
	}
	writeDesigns(p, shown)
}

// writeDesigns says what else could be declared, where there is reason to.
func writeDesigns(p *page, shown preview.Preview) {
	if len(shown.Designs) < 2 {
		return
	}
	p.line("\nOther designs, and the effect that each finds with a chance of 80 %%")
	rows := [][]string{{"design", "runs", "finds", "takes"}}
	for i, design := range shown.Designs {
		name := design.String()
		if i == 0 {
			name = "as declared: " + name
		}
		rows = append(rows, []string{name, fmt.Sprint(design.Runs), found(design), precision(shown.WallTime) + " " + design.WallTime.String()})
	}
	p.table(rows)
	for _, note := range designNotes(shown.Designs) {
		p.line("  %s", note)
	}
}

func found(design preview.Design) string {
	if design.DetectablePercent == 0 {
		return "no effect"
	}
	return fmt.Sprintf("%.1f %%", design.DetectablePercent)
}

// designNotes say what designs rest on, each once.
func designNotes(designs []preview.Design) []string {
	var notes []string
	for _, design := range designs {
		if len(design.Scenarios) > 0 {
			notes = append(notes, fmt.Sprintf("%s alone takes only %s: %s", design.Alone, prose.Counted(len(design.Scenarios), "scenario"), prose.Enumerate(design.Scenarios)))
		}
		if len(design.Windows) > 0 {
			first := design.Windows[0]
			notes = append(notes, fmt.Sprintf("windows half as long, warm-up and tail as they are: %s lasts %s, not %s, and runs of one arm spread by %.3g %% at the most", first.Load, first.Duration, first.Declared, design.CVPercent))
		}
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

func writeCosts(p *page, costs []preview.Cost) {
	if len(costs) == 0 {
		return
	}
	p.line("\nCost of each arm's nodes")
	for _, cost := range costs {
		p.line("  %s: %s", cost.Arm, cost)
	}
}

func writeArms(p *page, all []preview.Arm) {
	p.line("\nArms")
	for _, arm := range all {
		switch {
		case arm.Baseline:
			p.line("  %s (baseline)", arm.Name)
		case arm.Twin:
			p.line("  %s: the baseline's twin, to tell noise", arm.Name)
		case len(arm.Differences) == 0:
			p.line("  %s: as the baseline", arm.Name)
		default:
			p.line("  %s", arm.Name)
		}
		changes := arms.Changes(arm.Differences)
		for _, change := range changes[:min(len(changes), maxChanges)] {
			p.line("    %s: %s -> %s", change.Setting, change.Baseline, change.Arm)
		}
		if more := len(changes) - maxChanges; more > 0 {
			p.line("    and %s (-o json lists all)", prose.Counted(more, "more change"))
		}
	}
}

func writeRuns(p *page, shown preview.Preview) {
	if shown.Seed == nil {
		p.line("\nRuns in order, for example: design.seed is not set, so the order is drawn when the experiment is created")
	} else {
		p.line("\nRuns in order (seed %d)", *shown.Seed)
	}
	rows := [][]string{{"run", "block", "arm", "scenario", "begins after"}}
	for _, run := range shown.Runs {
		rows = append(rows, []string{
			fmt.Sprint(run.Position), fmt.Sprint(run.Block), run.Arm, run.Scenario, run.Start.String(),
		})
	}
	p.table(rows)
}
