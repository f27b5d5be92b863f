// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// DisplayName combines a metric and its scenario: cico/Check-In/p95 of cico-8. A scenario with the
// load's name is not repeated: create-5k/duration.
func DisplayName(metric, scenario string) string {
	if load, _ := CutOwner(metric); load == scenario {
		return Plain(metric)
	}
	return Plain(metric) + " of " + scenario
}

// Phrase returns the metric's name for a sentence.
func (m Metric) Phrase() string {
	text := m.fullPhrase()
	if m.Window != "" {
		text += " (" + WindowPhrase(m.Window) + ")"
	}
	return text
}

// BeginsWithName reports whether the phrase begins with a user's name, which is not
// capitalized.
func (m Metric) BeginsWithName() bool { return m.Ending() != m.Phrase() }

// Ending is the phrase without its leading name; all of it if there is none.
func (m Metric) Ending() string {
	if m.IsServer() && m.Component != Custom {
		return m.Phrase()
	}
	return strings.TrimPrefix(m.Phrase(), cmp.Or(Plain(m.Transaction), m.Of))
}

// Under combines the metric with the scenario it was measured under, unless the name of an
// import includes it.
func (m Metric) Under(scenario string) string {
	if m.IsWhole() && m.Of == scenario {
		return m.Phrase()
	}
	return m.Phrase() + " under " + scenario
}

// fullPhrase is the phrase without the window.
func (m Metric) fullPhrase() string {
	switch {
	case m.Component == System:
		return "cost per hour"
	case m.Component == Custom:
		return strings.TrimSpace(m.Of + " " + m.Statistic)
	case m.Component == Node:
		return m.summaryPhrase() + " of the collector's node"
	case m.IsServer():
		return m.serverPhrase()
	case m.IsWhole():
		return m.wholePhrase()
	}
	return m.transactionPhrase()
}

func (m Metric) transactionPhrase() string {
	subject := Plain(m.Transaction)
	if m.Request != "" {
		subject += " " + RequestPhrase(m.Request)
	}
	switch m.Statistic {
	case Average:
		return subject + " average response time"
	case Errors:
		return subject + " error share"
	case Samples:
		return "number of " + subject
	case Max:
		return subject + " maximum response time"
	}
	return subject + " " + m.Statistic + " response time"
}

func (m Metric) wholePhrase() string {
	switch m.Statistic {
	case Duration:
		if m.Part > 0 {
			return fmt.Sprintf("duration of import %d of %s", m.Part, m.Of)
		}
		return "duration of import " + m.Of
	case ClientDuration:
		return "client-side duration of import " + m.Of
	case RecordsPerSecond:
		return "records per second of import " + m.Of
	case RequestsPerSecond:
		return "requests per second of " + m.Of
	case IterationsPerSecond:
		return "iterations per second of " + m.Of
	case Capacity:
		return "capacity for " + m.Of
	case LostTime:
		return "time lost by " + m.Of
	case ExcessErrors:
		return "excess errors of " + m.Of
	case ExcessTime:
		return "excess response time of " + m.Of
	case OutageStart:
		return "time to the first outage of " + m.Of
	case RecoveryTime:
		return "recovery time of " + m.Of
	case FailedImports:
		return "failed imports of " + m.Of
	case FailedRecords:
		return "failed records of import " + m.Of
	}
	return m.Of + " " + m.Statistic
}

func (m Metric) serverPhrase() string {
	switch {
	case m.Resource == "":
		return Plain(m.Name)
	case m.Of == "":
		return m.summaryPhrase()
	case m.Component == Module:
		return m.summaryPhrase() + " of " + m.Of
	}
	return m.summaryPhrase() + " of " + componentPhrase(m.Component) + " " + m.Of
}

// summaryPhrase returns the statistic and the resource: average CPU.
func (m Metric) summaryPhrase() string {
	if m.Statistic == DrainTime {
		return "time to drain the " + ResourcePhrase(m.Resource)
	}
	return strings.TrimSpace(m.Statistic + " " + ResourcePhrase(m.Resource))
}

// componentPhrase returns the kind of server, which precedes the server's own name.
func componentPhrase(component string) string {
	switch component {
	case Postgres:
		return "PostgreSQL"
	case Kafka:
		return "Kafka"
	}
	return "load generator"
}

// resourcePhrases are the phrases of resources with a fixed name.
var resourcePhrases = map[string]string{
	CPU:                   "CPU",
	CPUUsed:               "CPU utilization",
	MemoryFree:            "free memory",
	DiskUsed:              "disk utilization",
	StorageFree:           "free storage",
	ActiveSessions:        "active sessions",
	ReadsPerSecond:        "reads per second",
	WritesPerSecond:       "writes per second",
	ReadLatency:           "read latency",
	WriteLatency:          "write latency",
	BytesIn:               "bytes in",
	BytesOut:              "bytes out",
	TransactionsPerSecond: "transactions per second",
	CPUPressure:           "CPU pressure",
	OtherCPU:              "CPU use by other workloads",
	LoadAverage:           "load average",
	CPUSpeed:              "CPU speed",
	DiskRead:              "disk reads",
	DiskWritten:           "disk writes",
	NetworkIn:             "received network traffic",
	NetworkOut:            "sent network traffic",
}

// ResourcePhrase returns a resource's name for sentences and headings.
func ResourcePhrase(resource string) string {
	if phrase, known := resourcePhrases[resource]; known {
		return phrase
	}
	if kind, isConnections := strings.CutPrefix(resource, "connections/"); isConnections {
		return kind + " connections"
	}
	if waiting, isLoad := strings.CutPrefix(resource, DatabaseLoad); isLoad {
		return "database load (" + waiting + ")"
	}
	return resource
}

// WindowPhrase returns a window's name for sentences and headings.
func WindowPhrase(window string) string {
	if load, isDuring := CutDuring(window); isDuring {
		return "during " + load
	}
	if fault, isFault := CutFault(window); isFault {
		return "after " + fault
	}
	return window
}

// RequestPhrase is a request's name without host and query, which are long and may be
// confidential.
func RequestPhrase(request string) string {
	if address, err := url.Parse(request); err == nil && isAddress(request) {
		return address.EscapedPath()
	}
	return request
}

// IsInformative reports whether a difference of the metric is meaningful: the number of samples
// follows from the load, a maximum from a single request.
func (m Metric) IsInformative() bool {
	switch m.Statistic {
	case Samples, Max, Slope, SlopeLow, SlopeHigh, PercentOfRequest, PercentOfLimit, P99, P50, Imports, Records:
		return false
	}
	// Other workloads on a node are no effect of an arm.
	return m.Request == "" && m.Component != Node
}

// IsSlope reports whether the metric is a change per hour, or an end of its interval.
func (m Metric) IsSlope() bool {
	return m.Statistic == Slope || m.Statistic == SlopeLow || m.Statistic == SlopeHigh
}

// Restates reports whether the metric repeats the information of others.
func (m Metric) Restates() bool {
	if m.Part > 0 {
		return true
	}
	switch m.Statistic {
	case ClientDuration, RecordsPerSecond, RequestsPerSecond, IterationsPerSecond, P75, Slope:
		return true
	}
	return false
}
