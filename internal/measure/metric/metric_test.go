// SPDX-License-Identifier: Apache-2.0

package metric_test

import (
	"slices"
	"testing"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/testing/expect"
)

// kind of a metric.
type kind int

const (
	whole kind = iota
	transaction
	request
	server
)

// known are metrics of every kind, with their properties.
var known = map[string]struct {
	want   metric.Metric
	kind   kind
	guard  bool
	rising bool
	phrase string
}{
	"cico/Check-In/p95":                 {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "p95"}, transaction, true, false, "Check-In p95 response time"},
	"cico/Check-In/p95@alone":           {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "p95", Window: "alone"}, transaction, false, false, "Check-In p95 response time (alone)"},
	"cico/Check-In/average@during-a":    {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "average", Window: "during-a"}, transaction, false, false, "Check-In average response time (during a)"},
	"cico/Check-In/errors":              {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "errors"}, transaction, true, false, "Check-In error share"},
	"cico/Check-In/samples@after":       {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "samples", Window: "after"}, transaction, false, true, "number of Check-In (after)"},
	"cico/Check-In/max":                 {metric.Metric{Of: "cico", Transaction: "Check-In", Statistic: "max"}, transaction, false, false, "Check-In maximum response time"},
	"cico/records/average":              {metric.Metric{Of: "cico", Transaction: "records", Statistic: "average"}, transaction, false, false, "records average response time"},
	"search/find / a/p95":               {metric.Metric{Of: "search", Transaction: "find / a", Statistic: "p95"}, transaction, false, false, "find / a p95 response time"},
	"cico/Check-In/GET /users/p95":      {metric.Metric{Of: "cico", Transaction: "Check-In", Request: "GET /users", Statistic: "p95"}, request, false, false, "Check-In GET /users p95 response time"},
	"cico/Check-In/GET /a@b/c/p95":      {metric.Metric{Of: "cico", Transaction: "Check-In", Request: "GET /a@b/c", Statistic: "p95"}, request, false, false, "Check-In GET /a@b/c p95 response time"},
	"s/find/https://host/a?token=b/p95": {metric.Metric{Of: "s", Transaction: "find", Request: "https://host/a?token=b", Statistic: "p95"}, request, false, false, "find /a p95 response time"},

	"create-5k/duration":         {metric.Metric{Of: "create-5k", Statistic: "duration"}, whole, false, false, "duration of import create-5k"},
	"create-5k/clientDuration":   {metric.Metric{Of: "create-5k", Statistic: "clientDuration"}, whole, false, false, "client-side duration of import create-5k"},
	"create-5k/recordsPerSecond": {metric.Metric{Of: "create-5k", Statistic: "recordsPerSecond"}, whole, false, true, "records per second of import create-5k"},
	"create-5k/failedRecords":    {metric.Metric{Of: "create-5k", Statistic: "failedRecords"}, whole, false, false, "failed records of import create-5k"},
	"di/import-12/duration":      {metric.Metric{Of: "di", Part: 12, Statistic: "duration"}, whole, false, false, "duration of import 12 of di"},
	"di/import-0/duration":       {metric.Metric{Of: "di", Statistic: "import-0/duration"}, whole, false, false, "di import-0/duration"},
	"di/import-012/duration":     {metric.Metric{Of: "di", Statistic: "import-012/duration"}, whole, false, false, "di import-012/duration"},
	"search/requestsPerSecond":   {metric.Metric{Of: "search", Statistic: "requestsPerSecond"}, whole, false, true, "requests per second of search"},
	"search/iterationsPerSecond": {metric.Metric{Of: "search", Statistic: "iterationsPerSecond"}, whole, false, true, "iterations per second of search"},
	"search/errors":              {metric.Metric{Of: "search", Statistic: "errors"}, whole, true, false, "search errors"},
	"search/what/it/says":        {metric.Metric{Of: "search", Statistic: "what/it/says"}, whole, false, false, "search what/it/says"},

	"system/cost/perHour":     {metric.Metric{Component: "system", Of: "system", Resource: "cost", Statistic: "perHour"}, server, false, false, "cost per hour"},
	"system/duration":         {metric.Metric{Of: "system", Statistic: "duration"}, whole, false, false, "duration of import system"},
	"system/Check-In/p95":     {metric.Metric{Of: "system", Transaction: "Check-In", Statistic: "p95"}, transaction, true, false, "Check-In p95 response time"},
	"cost/Check-In/average":   {metric.Metric{Of: "cost", Transaction: "Check-In", Statistic: "average"}, transaction, false, false, "Check-In average response time"},
	"samples/Check-In/max":    {metric.Metric{Of: "samples", Transaction: "Check-In", Statistic: "max"}, transaction, false, false, "Check-In maximum response time"},
	"module/mod-a/cpu/max":    {metric.Metric{Component: "module", Of: "mod-a", Resource: "cpu", Statistic: "max"}, server, false, false, "max CPU of mod-a"},
	"module/mod-a/restarts":   {metric.Metric{Component: "module", Of: "mod-a", Resource: "restarts"}, server, false, false, "restarts of mod-a"},
	"module/records/cpu/max":  {metric.Metric{Component: "module", Of: "records", Resource: "cpu", Statistic: "max"}, server, false, false, "max CPU of records"},
	"kafka/broker-0/cpu/max":  {metric.Metric{Component: "kafka", Of: "broker-0", Resource: "cpu", Statistic: "max"}, server, false, false, "max CPU of Kafka broker-0"},
	"generator/cico/cpu/max":  {metric.Metric{Component: "generator", Of: "cico", Resource: "cpu", Statistic: "max"}, server, false, false, "max CPU of load generator cico"},
	"node/otherCpu/average":   {metric.Metric{Component: "node", Resource: "otherCpu", Statistic: "average"}, server, false, false, "average CPU use by other workloads of the collector's node"},
	"custom/hits/average":     {metric.Metric{Component: "custom", Of: "hits", Statistic: "average"}, server, false, true, "hits average"},
	"custom/hits/a@b/c/max":   {metric.Metric{Component: "custom", Of: "hits/a@b/c", Statistic: "max"}, server, false, true, "hits/a@b/c max"},
	"custom/samples/average":  {metric.Metric{Component: "custom", Of: "samples", Statistic: "average"}, server, false, false, "samples average"},
	"postgres/primary/oddity": {metric.Metric{Component: "postgres", Of: "primary", Resource: "oddity"}, server, false, false, "oddity of PostgreSQL primary"},

	"postgres/primary/cacheHits":                   {metric.Metric{Component: "postgres", Of: "primary", Resource: "cacheHits"}, server, false, true, "cacheHits of PostgreSQL primary"},
	"postgres/primary/cacheHits/average":           {metric.Metric{Component: "postgres", Of: "primary", Resource: "cacheHits", Statistic: "average"}, server, false, true, "average cacheHits of PostgreSQL primary"},
	"postgres/primary/transactionsPerSecond/max":   {metric.Metric{Component: "postgres", Of: "primary", Resource: "transactionsPerSecond", Statistic: "max"}, server, false, true, "max transactions per second of PostgreSQL primary"},
	"postgres/primary/cpuUsed/average":             {metric.Metric{Component: "postgres", Of: "primary", Resource: "cpuUsed", Statistic: "average"}, server, false, false, "average CPU utilization of PostgreSQL primary"},
	"postgres/primary/memoryFree/average":          {metric.Metric{Component: "postgres", Of: "primary", Resource: "memoryFree", Statistic: "average"}, server, false, true, "average free memory of PostgreSQL primary"},
	"postgres/primary/storageFree/max":             {metric.Metric{Component: "postgres", Of: "primary", Resource: "storageFree", Statistic: "max"}, server, false, true, "max free storage of PostgreSQL primary"},
	"postgres/primary/activeSessions/average":      {metric.Metric{Component: "postgres", Of: "primary", Resource: "activeSessions", Statistic: "average"}, server, false, false, "average active sessions of PostgreSQL primary"},
	"postgres/replica-1/readLatency/average":       {metric.Metric{Component: "postgres", Of: "replica-1", Resource: "readLatency", Statistic: "average"}, server, false, false, "average read latency of PostgreSQL replica-1"},
	"postgres/primary/writesPerSecond/max":         {metric.Metric{Component: "postgres", Of: "primary", Resource: "writesPerSecond", Statistic: "max"}, server, false, false, "max writes per second of PostgreSQL primary"},
	"kafka/broker-1/diskUsed/average":              {metric.Metric{Component: "kafka", Of: "broker-1", Resource: "diskUsed", Statistic: "average"}, server, false, false, "average disk utilization of Kafka broker-1"},
	"kafka/broker-1/bytesIn/average":               {metric.Metric{Component: "kafka", Of: "broker-1", Resource: "bytesIn", Statistic: "average"}, server, false, false, "average bytes in of Kafka broker-1"},
	"postgres/primary/connections/total":           {metric.Metric{Component: "postgres", Of: "primary", Resource: "connections/total"}, server, false, false, "total connections of PostgreSQL primary"},
	"postgres/primary/connections/total/average":   {metric.Metric{Component: "postgres", Of: "primary", Resource: "connections/total", Statistic: "average"}, server, true, false, "average total connections of PostgreSQL primary"},
	"postgres/replica-1/connections/total/average": {metric.Metric{Component: "postgres", Of: "replica-1", Resource: "connections/total", Statistic: "average"}, server, true, false, "average total connections of PostgreSQL replica-1"},
	"postgres/primary/databaseLoad/lwLock/average": {metric.Metric{Component: "postgres", Of: "primary", Resource: "databaseLoad/lwLock", Statistic: "average"}, server, false, false, "average database load (lwLock) of PostgreSQL primary"},
	"postgres/primary/connections/total/max":       {metric.Metric{Component: "postgres", Of: "primary", Resource: "connections/total", Statistic: "max"}, server, false, false, "max total connections of PostgreSQL primary"},
}

