// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// amazon reads CloudWatch's metrics of Amazon's managed servers from Prometheus.
//
// An exporter provides them with CloudWatch's own times, a minute or more late, or as the last
// value. So the raw samples are queried, each with its time, and each is recorded once, however
// late it is.
type amazon struct {
	prometheus prometheusv1.API
	// source is its name in errors; what, in notes, with the names of the servers.
	source, what string
	// names are the values of the label that identifies the server.
	names []string
	// component returns the component of a series; empty for other servers.
	component func(*exporter, model.Metric) string
	// components that are known in advance.
	components []string
	figures    []figure
	exporters  []exporter

	// found is the exporter with series; nil if none was found yet.
	found *exporter
	// sizes of the instances, by component, if the exporter has them.
	sizes map[string]size
	// newest are the times of the last recorded samples, by component and resource.
	newest map[[2]string]time.Time
	// reach of the last recorded samples; stamped: they have CloudWatch's own times.
	reach   time.Duration
	stamped bool
	// doubled are components with series of several services.
	doubled map[string]bool
}

// lookback is the maximum delay of samples in Prometheus. Exporters query CloudWatch for the
// last ten minutes by default.
const lookback = 20 * time.Minute

// figure is a quantity of a server in CloudWatch.
type figure struct {
	resource, unit string
	// scale its values are multiplied by.
	scale float64
	// parts are added up. Each has several names, one per exporter.
	parts [][]string
}

// exporter describes the labels of an exporter.
type exporter struct {
	// server is the label with the name of the instance, or of the cluster; broker and topic are
	// those of brokers.
	server, broker, topic string
	// late is the maximum age of a value without CloudWatch's time.
	late time.Duration
	// hasSizes means that it exports the sizes of instances.
	hasSizes bool
}

const (
	// lateOfScrapes: yet-another-cloudwatch-exporter by default queries, every five minutes, the
	// last five whole minutes; cloudwatch_exporter the ten minutes that ended ten minutes ago.
	lateOfScrapes = 20 * time.Minute
	// lateOfRDSExporter: prometheus-rds-exporter queries, at each scrape, the newest minute of
	// the last three.
	lateOfRDSExporter = 3 * time.Minute
	// cloudWatchStep: CloudWatch's times are whole minutes, those of scrapes can have any
	// milliseconds.
	cloudWatchStep = time.Minute
)

var databaseExporters = []exporter{
	{server: "dimension_DBInstanceIdentifier", late: lateOfScrapes},
	{server: "dimension_dbinstance_identifier", late: lateOfScrapes},
	{server: "dbinstance_identifier", late: lateOfScrapes},
	{server: "dbidentifier", late: lateOfRDSExporter, hasSizes: true},
}

var brokerExporters = []exporter{
	{server: "dimension_Cluster_Name", broker: "dimension_Broker_ID", topic: "dimension_Topic", late: lateOfScrapes},
	{server: "dimension_cluster_name", broker: "dimension_broker_id", topic: "dimension_topic", late: lateOfScrapes},
	{server: "cluster_name", broker: "broker_id", topic: "topic", late: lateOfScrapes},
}

const perMebibyte = 1.0 / (1 << 20)

