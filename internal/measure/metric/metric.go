// SPDX-License-Identifier: Apache-2.0

// Package metric defines the names of metrics, with their windows, subjects, units, directions
// and phrases. It is the only place that does, and has no notion of experiments.
//
// A metric of a load is LOAD/TRANSACTION/STATISTIC or, of the load as a whole, LOAD/STATISTIC:
// cico/Check-In/p95, create-5k/duration, and of one import of a series
// create-5k/import-3/duration. One of a server is COMPONENT/SERVER/RESOURCE/STATISTIC:
// postgres/primary/connections/total/average. A window follows an @:
// cico/Check-In/p95@during-create-5k.
//
// Names of transactions may contain slashes; package label escapes them.
package metric

import (
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/payload/label"
)

// Components are the first parts of the names of metrics that do not belong to a load.
const (
	Module   = "module"
	Postgres = "postgres"
	Kafka    = "kafka"
	Custom   = "custom"
	System   = "system"
	Node     = "node"
	// Generator is the load generator: generator/cico/cpu/average.
	Generator = "generator"
)

// Cost is the only metric of the system as a whole. All other names that begin with system belong
// to a load of this name.
const Cost = System + "/cost/perHour"

// Components returns the components that a question may ask about. The generator's resource use is
// not a property of the system.
func Components() []string { return []string{Module, Postgres, Kafka, Custom, System, Node} }

// Reserved reports whether a load may not have the name, because its metrics could not be
// distinguished from those of servers. A load may be called system, except for the metric
// Cost. Admission rejects reserved names, and Parse relies on it.
func Reserved(load string) bool {
	return load == Generator || load != System && slices.Contains(Components(), load)
}

// Servers with names of their own; Replica and Broker are followed by a number.
const (
	Primary = Postgres + "/primary"
	Replica = Postgres + "/replica-"
	Broker  = Kafka + "/broker-"
)

// Resources of servers.
const (
	CPU          = "cpu"
	CPUThrottled = "cpuThrottled"
	Memory       = "memory"
	HeapUsed     = "heapUsed"
	GCShare      = "gcShare"
	Disk         = "disk"
	// Of servers that report shares, or the remaining amount.
	CPUUsed     = "cpuUsed"
	MemoryFree  = "memoryFree"
	DiskUsed    = "diskUsed"
	StorageFree = "storageFree"
	// Of PostgreSQL.
	AllConnections    = "connections/"
	Connections       = AllConnections + "total"
	ConnectionsActive = AllConnections + "active"
	ConnectionsIdle   = AllConnections + "idle"
	IdleInTransaction = AllConnections + "idleInTransaction"
	// DatabaseLoad is followed by what working connections wait for.
	DatabaseLoad          = "databaseLoad/"
	TransactionsPerSecond = "transactionsPerSecond"
	CacheHits             = "cacheHits"
	DatabaseSize          = "databaseSize"
	Lag                   = "lag"
	// ActiveSessions is Amazon RDS's term for the database's load.
	ActiveSessions  = "activeSessions"
	ReadsPerSecond  = "readsPerSecond"
	WritesPerSecond = "writesPerSecond"
	ReadLatency     = "readLatency"
	WriteLatency    = "writeLatency"
	// Of Kafka. KafkaLag is the lag of all consumer groups, and the component with the groups as
	// instances.
	ConsumerLag = "consumerLag"
	KafkaLag    = Kafka + label.Separator + ConsumerLag
	RecordsIn   = "recordsIn"
	BytesIn     = "bytesIn"
	BytesOut    = "bytesOut"
	// Of the collector's node.
	CPUPressure = "cpuPressure"
	OtherCPU    = "otherCpu"
	LoadAverage = "loadAverage"
	CPUSpeed    = "cpuSpeed"
	// Of the node's disks, and of those of a database on Amazon RDS.
	DiskRead    = "diskRead"
	DiskWritten = "diskWritten"
	NetworkIn   = "networkIn"
	NetworkOut  = "networkOut"
)

