// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// fewestPast is the minimum number of points in a series: this one, and two before.
	fewestPast = 3
	// mostNamed is the number of differences named in a sentence.
	mostNamed = 3
)

// newPast is the history that ends with this experiment, for its arms and scenarios; nil without
// one.
func (r *Record) newPast(kept *corev1.ConfigMap) (*releases.History, error) {
	if kept == nil {
		return nil, nil //nolint:nilnil // Most experiments have none.
	}
	history, err := regression.DecodeHistory(kept)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if history == nil {
		return nil, nil //nolint:nilnil // As above.
	}
	for i := range history.Series {
		history.Series[i].Arm = r.labels.label(history.Series[i].Arm)
	}
	history.Series = slices.DeleteFunc(history.Series, func(series releases.Series) bool {
		known := slices.ContainsFunc(r.arms, func(one arm) bool { return one.Name == series.Arm })
		this := series.Points[len(series.Points)-1].Experiment == r.Experiment.Name
		return !known || !this || len(series.Points) < fewestPast
	})
	if len(history.Series) == 0 {
		return nil, nil //nolint:nilnil // As above.
	}
	return history, nil
}

// pastSection is the section on the releases before this one; none with fewer than two of them.
func pastSection(r *Record) []document.Section {
	if r.past == nil {
		return nil
	}
	earlier := len(sortedReleases(r.past.Series)) - 1
	made := document.Section{ID: "history", Title: fmt.Sprintf("This release against the last %d", earlier)}
	made.Blocks = append(made.Blocks, document.Paragraph(pastFound(r.past)))
	made.Blocks = append(made.Blocks, r.pastChanges()...)
	for _, group := range groupByMetric(r.past.Series) {
		steps := sortedReleases(group)
		made.Blocks = append(made.Blocks,
			document.Heading(group[0].DisplayName()),
			document.Block{Charts: []document.Chart{r.releasesChart(group, steps)}},
			document.Block{Table: pastTable(group, steps)})
	}
	if len(r.past.Notes) > 0 {
		made.Blocks = append(made.Blocks, document.List(document.Items(asSentences(r.past.Notes)))...)
	}
	return []document.Section{made}
}

func asSentences(all []string) []string {
	sentences := make([]string, 0, len(all))
	for _, one := range all {
		sentences = append(sentences, prose.Sentence(one)+".")
	}
	return sentences
}

// pastFound is the result, and its false-positive rate.
func pastFound(history *releases.History) string {
	changes := 0
	for i := range history.Series {
		changes += len(history.Series[i].Changes)
	}
	found := "No change was found."
	if changes > 0 {
		found = fmt.Sprintf("%s %s found.", prose.Counted(changes, "change"), prose.Verb(changes, "was", "were"))
	}
	return fmt.Sprintf("Each point is one experiment of the namespace, measured under the same load. %s %s; each complete experiment is analyzed. A change needs two points; a single outlier is not a change.",
		found, history.FalsePositiveRate())
}

// pastChanges are the changes in words, their differences, and the next steps.
func (r *Record) pastChanges() []document.Block {
	var items []document.Item
	var next []string
	for i := range r.past.Series {
		series := &r.past.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			items = append(items, document.Item{Status: string(change.Verdict), Text: series.Sentence(change) + "; " + differencesText(change.Differences) + "."})
			before, after := series.Points[change.At-1], series.Points[change.At]
			command := fmt.Sprintf("perflab bisect %s %s -n %s", before.Experiment, after.Experiment, after.Namespace)
			if len(change.Differences) > 0 && !slices.Contains(next, command) {
				next = append(next, command)
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	blocks := document.List(items)
	for _, at := range r.pastDifferences() {
		blocks = append(blocks, document.Block{Table: at})
	}
	if len(next) > 0 {
		blocks = append(blocks, document.Paragraph("To find the cause among the differences, run an experiment:"), document.Block{Commands: strings.Join(next, "\n")})
	}
	return blocks
}

// differencesText names differences, without their values.
func differencesText(differences []string) string {
	names := make([]string, 0, len(differences))
	for _, one := range differences {
		if name, _, found := strings.Cut(one, ": "); found {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no recorded difference"
	}
	return prose.EnumerateFirst(names, mostNamed) + " changed"
}

// pastDifferences has a table for each pair of releases with a change between them.
func (r *Record) pastDifferences() []*document.Table {
	var tables []*document.Table
	for i := range r.past.Series {
		series := &r.past.Series[i]
		for _, change := range series.Changes {
			caption := fmt.Sprintf("Differences between %s and %s", series.Points[change.At-1].Release, series.Points[change.At].Release)
			at := slices.IndexFunc(tables, func(known *document.Table) bool { return known.Caption == caption })
			if at < 0 && len(change.Differences) > 0 {
				at, tables = len(tables), append(tables, &document.Table{Caption: caption, Columns: document.TextColumns("Arm", "Setting", "Before and after")})
			}
			for _, one := range change.Differences {
				what, values, _ := strings.Cut(one, ": ")
				cells := []document.Cell{armCell(series.Arm), {Text: what}, {Text: values}}
				if !slices.ContainsFunc(tables[at].Rows, func(known document.Row) bool { return slices.Equal(known.Cells, cells) }) {
					tables[at].Rows = append(tables[at].Rows, document.Row{Cells: cells})
				}
			}
		}
	}
	return tables
}

// pastTable has a row for each release, and the change from it to this one.
func pastTable(group []releases.Series, steps []release) *document.Table {
	made := &document.Table{Caption: titleWithUnit(group[0].DisplayName(), group[0].Unit), Columns: []document.Column{{Title: "Release"}, {Title: "Measured", Date: true}}}
	for i := range group {
		one := &group[i]
		made.Columns = append(made.Columns,
			document.SeriesColumn(one.Arm, one.Arm), document.SeriesColumn(one.Arm, "95 % interval"), document.SeriesColumn(one.Arm, titleWithUnit("Delta to this release", one.DeltaUnit())))
	}
	made.Note = "Intervals are over the runs of one experiment. Deltas between releases have none, because two experiments also differ in their days."
	for at, step := range steps {
		title := step.name
		if at == len(steps)-1 {
			title += " (this)"
		}
		cells := document.TextCells(title, step.time.UTC().Format(time.DateOnly))
		for i := range group {
			cells = append(cells, releaseCells(&group[i], step)...)
			cells = append(cells, document.Cell{Text: deltaTo(&group[i], step)})
		}
		made.Rows = append(made.Rows, document.Row{Cells: cells})
	}
	return made
}

// deltaTo is the change from an earlier point of a series to the last one, computed from the
// printed values.
func deltaTo(series *releases.Series, step release) string {
	last := len(series.Points) - 1
	at := slices.IndexFunc(series.Points, func(point releases.Point) bool { return newRelease(&point) == step })
	if at < 0 || at == last {
		return digits.Dash
	}
	this, that := asPrinted(series.Points[last].Center), asPrinted(series.Points[at].Center)
	if series.Scale == comparison.Ratio {
		if that == 0 {
			return digits.Dash
		}
		return digits.Signed(100*(this/that-1), 1)
	}
	return digits.Signed(this-that, digits.Decimals(that, math.NaN()))
}

// asPrinted is a number as printed, from which deltas must follow.
func asPrinted(value float64) float64 {
	printed, err := strconv.ParseFloat(strings.Replace(digits.Rough(value), digits.Minus, "-", 1), 64)
	if err != nil {
		return value
	}
	return printed
}