// databaseFigures are those of AWS/RDS, with the names of CloudWatch's exporters and of
// prometheus-rds-exporter. Quantities that the server itself reports are not queried: connections,
// lag, and waits of sessions.
var databaseFigures = []figure{
	{metric.CPUUsed, metric.UnitPercent, 1, [][]string{{"aws_rds_cpuutilization_average", "rds_cpu_usage_percent_average"}}},
	{metric.MemoryFree, metric.UnitMebibytes, perMebibyte, [][]string{{"aws_rds_freeable_memory_average", "rds_freeable_memory_bytes"}}},
	{metric.StorageFree, metric.UnitMebibytes, perMebibyte, [][]string{{"aws_rds_free_storage_space_average", "rds_free_storage_bytes"}}},
	{metric.ReadsPerSecond, metric.UnitPerSecond, 1, [][]string{{"aws_rds_read_iops_average", "rds_read_iops_average"}}},
	{metric.WritesPerSecond, metric.UnitPerSecond, 1, [][]string{{"aws_rds_write_iops_average", "rds_write_iops_average"}}},
	{metric.DiskRead, metric.UnitBytesPerSec, 1, [][]string{{"aws_rds_read_throughput_average", "rds_read_throughput_bytes"}}},
	{metric.DiskWritten, metric.UnitBytesPerSec, 1, [][]string{{"aws_rds_write_throughput_average", "rds_write_throughput_bytes"}}},
	{metric.ReadLatency, metric.UnitMilliseconds, 1000, [][]string{{"aws_rds_read_latency_average"}}},
	{metric.WriteLatency, metric.UnitMilliseconds, 1000, [][]string{{"aws_rds_write_latency_average"}}},
	{metric.ActiveSessions, metric.UnitCount, 1, [][]string{{"aws_rds_dbload_average", "rds_dbload_average"}}},
}

// brokerFigures are those of AWS/Kafka. One exporter omits a part of a metric's name that the
// namespace contains as well. Kafka itself reports the sizes of logs.
var brokerFigures = []figure{
	{metric.CPUUsed, metric.UnitPercent, 1, [][]string{{"aws_kafka_cpu_user_average"}, {"aws_kafka_cpu_system_average"}}},
	{metric.Memory, metric.UnitMebibytes, perMebibyte, [][]string{{"aws_kafka_memory_used_average"}}},
	{metric.DiskUsed, metric.UnitPercent, 1, [][]string{{"aws_kafka_data_logs_disk_used_average", "aws_kafka_kafka_data_logs_disk_used_average"}}},
	{metric.BytesIn, metric.UnitBytesPerSec, 1, [][]string{{"aws_kafka_bytes_in_per_sec_average"}}},
	{metric.BytesOut, metric.UnitBytesPerSec, 1, [][]string{{"aws_kafka_bytes_out_per_sec_average"}}},
}

// newDatabases reads the metrics of RDS instances.
func newDatabases(prometheus prometheusv1.API, databases []collector.Database) *amazon {
	made := &amazon{
		prometheus: prometheus, source: "RDS in Prometheus", what: "RDS instance", figures: databaseFigures, exporters: databaseExporters,
		newest: map[[2]string]time.Time{}, doubled: map[string]bool{},
	}
	of := map[string]string{}
	for _, database := range databases {
		of[database.Instance] = database.Component
		made.names = append(made.names, database.Instance)
		made.components = append(made.components, database.Component)
	}
	made.component = func(by *exporter, labels model.Metric) string { return of[string(labels[model.LabelName(by.server)])] }
	return made
}

// newBrokers reads the metrics of the brokers of an MSK cluster.
func newBrokers(prometheus prometheusv1.API, cluster string) *amazon {
	return &amazon{
		prometheus: prometheus, source: "MSK in Prometheus", what: "MSK cluster", names: []string{cluster},
		figures: brokerFigures, exporters: brokerExporters,
		newest: map[[2]string]time.Time{}, doubled: map[string]bool{},
		component: func(by *exporter, labels model.Metric) string {
			id, err := strconv.Atoi(string(labels[model.LabelName(by.broker)]))
			isWhole := labels[model.LabelName(by.topic)] == ""
			if err != nil || id < 0 || !isWhole {
				return ""
			}
			return metric.Broker + strconv.Itoa(id)
		},
	}
}

func (a *amazon) name() string { return a.source }

func (a *amazon) sample(ctx context.Context, now round) (recordFunc, error) {
	for i := range a.exporters {
		by := &a.exporters[i]
		if a.found != nil && a.found != by {
			continue
		}
		series, err := queryMatrix(ctx, a.prometheus, a.query(by), now.at)
		if err != nil {
			return nil, fmt.Errorf("querying Prometheus for %s: %w", a.description(), err)
		}
		if usage := a.byComponent(by, series); len(usage)+len(a.doubled) > 0 {
			a.found = by
			if err := a.learnSizes(ctx, by, now.at); err != nil {
				return nil, err
			}
			return a.write(by, usage), nil
		}
	}
	return nil, nil
}