func TestParse(t *testing.T) {
	for name, tc := range known {
		want := tc.want
		want.Name = name
		got := metric.Parse(name)
		expect.Equal(t, want, got, "%s", name)
		expect.Equal(t, tc.kind, metricKind(got), "%s is of kind", name)
		expect.Equal(t, tc.guard, got.IsGuard(), "%s: guard", name)
		if rising := got.HigherIsBetter([]string{"hits"}); rising != tc.rising {
			t.Errorf("%s: higher is better %t, want %t", name, rising, tc.rising)
		}
		expect.Equal(t, tc.phrase, got.Phrase(), "%s is worded", name)
	}
}

// Records come from anywhere, and may contain any name.
func TestParseAcceptsAnyName(t *testing.T) {
	odd := []string{"", "/", "//", "m", "import-1", "a/import-1", "a/b/", "@", "a@", "a@b@c", " "}
	for _, component := range append(metric.Components(), metric.Cost) {
		odd = append(odd, component, component+"/", component+"/a", "/"+component, component+"@before")
	}
	for _, name := range odd {
		found := metric.Parse(name)
		if found.Name != name {
			t.Errorf("%q is called %q", name, found.Name)
		}
		_, _, _ = found.Phrase(), found.Under("s"), found.IsGuard()
		_, _, _ = found.HigherIsBetter(nil), found.IsResponseTime(), metric.DisplayName(name, "s")
	}
}

