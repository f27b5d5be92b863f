// SPDX-License-Identifier: Apache-2.0

package metric

import "slices"

// Statistics of transactions and, some of them, of servers' resource use.
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

// Statistics of servers' resource use. Slopes are per hour; SlopeLow and SlopeHigh are the ends of
// their intervals.
const (
	PercentOfRequest = "percentOfRequest"
	PercentOfLimit   = "percentOfLimit"
	Slope            = "slope"
	SlopeLow         = "slopeLow"
	SlopeHigh        = "slopeHigh"
	// DrainTime is the time from a fault until the consumers' lag is as before again.
	DrainTime = "drainTime"
	Restarts  = "restarts"
	OOMKills  = "oomKills"
)

// Quantities of a load as a whole. The last two are those of loads without imports.
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

	// Capacity is the highest level at which the objectives hold, in users or the unit of the
	// levels.
	Capacity = "capacity"
)

// Quantities of a load as a whole, after a fault, compared with the undisturbed load.
const (
	// LostTime is the time in which the undisturbed load completes as many transactions as are
	// missing: 3 s of an outage, or 6 s at half the rate.
	LostTime = "lostTime"
	// ExcessErrors are the failed transactions beyond the undisturbed share.
	ExcessErrors = "excessErrors"
	// ExcessTime is the total response time of successful transactions beyond the undisturbed
	// average.
	ExcessTime = "excessTime"
	// OutageStart is the time from the fault's begin to the begin of the first outage.
	OutageStart = "outageStart"
	// RecoveryTime is the time from the fault's begin to the end of the last outage.
	RecoveryTime = "recoveryTime"
)

// Count of a metric in k6's summary.
const Count = "count"

// Transactions of check-in and check-out; scripts have their own.
const (
	CheckIn  = "Check-In"
	CheckOut = "Check-Out"
)

// transactional are the statistics of a transaction, summaries those of resource use.
var (
	transactional = []string{Average, P50, P75, P95, P99, Max, Samples, Errors}
	summaries     = []string{Average, Max, PercentOfRequest, PercentOfLimit, Slope, SlopeLow, SlopeHigh, DrainTime}
)

// TransactionStatistics returns the statistics of a transaction.
func TransactionStatistics() []string { return slices.Clone(transactional) }

// SummaryStatistics returns the statistics of a metric in k6's summary.
func SummaryStatistics() []string { return append(TransactionStatistics(), Count) }

// ServerStatistics returns the statistics of servers' resource use, but DrainTime, which only
// consumers have, after faults.
func ServerStatistics() []string {
	return append(slices.DeleteFunc(slices.Clone(summaries), func(one string) bool { return one == DrainTime }), Restarts, OOMKills)
}

// Rates returns the quantities of a load without imports.
func Rates() []string { return []string{RequestsPerSecond, IterationsPerSecond} }

// ImportStatistics returns the quantities of a load with imports.
func ImportStatistics() []string {
	return []string{Duration, ClientDuration, RecordsPerSecond, Imports, FailedImports, Records, FailedRecords, ChildJobs, FailedChildJobs}
}

// FaultStatistics returns the quantities of a load after a fault.
func FaultStatistics() []string {
	return []string{LostTime, ExcessErrors, ExcessTime, OutageStart, RecoveryTime}
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

// PerHour returns the unit of a change, or of a cost, per hour.
func PerHour(unit string) string { return unit + "/h" }

// Unit returns the unit of a load's statistic; empty for statistics of servers only, which have the
// unit of their resource.
func Unit(statistic string) string {
	switch statistic {
	case Average, P50, P75, P95, P99, Max:
		return UnitMilliseconds
	case Errors:
		return UnitPercent
	case Duration, ClientDuration, LostTime, ExcessTime, OutageStart, RecoveryTime:
		return UnitSeconds
	case RecordsPerSecond, RequestsPerSecond, IterationsPerSecond:
		return UnitPerSecond
	case Samples, Count, Imports, FailedImports, Records, FailedRecords, ChildJobs, FailedChildJobs, Capacity, ExcessErrors:
		return UnitCount
	}
	return ""
}
