// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/url"
	"slices"
	"strings"
)

// Units of observations.
const (
	unitCount   = "1"
	unitPercent = "%"
	unitMillis  = "ms"
)

// Components that metrics of servers begin with. What begins otherwise is of a
// load.
const (
	componentModule   = "module"
	componentPostgres = "postgres"
	componentKafka    = "kafka"
	componentCustom   = "custom"
	componentCost     = "cost"
	componentLoad     = "generator"
	componentNode     = "node"
)

// Statistics of transactions and of servers.
const (
	statisticSamples = "samples"
	statisticAverage = "average"
	statisticP75     = "p75"
	statisticP95     = "p95"
	statisticErrors  = "errors"
	statisticMax     = "max"
	statisticSlope   = "slope"
	// Of a whole load.
	statisticRequests   = "requestsPerSecond"
	statisticIterations = "iterationsPerSecond"
)

// statistics of transactions and requests, in the order in which they are told.
var statistics = []string{statisticSamples, statisticAverage, "p50", statisticP75, statisticP95, "p99", statisticMax, statisticErrors}

// metric is the name of a metric, taken apart.
type metric struct {
	// name as recorded.
	name string
	// component is module, postgres, kafka, custom or cost; empty for a load's.
	component string
	// of is the load, the module, the server.
	of string
	// transaction of a load, and one of its requests.
	transaction, request string
	// resource of a server: cpu, memory, connections/active.
	resource string
	// statistic, or the quantity of an import.
	statistic string
	// window is the stretch of the run; empty for all that counts.
	window string
}

// parseMetric takes a metric's name apart. It never fails: what it does not
// know is a statistic of the load that the name begins with.
func parseMetric(name string) metric {
	made := metric{name: name}
	body := name
	if at := strings.LastIndexByte(name, '@'); at >= 0 {
		body, made.window = name[:at], name[at+1:]
	}
	parts := strings.Split(body, "/")
	switch parts[0] {
	case componentModule, componentPostgres, componentKafka, componentLoad:
		made.server(parts)
	case componentCustom:
		made.component, made.of = componentCustom, strings.Join(parts[1:], "/")
		if last := parts[len(parts)-1]; len(parts) > 2 && slices.Contains(serverStatistics, last) {
			made.of, made.statistic = strings.Join(parts[1:len(parts)-1], "/"), last
		}
	case componentNode:
		made.node(parts)
	case componentCost:
		made.component, made.statistic = componentCost, strings.Join(parts[1:], "/")
	default:
		made.load(parts)
	}
	return made
}

var serverStatistics = []string{statisticAverage, statisticMax, "percentOfRequest", "percentOfLimit", statisticSlope, "slopeLow", "slopeHigh"}

func (m *metric) server(parts []string) {
	m.component = parts[0]
	if len(parts) < 3 {
		m.resource = strings.Join(parts[1:], "/")
		return
	}
	m.of = parts[1]
	last := len(parts) - 1
	if last >= 3 && slices.Contains(serverStatistics, parts[last]) {
		m.resource, m.statistic = strings.Join(parts[2:last], "/"), parts[last]
		return
	}
	m.resource = strings.Join(parts[2:], "/")
}

// node takes a metric of the collector's node apart: there is one, without a name.
func (m *metric) node(parts []string) {
	m.component = componentNode
	last := len(parts) - 1
	if last >= 2 && slices.Contains(serverStatistics, parts[last]) {
		m.resource, m.statistic = strings.Join(parts[1:last], "/"), parts[last]
		return
	}
	m.resource = strings.Join(parts[1:], "/")
}

func (m *metric) load(parts []string) {
	m.of = parts[0]
	last := len(parts) - 1
	m.statistic = parts[last]
	if last < 2 || !slices.Contains(statistics, m.statistic) {
		m.statistic = strings.Join(parts[1:], "/")
		return
	}
	// A request's name has slashes of its own, and begins with its method.
	m.transaction = parts[1]
	m.request = strings.Join(parts[2:last], "/")
	if m.request != "" && !isRequest(m.request) {
		m.transaction, m.request = strings.Join(parts[1:last], "/"), ""
	}
}

