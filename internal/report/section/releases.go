// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// ReleasesPage shows a history: changes, and each metric over releases, with all arms in one
// chart.
func ReleasesPage(history *releases.History) document.Document {
	r := &Record{arms: releaseArms(history)}
	page := document.Document{
		Title:    "Results over releases",
		Subtitle: fmt.Sprintf("%s, %d series", prose.Counted(len(sortedReleases(history.Series)), "release"), len(history.Series)),
		Card:     document.Card{Sentence: changesSentence(history), Detail: history.FalsePositiveRate() + "."},
		Series:   newSeries(r.arms),
	}
	if changed := changeBlocks(history); len(changed) > 0 {
		page.Sections = append(page.Sections, document.Section{ID: "changes", Title: "Changes", Blocks: changed})
	}
	for _, group := range groupByMetric(history.Series) {
		page.Sections = append(page.Sections, document.Section{
			ID: document.Slug(group[0].Metric + "-" + group[0].Scenario), Title: group[0].DisplayName(), Blocks: r.metricBlocks(group),
		})
	}
	if remarks := history.AllNotes(); len(remarks) > 0 {
		page.Sections = append(page.Sections, document.Section{ID: "notes", Title: "Notes", Blocks: document.List(document.Items(remarks))})
	}
	page.Finish(leadingColumns...)
	return page
}

// releaseArms returns the arms with colors in the order of the series.
func releaseArms(history *releases.History) []arm {
	var all []arm
	for i := range history.Series {
		name := history.Series[i].Arm
		if !slices.ContainsFunc(all, func(known arm) bool { return known.Name == name }) {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: name}})
		}
	}
	assignShades(all)
	return all
}

func changesSentence(history *releases.History) string {
	changes, regressed := 0, len(history.Regressed())
	for i := range history.Series {
		changes += len(history.Series[i].Changes)
	}
	text := fmt.Sprintf("%s %s found", prose.Counted(changes, "change"), prose.Verb(changes, "was", "were"))
	switch {
	case changes == 0:
		return "No change was found."
	case regressed == 0:
		return text + "; the latest change is not a regression in any series."
	}
	return fmt.Sprintf("%s; in %d of %d series, the latest change is a regression.", text, regressed, len(history.Series))
}

// changeBlocks lists the changes between each pair of releases, with their differences.
func changeBlocks(history *releases.History) []document.Block {
	type place struct{ from, to release }
	var places []place
	items, differences := map[place][]document.Item{}, map[place][][2]string{}
	for i := range history.Series {
		series := &history.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			at := place{newRelease(&series.Points[change.At-1]), newRelease(&series.Points[change.At])}
			if items[at] == nil {
				places = append(places, at)
			}
			items[at] = append(items[at], document.Item{Status: string(change.Verdict), Text: series.Sentence(change) + "."})
			for _, difference := range change.Differences {
				if one := [2]string{series.Arm, difference}; !slices.Contains(differences[at], one) {
					differences[at] = append(differences[at], one)
				}
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.to.time.Compare(b.to.time) })
	var blocks []document.Block
	for _, at := range places {
		blocks = append(blocks, document.Heading(fmt.Sprintf("Between %s and %s", at.from.name, at.to.name)), document.Block{List: items[at]})
		if len(differences[at]) == 0 {
			blocks = append(blocks, document.Paragraph("There is no recorded difference."))
			continue
		}
		table := document.Table{Caption: fmt.Sprintf("Differences between %s and %s", at.from.name, at.to.name), Columns: document.TextColumns("Arm", "Difference")}
		for _, one := range differences[at] {
			table.Rows = append(table.Rows, document.Row{Cells: []document.Cell{armCell(one[0]), {Text: one[1]}}})
		}
		blocks = append(blocks, document.Block{Table: &table})
	}
	return blocks
}

// groupByMetric groups the arms of each metric under each scenario.
func groupByMetric(all []releases.Series) [][]releases.Series {
	var groups [][]releases.Series
	for _, one := range all {
		at := slices.IndexFunc(groups, func(group []releases.Series) bool {
			return group[0].Metric == one.Metric && group[0].Scenario == one.Scenario
		})
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], one)
	}
	return groups
}

// release is an experiment of a history.
type release struct {
	name, experiment, namespace string
	time                        time.Time
}

func newRelease(point *releases.Point) release {
	return release{point.Release, point.Experiment, point.Namespace, point.Time}
}

// sortedReleases are the releases of all series, in order.
func sortedReleases(all []releases.Series) []release {
	var found []release
	for i := range all {
		for j := range all[i].Points {
			if one := newRelease(&all[i].Points[j]); !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b release) int { return a.time.Compare(b.time) })
	return found
}

// metricBlocks are the chart and the table of a metric.
func (r *Record) metricBlocks(group []releases.Series) []document.Block {
	steps := sortedReleases(group)
	table := &document.Table{Caption: titleWithUnit(group[0].DisplayName(), group[0].Unit), Columns: []document.Column{{Title: "Release"}, {Title: "Measured", Date: true}}}
	for _, one := range group {
		table.Columns = append(table.Columns, document.Column{Title: one.Arm, Number: true, Series: one.Arm}, document.Column{Title: "95 % interval", Number: true, Series: one.Arm})
	}
	for _, step := range steps {
		cells := document.TextCells(step.name, step.time.UTC().Format(time.DateOnly))
		for i := range group {
			cells = append(cells, releaseCells(&group[i], step)...)
		}
		table.Rows = append(table.Rows, document.Row{Cells: cells})
	}
	return []document.Block{{Charts: []document.Chart{r.releasesChart(group, steps)}}, {Table: table}}
}

func releaseCells(series *releases.Series, step release) []document.Cell {
	at := slices.IndexFunc(series.Points, func(p releases.Point) bool { return newRelease(&p) == step })
	if at < 0 {
		return document.TextCells(digits.Dash, digits.Dash)
	}
	point := &series.Points[at]
	if math.IsNaN(point.Low) {
		return document.TextCells(digits.Rough(point.Center), digits.Dash)
	}
	return document.TextCells(digits.Rough(point.Center), digits.Rough(point.Low)+" to "+digits.Rough(point.High))
}

func releaseNames(steps []release) []string {
	names := make([]string, 0, len(steps))
	for _, step := range steps {
		names = append(names, step.name)
	}
	return names
}

// releasesChart draws the arms of a metric from release to release.
func (r *Record) releasesChart(group []releases.Series, steps []release) document.Chart {
	var all []chart.Sequence
	var changes []float64
	alt := fmt.Sprintf("%s by release%s. ", group[0].DisplayName(), inUnit(group[0].Unit))
	for _, series := range group {
		one := chart.Sequence{Series: r.arms[slices.IndexFunc(r.arms, func(known arm) bool { return known.Name == series.Arm })].series()}
		for i := range series.Points {
			point := &series.Points[i]
			at := float64(slices.Index(steps, newRelease(point)))
			one.Stages = append(one.Stages, chart.Stage{At: at, Value: point.Center, Low: point.Low, High: point.High})
		}
		for i := range series.Changes {
			changes = append(changes, one.Stages[series.Changes[i].At].At-0.5)
			alt += series.Sentence(&series.Changes[i]) + ". "
		}
		all = append(all, one)
	}
	m := metric.Parse(group[0].Metric)
	result := document.Chart{
		Title: titleWithUnit(capitalizePhrase(m, m.Phrase()), group[0].Unit),
		Alt:   strings.TrimSpace(alt), SVG: chart.Releases(all, releaseNames(steps), changes, "Release"),
	}
	return result.Named("releases-" + group[0].Scenario + "-" + group[0].Metric)
}