// Metric is the parsed name of a metric.
type Metric struct {
	// Name as recorded.
	Name string
	// Component of the metric; empty for a load's.
	Component string
	// Of is the name of the load, the module or the server.
	Of string
	// Transaction of a load, as package label writes it, and one of its requests.
	Transaction, Request string
	// Resource of a server: cpu, memory, connections/active.
	Resource string
	// Part is the number of an import in a series, from 1; otherwise zero.
	Part int
	// Statistic, or the quantity of a load as a whole.
	Statistic string
	// Window of the run; empty for the whole measurement.
	Window string
}

// Name joins the parts of a metric's name: a load, a transaction and a statistic, or a component, a
// server, a resource and a statistic.
func Name(parts ...string) string { return strings.Join(parts, label.Separator) }

// OwnName returns the name of a custom metric, whose parts may contain any character.
func OwnName(series ...string) string {
	name := strings.NewReplacer(`\`, `\\`, windowMark, `\`+windowMark).Replace(Name(series...))
	if of, last := CutStatistic(name); slices.Contains(summaries, last) {
		name = Name(of, `\`+last)
	}
	return Name(Custom, name)
}

// Plain returns a name as users read it.
func Plain(name string) string { return label.Plain(name) }

// Same reports whether a user's spelling is the name of a metric: as parsed, or with spaces
// around the slashes, which names of nested groups used to have.
func Same(written, name string) bool {
	return strings.ReplaceAll(written, " / ", label.Separator) == Plain(name)
}

// CutOwner splits a name after its first part, the load or the component.
func CutOwner(name string) (owner, rest string) {
	owner, rest, _ = strings.Cut(name, label.Separator)
	return owner, rest
}

// CutStatistic splits a name before its last part, the statistic. A name with only one part is a
// statistic without a subject.
func CutStatistic(name string) (of, statistic string) {
	at := strings.LastIndex(name, label.Separator)
	return name[:max(at, 0)], name[at+1:]
}

// Holders returns the parents of a load's metric, the innermost first: its request, its
// transaction, the transactions around it, and the load. A server's metric has none.
func (m Metric) Holders() []string {
	if m.IsServer() {
		return nil
	}
	var holders []string
	if m.Request != "" {
		holders = append(holders, Name(m.Of, label.Request(m.Transaction, m.Request)))
	}
	path := m.path()
	for within := len(path); within > 0; within-- {
		holders = append(holders, Name(m.Of, label.Join(path[:within]...)))
	}
	return append(holders, m.Of)
}

// path of the transaction: the transactions around it, then its own name.
func (m Metric) path() []string {
	if m.Transaction == "" {
		return nil
	}
	path, _ := label.Cut(m.Transaction)
	return path
}

// Identity is the subject of a metric in machine-readable form.
type Identity struct {
	// Component of the metric; empty for a load's.
	Component string `json:"component,omitempty"`
	// Of is the name of the load, the module or the server.
	Of string `json:"of,omitempty"`
	// Transaction is the path of the transaction, its own name last.
	Transaction []string `json:"transaction,omitempty"`
	Request     string   `json:"request,omitempty"`
	Resource    string   `json:"resource,omitempty"`
	Statistic   string   `json:"statistic,omitempty"`
	Window      string   `json:"window,omitempty"`
}

// Identity of the metric.
func (m Metric) Identity() Identity {
	return Identity{m.Component, m.Of, m.path(), m.Request, m.Resource, m.Statistic, m.Window}
}

// Parse splits a metric's name. It never fails: an unknown name is a statistic of the load
// that it starts with.
func Parse(name string) Metric {
	body, window := CutWindow(name)
	made := Metric{Name: name, Window: window}
	parts := label.Split(body)
	switch {
	case body == Cost:
		made.Component, made.Of, made.Resource, made.Statistic = System, System, parts[1], parts[2]
	case parts[0] == Custom:
		made.custom(parts)
	case parts[0] == Node:
		// There is one collector, so its node has no name.
		made.server(slices.Insert(slices.Clone(parts), 1, ""))
	case Reserved(parts[0]):
		made.server(parts)
	default:
		made.load(parts)
	}
	return made
}

func (m *Metric) custom(parts []string) {
	m.Component = Custom
	if last := parts[len(parts)-1]; len(parts) > 2 && slices.Contains(summaries, last) {
		parts, m.Statistic = parts[:len(parts)-1], last
	}
	m.Of = label.Plain(Name(parts[1:]...))
}

func (m *Metric) server(parts []string) {
	m.Component = parts[0]
	if len(parts) < 3 {
		m.Resource = Name(parts[1:]...)
		return
	}
	m.Of = parts[1]
	if last := len(parts) - 1; last >= 3 && slices.Contains(summaries, parts[last]) {
		parts, m.Statistic = parts[:last], parts[last]
	}
	m.Resource = Name(parts[2:]...)
}

func (m *Metric) load(parts []string) {
	m.Of = parts[0]
	last := len(parts) - 1
	m.Statistic = parts[last]
	if last < 2 || !slices.Contains(transactional, m.Statistic) {
		if m.Part = parsePart(parts[1:]); m.Part == 0 {
			m.Statistic = Name(parts[1:]...)
		}
		return
	}
	m.Transaction = Name(parts[1:last]...)
	if _, m.Request = label.Cut(m.Transaction); m.Request != "" {
		m.Transaction = strings.TrimSuffix(m.Transaction, label.Separator+m.Request)
	}
}

// partPrefix precedes the number of an import in a series.
const partPrefix = "import-"

// Part names one import of a series, after the load: import-3.
func Part(number int) string { return partPrefix + strconv.Itoa(number) }

// parsePart returns the number of the import in a name, after its load; zero if it covers several.
func parsePart(parts []string) int {
	if len(parts) != 2 || parts[1] != Duration {
		return 0
	}
	digits, found := strings.CutPrefix(parts[0], partPrefix)
	if !found {
		return 0
	}
	number, err := strconv.Atoi(digits)
	if err != nil || Part(number) != parts[0] {
		return 0
	}
	return max(number, 0)
}

// isAddress reports whether the name is a URL: scripts without request names record URLs.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// IsServer reports whether the metric belongs to a server, including the cost.
func (m Metric) IsServer() bool { return m.Component != "" }

// IsTransaction reports whether the metric covers whole transactions.
func (m Metric) IsTransaction() bool {
	return !m.IsServer() && m.Transaction != "" && m.Request == ""
}

// IsWhole reports whether the metric covers a load as a whole, mostly an import.
func (m Metric) IsWhole() bool { return !m.IsServer() && m.Transaction == "" }

// IsUse reports whether the metric is the given statistic of a server's resource over the
// whole run: the average memory of a module.
func (m Metric) IsUse(component, resource, statistic string) bool {
	return m.Component == component && m.Resource == resource && m.Statistic == statistic && m.Window == ""
}

// IsResponseTime reports whether the metric is a transaction's average or 95th percentile.
func (m Metric) IsResponseTime() bool {
	return m.isTopTransaction() && (m.Statistic == Average || m.Statistic == P95)
}

// isTopTransaction excludes transactions within others.
func (m Metric) isTopTransaction() bool { return m.IsTransaction() && len(m.path()) == 1 }

// IsGuard reports whether the metric is a default guardrail: error rates and 95th percentiles
// of loads, and the connections of PostgreSQL's servers, over the whole run.
func (m Metric) IsGuard() bool {
	if m.IsServer() {
		return m.IsUse(Postgres, Connections, Average)
	}
	isFew := m.IsWhole() || m.isTopTransaction()
	return isFew && m.Window == "" && (m.Statistic == Errors || m.Statistic == P95)
}