func metricKind(m metric.Metric) kind {
	switch {
	case m.IsServer():
		return server
	case m.IsWhole():
		return whole
	case m.IsTransaction():
		return transaction
	}
	return request
}

// A load's metric counts as a server's only if no load may have the name.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"module", "postgres", "kafka", "custom", "node", "generator", "system", "cost", "cico", ""} {
		isServer := metric.Parse(name + "/Check-In/p95").IsServer()
		if reserved := metric.Reserved(name); reserved != isServer {
			t.Errorf("%q: reserved %t, its metrics are a server's %t", name, reserved, isServer)
		}
	}
	for _, component := range metric.Components() {
		if !metric.Reserved(component) && component != metric.System {
			t.Errorf("a load may be called %q", component)
		}
	}
}

func TestWindows(t *testing.T) {
	for name, tc := range map[string]struct {
		is   bool
		load string
		text string
	}{
		"alone":            {true, "", "alone"},
		"after":            {true, "", "after"},
		"during-create-5k": {true, "create-5k", "during create-5k"},
		"before":           {false, "", "before"},
		"during":           {false, "", "during"},
		"":                 {false, "", ""},
	} {
		expect.Equal(t, tc.is, metric.IsWindow(name), "%q is a window", name)
		if load, found := metric.CutDuring(name); found && (load != tc.load || metric.During(load) != name) {
			t.Errorf("%q is during %q, want %q", name, load, tc.load)
		}
		expect.Equal(t, tc.text, metric.WindowPhrase(name), "%q is worded", name)
		if of, window := metric.CutWindow(metric.In("a/b/p95", name)); of != "a/b/p95" || window != name {
			t.Errorf("%q comes back as %q in %q", name, of, window)
		}
	}
	windows := []string{"during-b", "after", "during-a", "alone"}
	slices.SortStableFunc(windows, metric.CompareWindows)
	expect.Equal(t, []string{"alone", "during-b", "during-a", "after"}, windows, "windows in time")
}

