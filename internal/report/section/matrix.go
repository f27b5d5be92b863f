// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// matrixStatistics are the statistics of response times in a matrix.
var matrixStatistics = []struct{ statistic, title string }{
	{metric.Average, "average"}, {metric.P75, "75th percentile"}, {metric.P95, "95th percentile"},
}

// responseMatrix has all scenarios with the same loads in one table: users by arms. A single
// scenario has its own table.
func responseMatrix(r *Record) []document.Block {
	transactions := sharedTransactions(r)
	in := sharedResponseDisplay(transactions)
	result := &document.Table{Caption: titleWithUnit("Response times by scenario and arm", in.unit), Columns: document.TextColumns("Transaction", "Scenario")}
	for _, arm := range r.arms {
		for _, one := range matrixStatistics {
			result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, arm.Name+" "+one.title))
		}
	}
	for _, transaction := range transactions {
		for i, under := range transaction.under {
			cells := []document.Cell{{Text: metric.Plain(transaction.name)}, nameCell(under.Name)}
			for _, arm := range r.arms {
				for _, one := range matrixStatistics {
					cells = append(cells, document.Cell{Text: under.at(metric.Name(transaction.load, transaction.name, one.statistic), arm.Name).textIn(in)})
				}
			}
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: cells})
		}
	}
	return result.Blocks()
}

// sharedResponseDisplay is the common format of transactions' response times.
func sharedResponseDisplay(transactions []sharedTransaction) display {
	var averages []*values
	for _, transaction := range transactions {
		for _, under := range transaction.under {
			averages = append(averages, under.allValues(metric.Name(transaction.load, transaction.name, metric.Average))...)
		}
	}
	return commonDisplay(metric.UnitMilliseconds, averages)
}

// sharedTransaction is a transaction that several scenarios have, in loads of the same name.
type sharedTransaction struct {
	load, name string
	under      []*scenario
}

func sharedTransactions(r *Record) []sharedTransaction {
	var all []sharedTransaction
	for _, under := range r.scenarios {
		for _, load := range under.Loads {
			for _, transaction := range under.transactions(load.Name) {
				at := slices.IndexFunc(all, func(known sharedTransaction) bool { return known.load == load.Name && known.name == transaction })
				if at < 0 {
					at = len(all)
					all = append(all, sharedTransaction{load: load.Name, name: transaction})
				}
				all[at].under = append(all[at].under, under)
			}
		}
	}
	return slices.DeleteFunc(all, func(one sharedTransaction) bool { return len(one.under) < 2 })
}

// durationMatrix has all batches in one table: imports by arms, alone and beside other loads. For
// two batches, the table of durations suffices.
func durationMatrix(r *Record) []document.Block {
	all := batches(r)
	const enough = 3
	if len(all) < enough {
		return nil
	}
	var blocks []document.Block
	for _, place := range []struct {
		title string
		of    func(batch) [2]string
	}{
		{"alone", func(one batch) [2]string { return one.alone }},
		{"with other load", func(one batch) [2]string { return one.beside }},
	} {
		result := &document.Table{Caption: "Durations by import and arm, " + place.title + ", hh:mm:ss", Columns: document.TextColumns("Import")}
		for _, arm := range r.arms {
			result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, arm.Name))
		}
		for _, one := range all {
			if at := place.of(one); at[0] != "" {
				result.Rows = append(result.Rows, document.Row{Cells: append([]document.Cell{{Text: one.what}}, durationCells(r, at)...)})
			}
		}
		blocks = append(blocks, result.Blocks()...)
	}
	return blocks
}

// durationCells are the durations of a batch under each arm.
func durationCells(r *Record, at [2]string) []document.Cell {
	var cells []document.Cell
	for _, arm := range r.arms {
		cells = append(cells, document.Cell{Text: digits.ClockSeconds(r.scenarioNamed(at[0]).at(metric.Name(at[1], metric.Duration), arm.Name).center())})
	}
	return cells
}
