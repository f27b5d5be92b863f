// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// batch identifies batches of several scenarios that differ only in the loads beside them.
type batch struct {
	what  string
	words kind.BatchTerms
	// alone and beside are scenario and load; empty without one.
	alone, beside [2]string
}

// batchTables list how long batches took, alone and beside other loads, by kind.
func batchTables(r *Record) []document.Block {
	var blocks []document.Block
	var listed []kind.BatchTerms
	all := batches(r)
	for _, one := range all {
		if !slices.Contains(listed, one.words) {
			listed = append(listed, one.words)
			blocks = append(blocks, batchKindTables(r, one.words, all)...)
		}
	}
	return blocks
}

// batchKindTables are the tables of one kind of batches.
func batchKindTables(r *Record, kind kind.BatchTerms, all []batch) []document.Block {
	durations := &document.Table{
		Caption: kind.Durations,
		Columns: slices.Concat(document.TextColumns(kind.Noun, "Arm"), document.NumberColumns("Alone, hh:mm:ss", "Alone, s", "With other load, hh:mm:ss", "With other load, s", "Difference, hh:mm:ss")),
	}
	rates := &document.Table{
		Caption: kind.Rates,
		Columns: slices.Concat(document.TextColumns(kind.Noun, "Arm"), document.NumberColumns("Alone, 1/s", "With other load, 1/s")),
	}
	for _, one := range all {
		for i, arm := range r.arms {
			alone, beside := one.values(r, metric.Duration, arm.Name)
			if one.words != kind || alone == nil && beside == nil {
				continue
			}
			header := []document.Cell{{Text: one.what}, armCell(arm.Name)}
			durations.Rows = append(durations.Rows, document.Row{First: i == 0, Cells: slices.Concat(header, document.TextCells(
				digits.ClockSeconds(alone.center()), alone.text(), digits.ClockSeconds(beside.center()), beside.text(), digits.ClockSeconds(math.Round(beside.center())-math.Round(alone.center()))))})
			alone, beside = one.values(r, kind.RateMetric, arm.Name)
			rates.Rows = append(rates.Rows, document.Row{First: i == 0, Cells: slices.Concat(header, document.TextCells(alone.text(), beside.text()))})
		}
	}
	return document.Titled(kind.Title, append(durations.Blocks(), rates.Blocks()...))
}

// values of a statistic, alone and beside other loads.
func (b batch) values(r *Record, statistic, arm string) (alone, beside *values) {
	of := func(at [2]string) *values {
		if at[0] == "" {
			return nil
		}
		return r.scenarioNamed(at[0]).at(metric.Name(at[1], statistic), arm)
	}
	return of(b.alone), of(b.beside)
}

func batches(r *Record) []batch {
	var all []batch
	for _, scenario := range r.scenarios {
		// Consecutive batches still run alone.
		beside := slices.ContainsFunc(scenario.Loads, func(load v1alpha1.Load) bool { return !kinds.IsBatch(load) })
		for _, load := range scenario.Loads {
			found, isBatch := kinds.ForLoad(load).(kind.Batch)
			if !isBatch {
				continue
			}
			what := capitalize(found.Describe())
			at := slices.IndexFunc(all, func(one batch) bool { return one.what == what && *one.place(beside) == [2]string{} })
			if at < 0 {
				at = len(all)
				all = append(all, batch{what: what, words: found.Terms()})
			}
			*all[at].place(beside) = [2]string{scenario.Name, load.Name}
		}
	}
	return all
}

func (b *batch) place(beside bool) *[2]string {
	if beside {
		return &b.beside
	}
	return &b.alone
}

// seriesTables list each import of a series: a mean hides that the tenth takes longer than the
// first.
func seriesTables(r *Record) []document.Block {
	var blocks []document.Block
	for _, under := range r.scenarios {
		for _, load := range under.Loads {
			if found, isBatch := kinds.ForLoad(load).(kind.Batch); isBatch {
				blocks = append(blocks, seriesTable(r, under, load.Name, found.Terms()).Blocks()...)
			}
		}
	}
	return blocks
}

func seriesTable(r *Record, under *scenario, load string, words kind.BatchTerms) *document.Table {
	made := &document.Table{
		Caption: fmt.Sprintf("%s of %s under %s: individual durations and differences from %s", words.Title, load, under.Name, r.answer.Baseline),
		Columns: document.NumberColumns(words.Noun),
	}
	for _, arm := range r.arms {
		made.Columns = append(made.Columns, document.SeriesColumn(arm.Name, arm.Name+", hh:mm:ss"))
		if arm.Name != r.answer.Baseline {
			made.Columns = append(made.Columns, document.SeriesColumn(arm.Name, "Difference, hh:mm:ss"))
		}
	}
	for part := 1; part <= under.partCount(load); part++ {
		made.Rows = append(made.Rows, document.Row{Cells: document.TextCells(r.partCells(under, metric.Name(load, metric.Part(part), metric.Duration), part)...)})
	}
	return made
}

// partCells are the durations of one import under each arm.
func (r *Record) partCells(under *scenario, name string, part int) []string {
	cells := []string{digits.Count(part)}
	baseline := math.Round(under.at(name, r.answer.Baseline).center())
	for _, arm := range r.arms {
		took := math.Round(under.at(name, arm.Name).center())
		cells = append(cells, digits.ClockSeconds(took))
		if arm.Name != r.answer.Baseline {
			cells = append(cells, digits.ClockSeconds(took-baseline))
		}
	}
	return cells
}

// partCount is the number of imports that a load reports individually.
func (s *scenario) partCount(load string) int {
	last := 0
	for _, m := range s.metrics {
		if m.Of == load {
			last = max(last, m.Part)
		}
	}
	return last
}
