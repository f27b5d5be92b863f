// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload/label"
)

// slowRequest is the mean from which a single request is listed, in ms.
const slowRequest = 100

// requestTable lists the requests that took long in any arm, the slowest first.
func requestTable(_ *record, under *scenario) []block {
	result := &table{
		Caption: fmt.Sprintf("Requests averaging %d ms or more", slowRequest),
		Columns: words("Transaction", "Request"),
	}
	for _, arm := range under.arms {
		result.Columns = append(result.Columns, columnOf(arm.Name, arm.Name+", ms"), columnOf(arm.Name, arm.Name+", 95th percentile, ms"))
	}
	var slow []request
	for _, m := range under.metrics {
		if m.IsServer() || m.Request == "" || m.Window != "" || m.Statistic != metric.Average {
			continue
		}
		if one := requestOf(under, m); one.longest >= slowRequest {
			slow = append(slow, one)
		}
	}
	slices.SortStableFunc(slow, func(a, b request) int { return cmp.Compare(b.longest, a.longest) })
	for _, one := range slow {
		result.Rows = append(result.Rows, one.row)
	}
	return result.blocks()
}

// request is one kind of request of a transaction.
type request struct {
	row row
	// longest is the largest mean of any arm.
	longest float64
}

func requestOf(under *scenario, m metric.Metric) request {
	one := request{row: row{Cells: []cell{{Text: metric.Plain(m.Transaction)}, name(metric.RequestPhrase(m.Request))}}}
	for _, arm := range under.arms {
		average, p95 := under.at(m.Name, arm.Name), under.at(metric.Name(m.Of, label.Request(m.Transaction, m.Request), metric.P95), arm.Name)
		if average != nil {
			one.longest = math.Max(one.longest, average.center())
		}
		one.row.Cells = append(one.row.Cells, texts(average.shown(), p95.shown())...)
	}
	return one
}
