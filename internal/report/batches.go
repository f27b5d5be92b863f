// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/metric"
)

// batch tells batches of several scenarios that are the same but for what runs
// beside them.
type batch struct {
	what  string
	words kind.BatchWords
	// alone and beside are scenario and load; empty where there is none.
	alone, beside [2]string
}

// batchTables list how long batches took, alone and beside other loads, each kind
// by itself.
func (r *record) batchTables() []block {
	var blocks []block
	var listed []kind.BatchWords
	all := r.batches()
	for _, one := range all {
		if !slices.Contains(listed, one.words) {
			listed = append(listed, one.words)
			blocks = append(blocks, r.tablesOf(one.words, all)...)
		}
	}
	return blocks
}

// tablesOf the batches that are of one kind.
func (r *record) tablesOf(kind kind.BatchWords, all []batch) []block {
	durations := &table{
		Caption: kind.Durations,
		Columns: slices.Concat(words(kind.Noun, "Arm"), numbers("Alone, hh:mm:ss", "Alone, s", "With other load, hh:mm:ss", "With other load, s", "Difference, hh:mm:ss")),
	}
	rates := &table{
		Caption: kind.Rates,
		Columns: slices.Concat(words(kind.Noun, "Arm"), numbers("Alone, 1/s", "With other load, 1/s")),
	}
	for _, one := range all {
		for i, arm := range r.arms {
			if one.words == kind && r.isMeasured(one, arm.Name) {
				durations.Rows = append(durations.Rows, r.durationRow(one, i == 0, arm.Name))
				rates.Rows = append(rates.Rows, r.rateRow(one, i == 0, arm.Name))
			}
		}
	}
	if len(durations.Rows) == 0 {
		return nil
	}
	return []block{heading(kind.Title), {Table: durations}, {Table: rates}}
}

func (r *record) isMeasured(of batch, arm string) bool {
	return r.batchValue(of.alone, metric.Duration, arm) != nil || r.batchValue(of.beside, metric.Duration, arm) != nil
}

func (r *record) durationRow(of batch, first bool, arm string) row {
	alone, beside := r.batchValue(of.alone, metric.Duration, arm), r.batchValue(of.beside, metric.Duration, arm)
	return row{First: first, Cells: []cell{
		{Text: of.what},
		name(arm),
		{Text: clockOfSeconds(alone.mean())},
		{Text: alone.shown(r.confidence())},
		{Text: clockOfSeconds(beside.mean())},
		{Text: beside.shown(r.confidence())},
		{Text: clockOfSeconds(beside.mean() - alone.mean())},
	}}
}

func (r *record) rateRow(of batch, first bool, arm string) row {
	return row{First: first, Cells: []cell{
		{Text: of.what},
		name(arm),
		{Text: r.batchValue(of.alone, of.words.RateMetric, arm).shown(r.confidence())},
		{Text: r.batchValue(of.beside, of.words.RateMetric, arm).shown(r.confidence())},
	}}
}

func (r *record) batchValue(at [2]string, statistic, arm string) *values {
	return r.at(at[0], metric.Name(at[1], statistic), arm)
}

func (r *record) batches() []batch {
	var all []batch
	for _, scenario := range r.scenarios {
		// Batches one after another are alone all the same.
		beside := slices.ContainsFunc(scenario.Loads, func(load v1alpha1.Load) bool { return !kinds.IsBatch(load) })
		for _, load := range scenario.Loads {
			found, isBatch := kinds.Of(load).(kind.Batch)
			if !isBatch {
				continue
			}
			what := capital(found.Describe())
			at := slices.IndexFunc(all, func(one batch) bool { return one.what == what && *one.place(beside) == [2]string{} })
			if at < 0 {
				at = len(all)
				all = append(all, batch{what: what, words: found.Words()})
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
