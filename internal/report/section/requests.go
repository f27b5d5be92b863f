// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/payload/label"
)

// slowRequest is the mean from which a single request is listed, in ms.
const slowRequest = 100

// requestTable lists the requests that were slow in any arm, the slowest first.
func requestTable(_ *Record, under *scenario) []document.Block {
	result := &document.Table{
		Caption: fmt.Sprintf("Requests averaging %d ms or more", slowRequest),
		Columns: document.TextColumns("Transaction", "Request"),
	}
	for _, arm := range under.arms {
		result.Columns = append(result.Columns, document.SeriesColumn(arm.Name, arm.Name+", ms"), document.SeriesColumn(arm.Name, arm.Name+", 95th percentile, ms"))
	}
	var slow []request
	for _, m := range under.metrics {
		if m.IsServer() || m.Request == "" || m.Window != "" || m.Statistic != metric.Average {
			continue
		}
		if one := newRequest(under, m); one.longest >= slowRequest {
			slow = append(slow, one)
		}
	}
	slices.SortStableFunc(slow, func(a, b request) int { return cmp.Compare(b.longest, a.longest) })
	for _, one := range slow {
		result.Rows = append(result.Rows, one.row)
	}
	return result.Blocks()
}

// request is one kind of request of a transaction.
type request struct {
	row document.Row
	// longest is the largest mean of any arm.
	longest float64
}

func newRequest(under *scenario, m metric.Metric) request {
	one := request{row: document.Row{Cells: []document.Cell{{Text: metric.Plain(m.Transaction)}, nameCell(metric.RequestPhrase(m.Request))}}}
	for _, arm := range under.arms {
		average, p95 := under.at(m.Name, arm.Name), under.at(metric.Name(m.Of, label.Request(m.Transaction, m.Request), metric.P95), arm.Name)
		if average != nil {
			one.longest = math.Max(one.longest, average.center())
		}
		one.row.Cells = append(one.row.Cells, document.TextCells(average.text(), p95.text())...)
	}
	return one
}
