// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/text/prose"
)

// releasesPage shows a history: what changed, and each metric over releases, with all arms
// in one chart.
func releasesPage(history *releases.History) document {
	r := &record{arms: armsOfReleases(history)}
	page := document{
		Title:    "Results over releases",
		Subtitle: fmt.Sprintf("%s, %d series", prose.Counted(len(releasesIn(history.Series)), "release"), len(history.Series)),
		Card:     card{Sentence: foundIn(history), Detail: history.Bound() + "."},
		Series:   seriesOf(r.arms),
	}
	if changed := changesIn(history); len(changed) > 0 {
		page.Sections = append(page.Sections, section{ID: "changes", Title: "Changes", Blocks: changed})
	}
	for _, group := range groupsOf(history.Series) {
		page.Sections = append(page.Sections, section{
			ID: slug(group[0].Metric + "-" + group[0].Scenario), Title: group[0].Named(), Blocks: r.blocksOf(group),
		})
	}
	if remarks := history.Remarks(); len(remarks) > 0 {
		page.Sections = append(page.Sections, section{ID: "notes", Title: "Notes", Blocks: list(listOf(remarks))})
	}
	page.finish(judging...)
	return page
}

// armsOfReleases have their colours in the order of the series.
func armsOfReleases(history *releases.History) []arm {
	var all []arm
	for i := range history.Series {
		name := history.Series[i].Arm
		if !slices.ContainsFunc(all, func(known arm) bool { return known.Name == name }) {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: name}})
		}
	}
	shade(all)
	return all
}

func foundIn(history *releases.History) string {
	changes, regressed := 0, len(history.Regressed())
	for i := range history.Series {
		changes += len(history.Series[i].Changes)
	}
	told := fmt.Sprintf("%s %s found", prose.Counted(changes, "change"), prose.Verb(changes, "was", "were"))
	switch {
	case changes == 0:
		return "No change was found."
	case regressed == 0:
		return told + "; the last one of no series is for the worse."
	}
	return fmt.Sprintf("%s; in %d of %d series the last one is for the worse.", told, regressed, len(history.Series))
}

// changesIn lists the changes between each two releases, with what differs there.
func changesIn(history *releases.History) []block {
	type place struct{ from, to release }
	var places []place
	items, differences := map[place][]item{}, map[place][][2]string{}
	for i := range history.Series {
		series := &history.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			at := place{releaseOf(&series.Points[change.At-1]), releaseOf(&series.Points[change.At])}
			if items[at] == nil {
				places = append(places, at)
			}
			items[at] = append(items[at], item{Verdict: string(change.Verdict), Text: series.Sentence(change) + "."})
			for _, difference := range change.Differences {
				if one := [2]string{series.Arm, difference}; !slices.Contains(differences[at], one) {
					differences[at] = append(differences[at], one)
				}
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.to.time.Compare(b.to.time) })
	var blocks []block
	for _, at := range places {
		blocks = append(blocks, heading(fmt.Sprintf("Between %s and %s", at.from.name, at.to.name)), block{List: items[at]})
		if len(differences[at]) == 0 {
			blocks = append(blocks, paragraph("Nothing that was recorded differs there."))
			continue
		}
		table := table{Caption: fmt.Sprintf("What differs between %s and %s", at.from.name, at.to.name), Columns: words("Arm", "Difference")}
		for _, one := range differences[at] {
			table.Rows = append(table.Rows, row{Cells: []cell{ofArm(one[0]), {Text: one[1]}}})
		}
		blocks = append(blocks, block{Table: &table})
	}
	return blocks
}

// groupsOf gathers the arms of each metric under each scenario.
func groupsOf(all []releases.Series) [][]releases.Series {
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

func releaseOf(point *releases.Point) release {
	return release{point.Release, point.Experiment, point.Namespace, point.Time}
}

// releasesIn are those of all series, in order.
func releasesIn(all []releases.Series) []release {
	var found []release
	for i := range all {
		for j := range all[i].Points {
			if one := releaseOf(&all[i].Points[j]); !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b release) int { return a.time.Compare(b.time) })
	return found
}

// blocksOf a metric are its chart and its table.
func (r *record) blocksOf(group []releases.Series) []block {
	steps := releasesIn(group)
	table := &table{Caption: headed(group[0].Named(), group[0].Unit), Columns: []column{{Title: "Release"}, {Title: "Measured", Date: true}}}
	for _, one := range group {
		table.Columns = append(table.Columns, column{Title: one.Arm, Number: true, Arm: one.Arm}, column{Title: "95 % interval", Number: true, Arm: one.Arm})
	}
	for _, step := range steps {
		cells := texts(step.name, step.time.UTC().Format(time.DateOnly))
		for i := range group {
			cells = append(cells, cellsAt(&group[i], step)...)
		}
		table.Rows = append(table.Rows, row{Cells: cells})
	}
	return []block{{Charts: []chart{r.overReleases(group, steps)}}, {Table: table}}
}

func cellsAt(series *releases.Series, step release) []cell {
	at := slices.IndexFunc(series.Points, func(p releases.Point) bool { return releaseOf(&p) == step })
	if at < 0 {
		return texts(dash, dash)
	}
	point := &series.Points[at]
	if math.IsNaN(point.Low) {
		return texts(rough(point.Center), dash)
	}
	return texts(rough(point.Center), rough(point.Low)+" to "+rough(point.High))
}

func releaseNames(steps []release) []string {
	names := make([]string, 0, len(steps))
	for _, step := range steps {
		names = append(names, step.name)
	}
	return names
}

// overReleases draws the arms of a metric from release to release.
func (r *record) overReleases(group []releases.Series, steps []release) chart {
	var all []Sequence
	var changes []float64
	alt := fmt.Sprintf("%s from release to release, in %s. ", group[0].Named(), group[0].Unit)
	for _, series := range group {
		one := Sequence{Series: r.arms[slices.IndexFunc(r.arms, func(known arm) bool { return known.Name == series.Arm })].series()}
		for i := range series.Points {
			point := &series.Points[i]
			at := float64(slices.Index(steps, releaseOf(point)))
			one.Stages = append(one.Stages, Stage{at, point.Center, point.Low, point.High})
		}
		for i := range series.Changes {
			changes = append(changes, one.Stages[series.Changes[i].At].At-0.5)
			alt += series.Sentence(&series.Changes[i]) + ". "
		}
		all = append(all, one)
	}
	m := metric.Parse(group[0].Metric)
	result := chart{
		Title: headed(opened(m, m.Phrase()), group[0].Unit),
		Alt:   strings.TrimSpace(alt), SVG: OverReleases(all, releaseNames(steps), changes, "Release"),
	}
	return result.named("releases-" + group[0].Scenario + "-" + group[0].Metric)
}