// query selects the samples of all figures over lookback.
func (a *amazon) query(by *exporter) string {
	var names, servers []string
	for _, figure := range a.figures {
		for _, part := range figure.parts {
			names = append(names, part...)
		}
	}
	for _, name := range a.names {
		servers = append(servers, regexp.QuoteMeta(name))
	}
	return fmt.Sprintf(`{__name__=~%q,%s=~%q}[%s]`, strings.Join(names, "|"), by.server, strings.Join(servers, "|"), model.Duration(lookback))
}

// answers are the points of a component, by the name of the metric.
type answers map[string]payload.Points

// byComponent merges series of the same component: a restarted exporter has other labels.
func (a *amazon) byComponent(by *exporter, matrix model.Matrix) map[string]answers {
	all, origins := map[string]answers{}, map[string]string{}
	for _, series := range matrix {
		component := a.component(by, series.Metric)
		if component == "" {
			continue
		}
		origin := seriesOrigin(series.Metric)
		if known, seen := origins[component]; seen && known != origin {
			a.doubled[component] = true
		}
		origins[component] = origin
		if all[component] == nil {
			all[component] = answers{}
		}
		name := string(series.Metric[model.MetricNameLabel])
		for _, sample := range series.Values {
			all[component][name] = append(all[component][name], payload.Point{At: sample.Timestamp.Time(), Value: float64(sample.Value)})
		}
	}
	for component, of := range all {
		for name, points := range of {
			slices.SortStableFunc(points, func(a, b payload.Point) int { return a.At.Compare(b.At) })
			of[name] = slices.CompactFunc(points, func(a, b payload.Point) bool { return a.At.Equal(b.At) })
		}
		if a.doubled[component] {
			delete(all, component)
		}
	}
	return all
}

// seriesOrigin is the account and the region of a series, if the exporter has them.
func seriesOrigin(labels model.Metric) string {
	var origin []string
	for _, label := range []model.LabelName{"account_id", "region", "aws_account_id", "aws_region"} {
		origin = append(origin, string(labels[label]))
	}
	return strings.Join(origin, "/")
}

// write records points that are newer than the last recorded ones.
func (a *amazon) write(by *exporter, all map[string]answers) recordFunc {
	period, stamped := samplePeriod(all)
	if stamped && period == 0 {
		// The next value shows which period the only one covers.
		return nil
	}
	a.stamped, a.reach = stamped, by.late
	if stamped {
		a.reach = period
	}
	var found []payload.SampleSeries
	for _, component := range slices.Sorted(maps.Keys(all)) {
		for _, figure := range a.figures {
			points := sumPoints(figure, all[component])
			if stamped {
				// CloudWatch's time is the beginning of the period.
				points = shiftPoints(points, period)
			}
			found = append(found, a.newSeries(component, figure.resource, figure.unit, points)...)
		}
		found = append(found, a.scaleToPercent(found, component)...)
	}
	return func(into *payload.SampleRecorder) {
		for _, series := range found {
			into.Add(series)
		}
	}
}

// newSeries returns the points that are newer than the last recorded ones; none if there are no
// such points.
func (a *amazon) newSeries(component, resource, unit string, points payload.Points) []payload.SampleSeries {
	key := [2]string{component, resource}
	points = slices.DeleteFunc(points, func(p payload.Point) bool { return !p.At.After(a.newest[key]) })
	if len(points) == 0 {
		return nil
	}
	a.newest[key] = points[len(points)-1].At
	return []payload.SampleSeries{{Component: component, Resource: resource, Unit: unit, Reach: a.reach.Seconds(), Points: points}}
}

