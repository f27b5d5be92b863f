// SPDX-License-Identifier: Apache-2.0

package report

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
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// fewestPast is how many points a series has that is shown: this one, and two before.
	fewestPast = 3
	// mostNamed differences stand in a sentence.
	mostNamed = 3
)

// pastOf is the end of the history that the experiment is the last point of, as far as it
// is of arms and scenarios that the experiment has; nil: it has none.
func (r *record) pastOf(kept *corev1.ConfigMap) (*releases.History, error) {
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
		history.Series[i].Arm = r.labels.of(history.Series[i].Arm)
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

// againstPast is the section on the releases before this one; none, where there are not
// two of them.
func againstPast(r *record) []section {
	if r.past == nil {
		return nil
	}
	earlier := len(releasesIn(r.past.Series)) - 1
	made := section{ID: "history", Title: fmt.Sprintf("This release against the last %d", earlier)}
	made.Blocks = append(made.Blocks, paragraph(pastFound(r.past)))
	made.Blocks = append(made.Blocks, r.pastChanges()...)
	for _, group := range groupsOf(r.past.Series) {
		steps := releasesIn(group)
		made.Blocks = append(made.Blocks,
			heading(group[0].DisplayName()),
			block{Charts: []chart{r.overReleases(group, steps)}},
			block{Table: pastTable(group, steps)})
	}
	if len(r.past.Notes) > 0 {
		made.Blocks = append(made.Blocks, list(listOf(sentences(r.past.Notes)))...)
	}
	return []section{made}
}

func sentences(all []string) []string {
	told := make([]string, 0, len(all))
	for _, one := range all {
		told = append(told, prose.Sentence(one)+".")
	}
	return told
}

// pastFound says what came out, and how likely that is chance.
func pastFound(history *releases.History) string {
	changes := 0
	for i := range history.Series {
		changes += len(history.Series[i].Changes)
	}
	found := "No change was found among them."
	if changes > 0 {
		found = fmt.Sprintf("%s %s found among them.", prose.Counted(changes, "change"), prose.Verb(changes, "was", "were"))
	}
	return fmt.Sprintf("Each point is what one experiment of the namespace measured under the same load. %s %s; each complete experiment is analyzed. A change needs two points: a single outlier is none.",
		found, history.FalsePositiveRate())
}

// pastChanges are the changes in words, what differs there, and what to do next.
func (r *record) pastChanges() []block {
	var items []item
	var next []string
	for i := range r.past.Series {
		series := &r.past.Series[i]
		for j := range series.Changes {
			change := &series.Changes[j]
			items = append(items, item{Verdict: string(change.Verdict), Text: series.Sentence(change) + "; " + differThere(change.Differences) + "."})
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
	blocks := list(items)
	for _, at := range r.pastDifferences() {
		blocks = append(blocks, block{Table: at})
	}
	if len(next) > 0 {
		blocks = append(blocks, paragraph("Next, an experiment that finds the cause among the differences:"), block{Commands: strings.Join(next, "\n")})
	}
	return blocks
}

// differThere names what differs, without from what to what.
func differThere(differences []string) string {
	names := make([]string, 0, len(differences))
	for _, one := range differences {
		if name, _, found := strings.Cut(one, ": "); found {
			names = append(names, name)
		}
	}
	switch more := len(names) - mostNamed; {
	case len(names) == 0:
		return "nothing that was recorded differs there"
	case len(names) == 1:
		return names[0] + " differs there"
	case more > 0:
		return strings.Join(names[:mostNamed], ", ") + fmt.Sprintf(" and %d more differ there", more)
	}
	return prose.Enumerate(names) + " differ there"
}

// pastDifferences are a table for each two releases between which something changed.
func (r *record) pastDifferences() []*table {
	var tables []*table
	for i := range r.past.Series {
		series := &r.past.Series[i]
		for _, change := range series.Changes {
			caption := fmt.Sprintf("What differs between %s and %s", series.Points[change.At-1].Release, series.Points[change.At].Release)
			at := slices.IndexFunc(tables, func(known *table) bool { return known.Caption == caption })
			if at < 0 && len(change.Differences) > 0 {
				at, tables = len(tables), append(tables, &table{Caption: caption, Columns: words("Arm", "Setting", "Before and after")})
			}
			for _, one := range change.Differences {
				what, values, _ := strings.Cut(one, ": ")
				cells := []cell{ofArm(series.Arm), {Text: what}, {Text: values}}
				if !slices.ContainsFunc(tables[at].Rows, func(known row) bool { return slices.Equal(known.Cells, cells) }) {
					tables[at].Rows = append(tables[at].Rows, row{Cells: cells})
				}
			}
		}
	}
	return tables
}

// pastTable has a row for each release, and what this one is against it.
func pastTable(group []releases.Series, steps []release) *table {
	made := &table{Caption: headed(group[0].DisplayName(), group[0].Unit), Columns: []column{{Title: "Release"}, {Title: "Measured", Date: true}}}
	for i := range group {
		one := &group[i]
		made.Columns = append(made.Columns,
			columnOf(one.Arm, one.Arm), columnOf(one.Arm, "95 % interval"), columnOf(one.Arm, headed("This against it", one.DeltaUnit())))
	}
	made.Note = "Intervals are those over the runs of one experiment. What this release is against another one has none: two experiments differ by their days as well."
	for at, step := range steps {
		title := step.name
		if at == len(steps)-1 {
			title += " (this)"
		}
		cells := texts(title, step.time.UTC().Format(time.DateOnly))
		for i := range group {
			cells = append(cells, cellsAt(&group[i], step)...)
			cells = append(cells, cell{Text: thisAgainst(&group[i], step)})
		}
		made.Rows = append(made.Rows, row{Cells: cells})
	}
	return made
}

// thisAgainst is the last point of a series against an earlier one, as the two are printed.
func thisAgainst(series *releases.Series, step release) string {
	last := len(series.Points) - 1
	at := slices.IndexFunc(series.Points, func(point releases.Point) bool { return releaseOf(&point) == step })
	if at < 0 || at == last {
		return dash
	}
	this, that := printedNumber(series.Points[last].Center), printedNumber(series.Points[at].Center)
	if series.Scale == comparison.Ratio {
		if that == 0 {
			return dash
		}
		return signed(100*(this/that-1), 1)
	}
	return signed(this-that, decimals(that, math.NaN()))
}

// printedNumber is a number as readers see it, from which deltas have to follow.
func printedNumber(value float64) float64 {
	printed, err := strconv.ParseFloat(strings.Replace(rough(value), minus, "-", 1), 64)
	if err != nil {
		return value
	}
	return printed
}