func isRequest(name string) bool {
	method, _, found := strings.Cut(name, " ")
	return found && method != "" && method == strings.ToUpper(method) || isAddress(name)
}

// isAddress: runs of scripts that named no requests have recorded their URLs.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// shownRequest is a request's name without host and query, which are long and may
// hold what nobody should read.
func shownRequest(request string) string {
	if address, err := url.Parse(request); err == nil && isAddress(request) {
		return address.EscapedPath()
	}
	return request
}

// isTransaction: the metric is of a whole transaction.
func (m metric) isTransaction() bool {
	return m.component == "" && m.transaction != "" && m.request == ""
}

// isWhole: the metric is of a load, mostly an import, as a whole.
func (m metric) isWhole() bool { return m.component == "" && m.transaction == "" }

// restates tells the metrics that say again what others beside them say.
func (m metric) restates() bool {
	switch m.statistic {
	case "clientDuration", "recordsPerSecond", statisticRequests, statisticIterations, statisticP75, statisticSlope:
		return true
	}
	return false
}

// phrase names the metric in a sentence.
func (m metric) phrase() string {
	var text string
	switch {
	case m.component == componentModule || m.component == componentPostgres || m.component == componentKafka || m.component == componentLoad:
		text = m.phraseOfServer()
	case m.component == componentNode:
		text = strings.TrimSpace(m.statistic+" "+resourceName(m.resource)) + " of the collector's node"
	case m.component == componentCost:
		text = "cost"
	case m.component == componentCustom:
		text = strings.TrimSpace(m.of + " " + m.statistic)
	case m.isWhole():
		text = m.phraseOfWhole()
	default:
		text = m.phraseOfTransaction()
	}
	if m.window != "" {
		text += " (" + phraseOfWindow(m.window) + ")"
	}
	return text
}

// under names the metric with the scenario it was measured under, unless the name
// of an import says that already.
func (m metric) under(scenario string) string {
	if m.isWhole() && m.of == scenario {
		return m.phrase()
	}
	return m.phrase() + " under " + scenario
}

func (m metric) phraseOfTransaction() string {
	subject := m.transaction
	if m.request != "" {
		subject += " " + shownRequest(m.request)
	}
	switch m.statistic {
	case statisticAverage:
		return subject + " average response time"
	case statisticErrors:
		return subject + " error share"
	case statisticSamples:
		return "number of " + subject
	case statisticMax:
		return subject + " longest response time"
	}
	return subject + " " + m.statistic + " response time"
}

func (m metric) phraseOfWhole() string {
	switch m.statistic {
	case "duration":
		return "duration of import " + m.of
	case "clientDuration":
		return "duration of import " + m.of + " as the client saw it"
	case "recordsPerSecond":
		return "records per second of import " + m.of
	case statisticRequests:
		return "requests per second of " + m.of
	case statisticIterations:
		return "iterations per second of " + m.of
	case "failedRecords":
		return "failed records of import " + m.of
	}
	return m.of + " " + m.statistic
}

func (m metric) phraseOfServer() string {
	if m.resource == "" {
		return m.name
	}
	resource := resourceName(m.resource)
	if m.statistic != "" {
		resource = m.statistic + " " + resource
	}
	if m.of == "" {
		return resource
	}
	owner := m.of
	if m.component != componentModule {
		owner = componentName(m.component) + " " + m.of
	}
	return resource + " of " + owner
}

func phraseOfWindow(window string) string {
	if load, isDuring := strings.CutPrefix(window, "during-"); isDuring {
		return "during " + load
	}
	return window
}

// worthShowing tells the metrics of which a difference means something: a number
// of samples follows from the load, a maximum from one request.
func (m metric) worthShowing() bool {
	switch m.statistic {
	case statisticSamples, statisticMax, statisticSlope, "slopeLow", "slopeHigh", "percentOfRequest", "percentOfLimit", "p99", "p50", "imports", "records":
		return false
	}
	// What others do on a node is no effect of an arm.
	return m.request == "" && m.component != componentNode
}
