// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/preview"
	"perflab.dev/perflab/internal/text/prose"
)

// maxListedChanges is how many changes of an arm are listed.
const maxListedChanges = 12

func writePlan(out io.Writer, shown preview.Preview, warnings []string) error {
	p := console.NewPage(out)
	p.Line("Experiment %s: %s (%s x %s x %s), %s %s", shown.Experiment,
		prose.Counted(len(shown.Runs), "run"), prose.Counted(len(shown.Arms), "arm"), prose.Counted(len(shown.Scenarios), "scenario"),
		prose.Counted(int(shown.Blocks), "block"), precisionWord(shown.WallTime), shown.WallTime.Total)
	if shown.WallTime.Max > 0 {
		p.Line("  up to %s if design.target adds blocks", shown.WallTime.Max)
	}
	p.Line("  assuming that %s", strings.Join(shown.WallTime.Assumes, " and "))
	for _, load := range shown.WallTime.Unknown {
		p.Line("  not counted: %s", load)
	}
	writeQuestion(p, shown)
	writeArms(p, shown.Arms)
	writeCosts(p, shown.Costs)
	writeHeaps(p, shown)
	writeRuns(p, shown)
	if len(warnings) > 0 {
		p.Heading(console.ColorWarning, "Warnings")
	}
	for _, warning := range warnings {
		p.Line("  - %s", warning)
	}
	return p.Err
}

// precisionWord is the precision of an estimate.
func precisionWord(time preview.Estimate) string {
	if len(time.Unknown) > 0 {
		return "more than"
	}
	return "about"
}

// writeQuestion writes the question and the statistical power.
func writeQuestion(p *console.Page, shown preview.Preview) {
	if len(shown.Primary) == 0 {
		p.Heading(console.ColorStrong, "Question: no primary metric, so all comparisons are exploratory")
		return
	}
	p.Heading(console.ColorStrong, "Question: does any arm differ by more than %d %%, at %d %% confidence?", shown.MarginPercent, shown.ConfidencePercent)
	for _, name := range shown.Primary {
		p.Line("  %s", metric.Plain(name))
	}
	for _, capacity := range shown.Capacities {
		p.Line("  %s", capacity)
	}
	for _, fault := range shown.Faults {
		p.Line("  %s", fault)
	}
	if len(shown.Power) == 0 {
		return
	}
	p.Heading(console.ColorStrong, "Statistical power (%s)", prose.Counted(shown.Power[0].Family, "primary comparison"))
	for _, power := range shown.Power {
		for _, sentence := range power.Sentences(shown.MarginPercent) {
			p.Line("  %s", sentence)
		}
	}
	writeDesigns(p, shown)
}

// writeDesigns writes alternative designs, if there are any.
func writeDesigns(p *console.Page, shown preview.Preview) {
	if len(shown.Designs) < 2 {
		return
	}
	p.Heading(console.ColorStrong, "Other designs, and the effect that each detects with 80 %% power")
	rows := [][]string{{"design", "runs", "effect", "duration"}}
	for i, design := range shown.Designs {
		name := design.String()
		if i == 0 {
			name = "as declared: " + name
		}
		rows = append(rows, []string{name, fmt.Sprint(design.Runs), effectSize(design), precisionWord(shown.WallTime) + " " + design.WallTime.String()})
	}
	p.Table(rows)
	for _, note := range designNotes(shown.Designs) {
		p.Line("  %s", note)
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

func writeCosts(p *console.Page, costs []preview.Cost) {
	if len(costs) == 0 {
		return
	}
	p.Heading(console.ColorStrong, "Cost of each arm's nodes")
	for _, cost := range costs {
		p.Line("  %s: %s", cost.Arm, cost)
	}
}

func writeArms(p *console.Page, all []preview.Arm) {
	p.Heading(console.ColorStrong, "Arms")
	for _, arm := range all {
		switch {
		case arm.Baseline:
			p.Line("  %s (baseline)", arm.Name)
		case arm.Twin:
			p.Line("  %s: A/A control", arm.Name)
		case len(arm.Differences) == 0:
			p.Line("  %s: same as the baseline", arm.Name)
		default:
			p.Line("  %s", arm.Name)
		}
		changes := arms.Changes(arm.Differences)
		for _, change := range changes[:min(len(changes), maxListedChanges)] {
			p.Line("    %s: %s -> %s", change.Setting, change.Baseline, change.Arm)
		}
		if more := len(changes) - maxListedChanges; more > 0 {
			p.Line("    and %s (-o json lists all)", prose.Counted(more, "more change"))
		}
	}
}

func writeRuns(p *console.Page, shown preview.Preview) {
	if shown.Seed == nil {
		p.Heading(console.ColorStrong, "Runs in order, for example: without design.seed, the order is chosen at creation")
	} else {
		p.Heading(console.ColorStrong, "Runs in order (seed %d)", *shown.Seed)
	}
	rows := [][]string{{"run", "block", "arm", "scenario", "starts after"}}
	for _, run := range shown.Runs {
		rows = append(rows, []string{
			fmt.Sprint(run.Position), fmt.Sprint(run.Block), run.Arm, run.Scenario, run.Start.String(),
		})
	}
	p.Table(rows)
}