func TestCompare(t *testing.T) {
	names := []string{"b/x@alone", "custom/a@b/c", "a/x@alone", "b/x", "a/x"}
	slices.SortFunc(names, metric.Compare)
	expect.Equal(t, []string{"a/x", "b/x", "custom/a@b/c", "a/x@alone", "b/x@alone"}, names, "metrics")
}

func TestParts(t *testing.T) {
	for name, want := range map[string][4]string{
		"cico/Check-In/p95": {"cico", "Check-In/p95", "cico/Check-In", "p95"},
		"a/b":               {"a", "b", "a", "b"},
		"a":                 {"a", "", "", "a"},
		"":                  {"", "", "", ""},
	} {
		var got [4]string
		got[0], got[1] = metric.CutOwner(name)
		got[2], got[3] = metric.CutStatistic(name)
		expect.Equal(t, want, got, "%q", name)
	}
}

func TestDirections(t *testing.T) {
	for want, names := range map[string][]string{
		"Lower is better.": {"cico/Check-In/p95", "custom/misses/max"},
		"Lower is better, except for records per second.":                         {"a/duration", "b/recordsPerSecond", "a/recordsPerSecond"},
		"Lower is better, except for cache hits.":                                 {"postgres/primary/cacheHits/average@alone"},
		"Lower is better, except for hits.":                                       {"custom/hits/average", "module/mod-a/cpu/max"},
		"Lower is better, except for transactions per second.":                    {"postgres/primary/transactionsPerSecond/average"},
		"Lower is better, except for iterations per second, requests per second.": {"s/requestsPerSecond", "s/iterationsPerSecond"},
	} {
		var metrics []metric.Metric
		for _, name := range names {
			if parsed := metric.Parse(name); parsed.HigherIsBetter([]string{"hits"}) {
				metrics = append(metrics, parsed)
			}
		}
		if got := metric.Directions(metrics, []string{"hits"}); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

// Only units with a single direction imply it.
func TestUnitsImplyDirections(t *testing.T) {
	for direction, units := range map[string][]string{
		"higher":  {"req/s", "requests/sec", "MB/s", "B/s", "MiB/s", "ops/s", "op/s", "msgs/s", "rows/second", "tx/s", "qps", "ops", "TPS", "Mbit/s", "Gbps", "kops/s", "Kreq/s", "Mrows/sec", "records/min", "jobs/hour", "requests per second", "items per minute"},
		"lower":   {"ns", "ms", "s", "\u00b5s", "\u03bcs", "sec/op", "ns/op", "ns/GC", "ms/req", "p99-ns", "p99-sec", "B/op", "allocs/op"},
		"unknown": {"", "1", "%", "hits", "MiB", "cores", "errors/s", "faults/s", "gc/s", "misses/op", "1/s", "errors per second", "km/h", "-sec", "s2", "msx", "reqs"},
	} {
		for _, unit := range units {
			higher, known := metric.Parse("custom/a/b").Direction(unit, nil, nil)
			got := map[[2]bool]string{{true, true}: "higher", {false, true}: "lower", {false, false}: "unknown"}[[2]bool{higher, known}]
			if got != direction {
				t.Errorf("%q: %s, want %s", unit, got, direction)
			}
		}
	}
}

func TestDisplayName(t *testing.T) {
	for want, got := range map[string]string{
		"cico/Check-In/p95 of cico-8":             metric.DisplayName("cico/Check-In/p95", "cico-8"),
		"create-5k/duration":                      metric.DisplayName("create-5k/duration", "create-5k"),
		"create-5k/duration of create-50":         metric.DisplayName("create-5k/duration", "create-50"),
		"duration of import create-5k":            metric.Parse("create-5k/duration").Under("create-5k"),
		"duration of import create-5k under both": metric.Parse("create-5k/duration").Under("both"),
		"cost per hour under system":              metric.Parse(metric.Cost).Under("system"),
	} {
		expect.Equal(t, want, got)
	}
}

func TestUnits(t *testing.T) {
	for unit, statistics := range map[string][]string{
		"ms": {"average", "p50", "p99", "max"}, "%": {"errors"}, "s": {"duration", "clientDuration"}, "1": {"samples", "count", "records"},
		"1/s": append(metric.Rates(), "recordsPerSecond"), "": {"slope"},
	} {
		for _, statistic := range statistics {
			expect.Equal(t, unit, metric.Unit(statistic), "%s is in", statistic)
		}
	}
	for _, statistic := range slices.Concat(metric.SummaryStatistics(), metric.ImportStatistics(), metric.Rates()) {
		if metric.Unit(statistic) == "" {
			t.Errorf("%s of a load has no unit", statistic)
		}
	}
}

func TestIsInformative(t *testing.T) {
	for name, want := range map[string][2]bool{ // informative, restating
		"cico/Check-In/average":         {true, false},
		"cico/Check-In/p75":             {true, true},
		"cico/Check-In/max":             {false, false},
		"cico/Check-In/GET /users/p95":  {false, false},
		"create-5k/recordsPerSecond":    {true, true},
		"create-5k/records":             {false, false},
		"module/mod-a/memory/slope":     {false, true},
		"node/otherCpu/average":         {false, false},
		"postgres/primary/cacheHits":    {true, false},
		"generator/cico/cpu/average":    {true, false},
		"kafka/broker-0/disk/slopeHigh": {false, false},
	} {
		m := metric.Parse(name)
		if got := [2]bool{m.IsInformative(), m.Restates()}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A user's name at the beginning of a sentence is not capitalized.
func TestBeginsWithName(t *testing.T) {
	for name, want := range map[string]bool{
		"load/orders/average": true, `load/orders\/items/p95`: true, "load/GET /orders/errors": true, "load/orders/samples": false,
		"module/orders/cpu/average": false, "postgres/primary/cpu/average": false, "custom/queue depth/max": true,
	} {
		expect.Equal(t, want, metric.Parse(name).BeginsWithName(), "%s, %s", name, metric.Parse(name).Phrase())
	}
}
