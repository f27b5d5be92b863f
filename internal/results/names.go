// SPDX-License-Identifier: Apache-2.0

package results

import "strings"

// What follows is known before a run: which names observations can have.

// Transactions of check-in and check-out; those of a script are its own.
const (
	TransactionCheckIn  = "Check-In"
	TransactionCheckOut = "Check-Out"
)

// Statistics of a transaction.
func Statistics() []string {
	return []string{"average", "p50", "p75", "p95", "p99", "max", "samples", "errors"}
}

// Rates are those of a load as a whole, but of one that imports.
func Rates() []string {
	var names []string
	for _, told := range throughput {
		names = append(names, told.metric)
	}
	return names
}

// SummaryStatistics are those of a metric in k6's own summary.
func SummaryStatistics() []string { return append(Statistics(), "count") }

// ImportStatistics are those of a load that imports.
func ImportStatistics() []string {
	return []string{"duration", "clientDuration", "recordsPerSecond", "imports", "records", "failedRecords", "childJobs", "failedChildJobs"}
}

// ServerStatistics are those of what servers use.
func ServerStatistics() []string {
	return []string{"average", "max", "percentOfRequest", "percentOfLimit", "slope", "slopeLow", "slopeHigh", "restarts", "oomKills"}
}

// IsWindow says whether a scenario may have a window of the name.
func IsWindow(name string) bool {
	return name == WindowAlone || name == WindowAfter || strings.HasPrefix(name, windowDuring)
}