// sumPoints returns the sum of a figure's parts, at the times for which all of them have a value.
// NaN was not measured.
func sumPoints(figure figure, of answers) payload.Points {
	sums, counts := map[time.Time]float64{}, map[time.Time]int{}
	for _, names := range figure.parts {
		at := slices.IndexFunc(names, func(name string) bool { return len(of[name]) > 0 })
		if at < 0 {
			return nil
		}
		for _, point := range of[names[at]] {
			sums[point.At] += point.Value * figure.scale
			counts[point.At]++
		}
	}
	var points payload.Points
	for _, at := range slices.SortedFunc(maps.Keys(sums), time.Time.Compare) {
		if sum := sums[at]; counts[at] == len(figure.parts) && !math.IsNaN(sum) {
			points = append(points, payload.Point{At: at, Value: sum})
		}
	}
	return points
}

func shiftPoints(points payload.Points, by time.Duration) payload.Points {
	for i := range points {
		points[i].At = points[i].At.Add(by)
	}
	return points
}

// samplePeriod reports whether the points have CloudWatch's own times, and the smallest interval
// between them, which is the period that they cover. Zero: there is only one point.
func samplePeriod(all map[string]answers) (period time.Duration, stamped bool) {
	for _, of := range all {
		for _, points := range of {
			for i, point := range points {
				if !point.At.Equal(point.At.Truncate(cloudWatchStep)) {
					return 0, false
				}
				if i > 0 {
					apart := point.At.Sub(points[i-1].At)
					period = cmp.Or(min(period, apart), apart)
				}
			}
		}
	}
	return period, true
}

// size of an instance.
type size struct{ cpus, memory float64 }

// sizeQuery returns the number of CPUs, or the memory, of an instance's class.
const sizeQuery = `max by (instance_class) (%s) * on (instance_class) group_right () max by (dbidentifier, instance_class) (rds_instance_info{dbidentifier=~%q})`

// learnSizes queries the sizes of the instances until they are known.
func (a *amazon) learnSizes(ctx context.Context, by *exporter, at time.Time) error {
	if !by.hasSizes || len(a.sizes) > 0 {
		return nil
	}
	sizes := map[string]size{}
	for _, of := range []struct {
		metric string
		put    func(*size, float64)
	}{
		{"rds_instance_vcpu_average", func(s *size, value float64) { s.cpus = value }},
		{"rds_instance_memory_bytes", func(s *size, value float64) { s.memory = value * perMebibyte }},
	} {
		vector, err := instant(ctx, a.prometheus, fmt.Sprintf(sizeQuery, of.metric, strings.Join(a.names, "|")), at)
		if err != nil {
			return fmt.Errorf("querying Prometheus for the size of %s: %w", a.description(), err)
		}
		for _, sample := range vector {
			if component := a.component(by, sample.Metric); component != "" {
				known := sizes[component]
				of.put(&known, float64(sample.Value))
				sizes[component] = known
			}
		}
	}
	a.sizes = sizes
	return nil
}

// scaleToPercent returns the figures that depend on an instance's size, in the units of servers
// that PerfLab runs: cores, and memory in use.
func (a *amazon) scaleToPercent(found []payload.SampleSeries, component string) []payload.SampleSeries {
	own := a.sizes[component]
	var more []payload.SampleSeries
	for _, series := range found {
		switch {
		case series.Component != component:
		case series.Resource == metric.CPUUsed && own.cpus > 0:
			more = append(more, convertSeries(series, metric.CPU, metric.UnitCores, func(percent float64) float64 { return percent / 100 * own.cpus }))
		case series.Resource == metric.MemoryFree && own.memory > 0:
			more = append(more, convertSeries(series, metric.Memory, metric.UnitMebibytes, func(free float64) float64 { return own.memory - free }))
		}
	}
	return more
}

func convertSeries(series payload.SampleSeries, resource, unit string, value func(float64) float64) payload.SampleSeries {
	series.Resource, series.Unit = resource, unit
	series.Points = slices.Clone(series.Points)
	for i := range series.Points {
		series.Points[i].Value = value(series.Points[i].Value)
	}
	return series
}

