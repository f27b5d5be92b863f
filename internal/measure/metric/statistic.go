// SPDX-License-Identifier: Apache-2.0

package metric

import "slices"

// Statistics of transactions and, some of them, of what servers use.
const (
	Samples = "samples"
	Average = "average"
	P50     = "p50"
	P75     = "p75"
	P95     = "p95"
	P99     = "p99"
	Max     = "max"
	Errors  = "errors"
)

// Statistics of what servers use. Slopes are per hour; SlopeLow and SlopeHigh
// are the ends of their intervals.
const (
	PercentOfRequest = "percentOfRequest"
	PercentOfLimit   = "percentOfLimit"
	Slope            = "slope"
	SlopeLow         = "slopeLow"
	SlopeHigh        = "slopeHigh"
	Restarts         = "restarts"
	OOMKills         = "oomKills"
)

// Quantities of a load as a whole. The last two are of one that does not import.
const (
	Duration         = "duration"
	ClientDuration   = "clientDuration"
	RecordsPerSecond = "recordsPerSecond"
	Imports          = "imports"
	FailedImports    = "failedImports"
	Records          = "records"
	FailedRecords    = "failedRecords"
	ChildJobs        = "childJobs"
	FailedChildJobs  = "failedChildJobs"

	RequestsPerSecond   = "requestsPerSecond"
	IterationsPerSecond = "iterationsPerSecond"

	// Capacity is the highest level at which the objectives hold, in users or whatever the
	// levels are.
	Capacity = "capacity"
)

// Quantities of a load as a whole, after a fault: how much less it did than undisturbed.
const (
	// LostTime is how long the load's undisturbed rate of successful transactions takes for those
	// that are missing: 3 s of an outage, or 6 s at half the rate.
	LostTime = "lostTime"
	// ExcessErrors are the failed transactions beyond the undisturbed share.
	ExcessErrors = "excessErrors"
	// ExcessTime is the response time of successful transactions beyond the undisturbed average,
	// summed up.
	ExcessTime = "excessTime"
	// RecoveryTime is from the fault's begin to the end of the last outage.
	RecoveryTime = "recoveryTime"
)

// Count of a metric in k6's own summary.
const Count = "count"

// Transactions of check-in and check-out; those of a script are its own.
const (
	CheckIn  = "Check-In"
	CheckOut = "Check-Out"
)

// transactional are the statistics of a transaction, summaries how the use of a
// resource is summed up.
var (
	transactional = []string{Average, P50, P75, P95, P99, Max, Samples, Errors}
	summaries     = []string{Average, Max, PercentOfRequest, PercentOfLimit, Slope, SlopeLow, SlopeHigh}
)

// TransactionStatistics are those of a transaction.
func TransactionStatistics() []string { return slices.Clone(transactional) }

// SummaryStatistics are those of a metric in k6's own summary.
func SummaryStatistics() []string { return append(TransactionStatistics(), Count) }

// ServerStatistics are those of what servers use.
func ServerStatistics() []string { return append(slices.Clone(summaries), Restarts, OOMKills) }

// Rates are the quantities of a load as a whole, but of one that imports.
func Rates() []string { return []string{RequestsPerSecond, IterationsPerSecond} }

// ImportStatistics are the quantities of a load that imports.
func ImportStatistics() []string {
	return []string{Duration, ClientDuration, RecordsPerSecond, Imports, FailedImports, Records, FailedRecords, ChildJobs, FailedChildJobs}
}

// FaultStatistics are the quantities of a load after a fault.
func FaultStatistics() []string {
	return []string{LostTime, ExcessErrors, ExcessTime, RecoveryTime}
}

// Units of observations.
const (
	UnitCount        = "1"
	UnitPercent      = "%"
	UnitMilliseconds = "ms"
	UnitSeconds      = "s"
	UnitPerSecond    = "1/s"
	UnitCores        = "cores"
	UnitMebibytes    = "MiB"
	UnitBytesPerSec  = "B/s"
)

// PerHour is the unit of what changes, or costs, so much in an hour.
func PerHour(unit string) string { return unit + "/h" }

// Unit of a statistic of loads; empty for what is known of servers only, which
// have the unit of their resource.
func Unit(statistic string) string {
	switch statistic {
	case Average, P50, P75, P95, P99, Max:
		return UnitMilliseconds
	case Errors:
		return UnitPercent
	case Duration, ClientDuration, LostTime, ExcessTime, RecoveryTime:
		return UnitSeconds
	case RecordsPerSecond, RequestsPerSecond, IterationsPerSecond:
		return UnitPerSecond
	case Samples, Count, Imports, FailedImports, Records, FailedRecords, ChildJobs, FailedChildJobs, Capacity, ExcessErrors:
		return UnitCount
	}
	return ""
}