// isBehind reports whether samples before this time are still expected, and soon enough to wait.
func (a *amazon) isBehind(end time.Time) bool {
	newest := a.latest()
	return a.stamped && !newest.Add(a.reach).After(end) && end.Sub(newest) <= collector.CatchUp+a.reach
}

func (a *amazon) latest() time.Time {
	var newest time.Time
	for _, at := range a.newest {
		if at.After(newest) {
			newest = at
		}
	}
	return newest
}

// missingAtEnd describes the missing samples, and the precision of the others.
func (a *amazon) missingAtEnd(end time.Time) []string {
	if a.found == nil {
		var first []string
		for _, part := range a.figures[0].parts {
			first = append(first, strings.Join(part, " or "))
		}
		return []string{fmt.Sprintf("the resource use of %s is not measured: Prometheus has no %s with any of the labels %s",
			a.description(), strings.Join(first, ", no "), a.labels())}
	}
	notes := a.missing()
	switch newest := a.latest(); {
	case newest.IsZero():
	case !a.stamped:
		notes = append(notes, fmt.Sprintf("the resource use of %s is measured without CloudWatch's timestamps and may be up to %s old: windows of up to twice this length have no values; if your exporter can add the timestamps, set addCloudwatchTimestamp or set_timestamp: true",
			a.description(), minutes(a.reach)))
	case !newest.Add(a.reach).After(end):
		notes = append(notes, fmt.Sprintf("the resource use of %s at the end of the loads reached Prometheus more than %s later and is omitted: configure its exporter to query CloudWatch for more recent values",
			a.description(), minutes(collector.CatchUp)))
	}
	return notes
}

// missing describes the figures of each server that Prometheus lacks.
func (a *amazon) missing() []string {
	components := slices.Clone(a.components)
	for key := range a.newest {
		components = append(components, key[0])
	}
	for component := range a.doubled {
		components = append(components, component)
	}
	slices.Sort(components)
	var notes []string
	for _, component := range slices.Compact(components) {
		if a.doubled[component] {
			notes = append(notes, fmt.Sprintf("the resource use of %s is not measured: Prometheus has several with this name, from different regions or accounts", component))
			continue
		}
		var resources, names []string
		for _, figure := range a.figures {
			if a.newest[[2]string{component, figure.resource}].IsZero() {
				resources = append(resources, figure.resource)
				names = append(names, a.metricNames(figure)...)
			}
		}
		if len(resources) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s not measured, because Prometheus has no %s for it", component, strings.Join(resources, ", "), strings.Join(names, ", ")))
		}
	}
	return notes
}

// metricNames returns a figure's metrics by the found exporter's names, or by another's if it has
// none.
func (a *amazon) metricNames(figure figure) []string {
	var names []string
	for _, part := range figure.parts {
		at := slices.IndexFunc(part, func(name string) bool { return strings.HasPrefix(name, "rds_") == a.found.hasSizes })
		names = append(names, part[max(at, 0)])
	}
	return names
}

func (a *amazon) labels() string {
	var labels []string
	for _, by := range a.exporters {
		labels = append(labels, by.server)
	}
	return strings.Join(labels, ", ")
}

func (a *amazon) description() string {
	var names []string
	for _, name := range a.names {
		names = append(names, strconv.Quote(name))
	}
	return a.what + " " + strings.Join(names, ", ")
}

func minutes(of time.Duration) string { return fmt.Sprintf("%g min", of.Minutes()) }

// queryMatrix queries raw samples of series with their times.
func queryMatrix(ctx context.Context, prometheus prometheusv1.API, query string, at time.Time) (model.Matrix, error) {
	value, _, err := prometheus.Query(ctx, query, at)
	if err != nil {
		return nil, err
	}
	matrix, isMatrix := value.(model.Matrix)
	if !isMatrix {
		return nil, fmt.Errorf("the answer is a %s, not the samples of each series", value.Type())
	}
	return matrix, nil
}
