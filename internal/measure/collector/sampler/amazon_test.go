// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/servers"
	"perflab.dev/perflab/payload"
)

// exporters fakes the exporters of Amazon's services, in their format. At each scrape CloudWatch's
// time is a minute later, beginning a quarter of an hour ago.
type exporters struct {
	begin, scrapes time.Time
	count          atomic.Int64
}

// scrapedMinutes is the number of whole minutes in the exporters.
const scrapedMinutes = 8

func (e *exporters) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		minute := min(e.count.Add(1), scrapedMinutes) - 1
		e.write(w, minute, e.begin.Add(time.Duration(minute)*time.Minute).UnixMilli())
	})
	for broker := range 2 {
		mux.HandleFunc(fmt.Sprintf("/node-%d", broker+1), func(w http.ResponseWriter, _ *http.Request) { e.node(w) })
		mux.HandleFunc(fmt.Sprintf("/jmx-%d", broker+1), func(w http.ResponseWriter, _ *http.Request) { e.jmx(w, float64(broker+1)) })
	}
	return mux
}

func (e *exporters) write(w http.ResponseWriter, minute, stamp int64) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	// yet-another-cloudwatch-exporter, with CloudWatch's times.
	yace := func(name, of, dimensions string, value float64, at string) {
		line(`aws_%s{account_id="123456789012",%s,name="arn:aws:%s",region="eu-west-1"} %g%s`, name, dimensions, of, value, at)
	}
	at := fmt.Sprintf(" %d", stamp)
	writer := `dimension_DBInstanceIdentifier="folio-writer"`
	yace("rds_cpuutilization_average", "rds:eu-west-1:123456789012:db:folio-writer", writer, float64(40+minute), at)
	yace("rds_freeable_memory_average", "rds:eu-west-1:123456789012:db:folio-writer", writer, 3<<30, at)
	yace("rds_read_latency_average", "rds:eu-west-1:123456789012:db:folio-writer", writer, 0.0005, at)
	yace("rds_dbload_average", "rds:eu-west-1:123456789012:db:folio-writer", writer, math.NaN(), at)
	yace("rds_cpuutilization_average", "rds:eu-west-1:123456789012:db:other", `dimension_DBInstanceIdentifier="folio-writer-2"`, 99, at)
	for broker := 1; broker <= 2; broker++ {
		dimensions := fmt.Sprintf(`dimension_Broker_ID="%d",dimension_Cluster_Name="perf-msk"`, broker)
		yace("kafka_cpu_user_average", "kafka:cluster/perf-msk", dimensions, float64(10*broker), at)
		yace("kafka_cpu_system_average", "kafka:cluster/perf-msk", dimensions, 5, at)
		yace("kafka_memory_used_average", "kafka:cluster/perf-msk", dimensions, 2<<30, at)
		yace("kafka_data_logs_disk_used_average", "kafka:cluster/perf-msk", dimensions, 30, at)
		yace("kafka_bytes_in_per_sec_average", "kafka:cluster/perf-msk", dimensions+`,dimension_Topic=""`, 1000, at)
		yace("kafka_bytes_in_per_sec_average", "kafka:cluster/perf-msk", dimensions+`,dimension_Topic="orders"`, 700, at)
	}
	// The same without CloudWatch's times, labels in snake case.
	yace("rds_cpuutilization_average", "rds:eu-west-1:123456789012:db:untimed", `dimension_dbinstance_identifier="untimed"`, 33, "")
	// cloudwatch_exporter.
	line(`aws_rds_cpuutilization_average{job="aws_rds",instance="",dbinstance_identifier="cwe-writer",} %g %d`, 25.0, stamp)
	line(`aws_rds_write_iops_average{job="aws_rds",instance="",dbinstance_identifier="cwe-writer",} 120.0 %d`, stamp)
	line(`aws_kafka_cpu_user_average{job="aws_kafka",instance="",cluster_name="cwe-msk",broker_id="3",} 60.0 %d`, stamp)
	line(`aws_kafka_cpu_system_average{job="aws_kafka",instance="",cluster_name="cwe-msk",broker_id="3",} 7.0 %d`, stamp)
	line(`aws_kafka_kafka_data_logs_disk_used_average{job="aws_kafka",instance="",cluster_name="cwe-msk",broker_id="3",} 12.0 %d`, stamp)
	// prometheus-rds-exporter.
	const account = `aws_account_id="123456789012",aws_region="eu-west-1"`
	line(`rds_cpu_usage_percent_average{%s,dbidentifier="pg-writer"} 50`, account)
	line(`rds_freeable_memory_bytes{%s,dbidentifier="pg-writer"} 8.589934592e+09`, account)
	line(`rds_free_storage_bytes{%s,dbidentifier="pg-writer"} 1.073741824e+11`, account)
	line(`rds_read_iops_average{%s,dbidentifier="pg-writer"} 12`, account)
	line(`rds_dbload_average{%s,dbidentifier="pg-writer"} 1.5`, account)
	line(`rds_instance_info{%s,dbidentifier="pg-writer",engine="postgres",instance_class="db.r6g.xlarge",role="primary"} 1`, account)
	for _, class := range []string{"db.r6g.xlarge", "db.t3.medium"} {
		line(`rds_instance_vcpu_average{%s,instance_class=%q} 4`, account, class)
		line(`rds_instance_memory_bytes{%s,instance_class=%q} 3.4359738368e+10`, account, class)
	}
}

func (e *exporters) node(w http.ResponseWriter) {
	seconds := time.Since(e.scrapes).Seconds()
	for cpu := range 2 {
		for mode, rate := range map[string]float64{"idle": 0.6, "user": 0.25, "system": 0.05, "iowait": 0.1} {
			_, _ = fmt.Fprintf(w, "node_cpu_seconds_total{cpu=\"%d\",mode=%q} %g\n", cpu, mode, rate*seconds)
		}
	}
	_, _ = fmt.Fprintf(w, "node_memory_MemTotal_bytes %d\nnode_memory_MemAvailable_bytes %d\n", 8<<30, 2<<30)
}

func (e *exporters) jmx(w http.ResponseWriter, rate float64) {
	count := 1000 * rate * time.Since(e.scrapes).Seconds()
	_, _ = fmt.Fprintf(w, "kafka_server_BrokerTopicMetrics_Count{name=\"BytesInPerSec\"} %g\n", count)
	_, _ = fmt.Fprintf(w, "kafka_server_BrokerTopicMetrics_Count{name=\"BytesInPerSec\",topic=\"orders\"} %g\n", count/2)
	_, _ = fmt.Fprintf(w, "kafka_server_BrokerTopicMetrics_OneMinuteRate{name=\"BytesInPerSec\"} 7\n")
}

const brokerDomain = "perf.x1y2z3.c2.kafka.eu-west-1.amazonaws.com"

// scrapedExporters is a real Prometheus that has scraped all exporters, and the exporters.
func scrapedExporters(t *testing.T) (prometheusv1.API, *exporters) {
	t.Helper()
	now := time.Now()
	standIn := &exporters{begin: now.Truncate(time.Minute).Add(-15 * time.Minute), scrapes: now}
	target := httptest.NewServer(standIn.handler())
	t.Cleanup(target.Close)
	var more []servers.Scrape
	for broker := 1; broker <= 2; broker++ {
		more = append(more,
			servers.Scrape{Path: fmt.Sprintf("/jmx-%d", broker), Instance: fmt.Sprintf("b-%d.%s:11001", broker, brokerDomain)},
			servers.Scrape{Path: fmt.Sprintf("/node-%d", broker), Instance: fmt.Sprintf("b-%d.%s:11002", broker, brokerDomain)})
	}
	more = append(more, servers.Scrape{Path: "/node-1", Instance: "b-7.other." + brokerDomain + ":11002"})
	prometheus, err := connectPrometheus(servers.Prometheus(t, strings.TrimPrefix(target.URL, "http://"), more...), "", loopback.Rules())
	expect.NoError(t, err)
	await.Until(t.Context(), t, time.Minute, "samples that Prometheus takes", func() (bool, string) {
		count := standIn.count.Load()
		return count >= scrapedMinutes+3, fmt.Sprint(count)
	})
	return prometheus, standIn
}

// isNearly compares units, reaches and last values. Rates are only as exact as the clocks of two
// scrapes.
func isNearly(t *testing.T, got, want string) bool {
	t.Helper()
	read := func(text string) (unit string, reach, value float64) {
		if _, err := fmt.Sscan(text, &unit, &reach, &value); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return unit, reach, value
	}
	unit, reach, value := read(got)
	wantedUnit, wantedReach, wanted := read(want)
	return unit == wantedUnit && reach == wantedReach && math.Abs(value-wanted) <= 0.05*wanted
}

// The figures of each exporter get the same names.
func TestManagedServicesWithRealPrometheus(t *testing.T) {
	prometheus, standIn := scrapedExporters(t)
	databases := func(instance string) source {
		return newDatabases(prometheus, []collector.Database{{Component: "postgres/primary", Instance: instance}})
	}
	cases := map[string]struct {
		asked source
		// want by component and resource: unit, reach in seconds, last value.
		want map[string]string
	}{
		"yet-another-cloudwatch-exporter, RDS": {databases("folio-writer"), map[string]string{
			"postgres/primary/cpuUsed": "% 60 47", "postgres/primary/memoryFree": "MiB 60 3072", "postgres/primary/readLatency": "ms 60 0.5",
		}},
		"yet-another-cloudwatch-exporter, MSK": {newBrokers(prometheus, "perf-msk"), map[string]string{
			"kafka/broker-1/cpuUsed": "% 60 15", "kafka/broker-1/memory": "MiB 60 2048", "kafka/broker-1/diskUsed": "% 60 30", "kafka/broker-1/bytesIn": "B/s 60 1000",
			"kafka/broker-2/cpuUsed": "% 60 25", "kafka/broker-2/memory": "MiB 60 2048", "kafka/broker-2/diskUsed": "% 60 30", "kafka/broker-2/bytesIn": "B/s 60 1000",
		}},
		"without times, in snake case": {databases("untimed"), map[string]string{"postgres/primary/cpuUsed": "% 1200 33"}},
		"cloudwatch_exporter, RDS": {databases("cwe-writer"), map[string]string{
			"postgres/primary/cpuUsed": "% 60 25", "postgres/primary/writesPerSecond": "1/s 60 120",
		}},
		"cloudwatch_exporter, MSK": {newBrokers(prometheus, "cwe-msk"), map[string]string{"kafka/broker-3/cpuUsed": "% 60 67", "kafka/broker-3/diskUsed": "% 60 12"}},
		"prometheus-rds-exporter": {databases("pg-writer"), map[string]string{
			"postgres/primary/cpuUsed": "% 180 50", "postgres/primary/cpu": "cores 180 2",
			"postgres/primary/memoryFree": "MiB 180 8192", "postgres/primary/memory": "MiB 180 24576",
			"postgres/primary/storageFree": "MiB 180 102400", "postgres/primary/readsPerSecond": "1/s 180 12", "postgres/primary/activeSessions": "1 180 1.5",
		}},
		"open monitoring": {&brokerHosts{prometheus: prometheus, domain: brokerDomain}, map[string]string{
			"kafka/broker-1/cpu": "cores 0 0.6", "kafka/broker-1/cpuUsed": "% 0 30", "kafka/broker-1/memory": "MiB 0 6144", "kafka/broker-1/bytesIn": "B/s 0 1000",
			"kafka/broker-2/cpu": "cores 0 0.6", "kafka/broker-2/cpuUsed": "% 0 30", "kafka/broker-2/memory": "MiB 0 6144", "kafka/broker-2/bytesIn": "B/s 0 2000",
		}},
		"nobody": {databases("nobody"), map[string]string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			samples := sampleSource(t, tc.asked, round{at: time.Now(), interval: 15 * time.Second})
			got := map[string]string{}
			for _, series := range samples.Series {
				last := series.Points[len(series.Points)-1]
				got[series.Component+"/"+series.Resource] = fmt.Sprintf("%s %g %g", series.Unit, series.Reach, last.Value)
			}
			for key, want := range tc.want {
				if !isNearly(t, got[key], want) {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
				delete(got, key)
			}
			if len(got) > 0 {
				t.Errorf("there is more: %v", got)
			}
		})
	}
	samples := sampleSource(t, databases("folio-writer"), round{at: time.Now(), interval: 15 * time.Second})
	points := samples.Series[0].Points
	if first := points[0]; len(points) != scrapedMinutes || !first.At.Equal(standIn.begin.Add(time.Minute)) || first.Value != 40 {
		t.Errorf("%d points from %+v on, want %d from the end of the minute %s on", len(points), points[0], scrapedMinutes, standIn.begin)
	}
}

// fakePrometheus is a Prometheus with these series.
type fakePrometheus struct {
	prometheusv1.API
	series model.Matrix
	// queries that it received.
	queries []string
}

func (s *fakePrometheus) Query(_ context.Context, query string, at time.Time, _ ...prometheusv1.Option) (model.Value, prometheusv1.Warnings, error) {
	s.queries = append(s.queries, query)
	if !strings.HasSuffix(query, "[20m]") {
		return model.Vector{}, nil, nil
	}
	found := model.Matrix{}
	for _, series := range s.series {
		for _, label := range []string{"dimension_DBInstanceIdentifier", "dbidentifier", "dimension_Cluster_Name"} {
			if _, has := series.Metric[model.LabelName(label)]; !has || !strings.Contains(query, ","+label+"=~") {
				continue
			}
			own := &model.SampleStream{Metric: series.Metric}
			for _, sample := range series.Values {
				if age := at.Sub(sample.Timestamp.Time()); age >= 0 && age <= 20*time.Minute {
					own.Values = append(own.Values, sample)
				}
			}
			found = append(found, own)
		}
	}
	return found, nil, nil
}

// minute is the start of a minute in CloudWatch.
func minute(n int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func series(labels string, values ...model.SamplePair) *model.SampleStream {
	metric := model.Metric{}
	for _, label := range strings.Split(labels, ",") {
		name, value, _ := strings.Cut(label, "=")
		metric[model.LabelName(name)] = model.LabelValue(value)
	}
	return &model.SampleStream{Metric: metric, Values: values}
}

func pair(at time.Time, value float64) model.SamplePair {
	return model.SamplePair{Timestamp: model.TimeFromUnixNano(at.UnixNano()), Value: model.SampleValue(value)}
}

const cpuOfWriter = "__name__=aws_rds_cpuutilization_average,dimension_DBInstanceIdentifier=writer"

func newWriterSource(prometheus prometheusv1.API) *amazon {
	return newDatabases(prometheus, []collector.Database{{Component: "postgres/primary", Instance: "writer"}})
}

// Recorded samples are not written again; later ones are, with their times.
func TestManagedSamplesAreWrittenOnce(t *testing.T) {
	prometheus := &fakePrometheus{series: model.Matrix{series(cpuOfWriter, pair(minute(0), 10), pair(minute(1), 11))}}
	asked := newWriterSource(prometheus)
	ask := func(at time.Time) payload.Points {
		samples := sampleSource(t, asked, round{at: at, interval: 15 * time.Second})
		if len(samples.Series) == 0 {
			return nil
		}
		return samples.Series[0].Points
	}
	want := payload.Points{{At: minute(1), Value: 10}, {At: minute(2), Value: 11}}
	if got := ask(minute(4)); !slices.Equal(got, want) {
		t.Errorf("first: %v, want %v", got, want)
	}
	if got := ask(minute(4).Add(15 * time.Second)); len(got) > 0 {
		t.Errorf("again: %v", got)
	}
	// A restarted exporter has other labels.
	prometheus.series = append(prometheus.series, series(cpuOfWriter+",instance=new", pair(minute(1), 11), pair(minute(3), 13)))
	if got := ask(minute(6)); !slices.Equal(got, payload.Points{{At: minute(4), Value: 13}}) {
		t.Errorf("later: %v", got)
	}
	if asked := len(prometheus.queries); asked != 3 {
		t.Errorf("%d questions, want one each time, for the exporter is known: %q", asked, prometheus.queries)
	}
	const query = `,dimension_DBInstanceIdentifier=~"writer"}[20m]`
	if !strings.HasSuffix(prometheus.queries[0], query) || !strings.HasPrefix(prometheus.queries[0], `{__name__=~"aws_rds_cpuutilization_average|rds_cpu_usage_percent_average|`) {
		t.Errorf("the query is %s", prometheus.queries[0])
	}
}

func TestManagedSourceReportsMissingMetrics(t *testing.T) {
	memory := strings.Replace(cpuOfWriter, "cpuutilization", "freeable_memory", 1)
	scrape := 123 * time.Millisecond
	all := func(name string, replaced ...string) model.Matrix {
		var matrix model.Matrix
		for _, figure := range databaseFigures {
			at := slices.IndexFunc(figure.parts[0], func(own string) bool { return strings.HasPrefix(own, name) })
			if at >= 0 {
				labels := strings.NewReplacer(append(replaced, "aws_rds_cpuutilization_average", figure.parts[0][at])...).Replace(cpuOfWriter)
				matrix = append(matrix, series(labels, pair(minute(0), 1), pair(minute(1), 1), pair(minute(8), 1), pair(minute(9), 1)))
			}
		}
		return matrix
	}
	cases := map[string]struct {
		reason string
		series model.Matrix
		// end of the loads, at which the notes are requested.
		end    time.Time
		behind bool
		want   []string
	}{
		"nothing": {"no exporter knows it", nil, minute(10), false, []string{
			`the resource use of RDS instance "writer" is not measured: Prometheus has no aws_rds_cpuutilization_average or rds_cpu_usage_percent_average with any of the labels dimension_DBInstanceIdentifier, dimension_dbinstance_identifier, dbinstance_identifier, dbidentifier`,
		}},
		"all and in time":     {"the last whole minute is told", all("aws_rds_"), minute(10).Add(30 * time.Second), false, nil},
		"a minute is missing": {"it is worth waiting for", all("aws_rds_"), minute(11).Add(30 * time.Second), true, []string{`reached Prometheus more than 3 min later`}},
		"too late":            {"it would not come in time", all("aws_rds_"), minute(15), false, []string{`the resource use of RDS instance "writer" at the end of the loads reached Prometheus more than 3 min later and is omitted: configure its exporter to query CloudWatch for more recent values`}},
		"some": {"what is missing is named", model.Matrix{series(cpuOfWriter, pair(minute(8), 1), pair(minute(9), 1)), series(memory, pair(minute(8), math.NaN()), pair(minute(9), math.NaN()))}, minute(10), false, []string{
			"postgres/primary: memoryFree, storageFree, readsPerSecond, writesPerSecond, diskRead, diskWritten, readLatency, writeLatency, activeSessions not measured, because Prometheus has no aws_rds_freeable_memory_average, aws_rds_free_storage_space_average, aws_rds_read_iops_average, aws_rds_write_iops_average, aws_rds_read_throughput_average, aws_rds_write_throughput_average, aws_rds_read_latency_average, aws_rds_write_latency_average, aws_rds_dbload_average for it",
		}},
		"no times": {"does not wait: the delay is unknown", model.Matrix{series(cpuOfWriter, pair(minute(8).Add(scrape), 1))}, minute(10), false, []string{
			"not measured, because Prometheus has no",
			`the resource use of RDS instance "writer" is measured without CloudWatch's timestamps and may be up to 20 min old: windows of up to twice this length have no values; if your exporter can add the timestamps, set addCloudwatchTimestamp or set_timestamp: true`,
		}},
		"two of the name": {"neither is known to be the one", model.Matrix{
			series(cpuOfWriter+",region=eu-west-1", pair(minute(8), 1), pair(minute(9), 1)), series(cpuOfWriter+",region=us-east-1", pair(minute(8), 2), pair(minute(9), 2)),
		}, minute(10), false, []string{"the resource use of postgres/primary is not measured: Prometheus has several with this name, from different regions or accounts"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := newWriterSource(&fakePrometheus{series: tc.series})
			sampleSource(t, asked, round{at: tc.end, interval: 15 * time.Second})
			if got := asked.isBehind(tc.end); got != tc.behind {
				t.Errorf("it is worth waiting: %t, want %t: %s", got, tc.behind, tc.reason)
			}
			notes := asked.missingAtEnd(tc.end)
			if len(notes) != len(tc.want) {
				t.Fatalf("the notes are %q, want %q: %s", notes, tc.want, tc.reason)
			}
			for i, note := range notes {
				if !strings.Contains(note, tc.want[i]) {
					t.Errorf("the note is %q, want %q: %s", note, tc.want[i], tc.reason)
				}
			}
		})
	}
}

// The loop does not wait for a source whose values have no times, however old they may be.
func TestManagedSourceWithoutTimestampsIsNotDelayed(t *testing.T) {
	prometheus := &fakePrometheus{series: model.Matrix{series("__name__=rds_cpu_usage_percent_average,dbidentifier=writer", pair(minute(8).Add(time.Second), 1))}}
	asked := newWriterSource(prometheus)
	sampleSource(t, asked, round{at: minute(9), interval: 15 * time.Second})
	if asked.isBehind(minute(12)) {
		t.Error("it is waited for")
	}
	first := len(prometheus.queries)
	sampleSource(t, asked, round{at: minute(9), interval: 15 * time.Second})
	if more := len(prometheus.queries) - first; first != 6 || more != 3 {
		t.Errorf("%d questions, then %d, want those of all exporters and of sizes, then of the one that is known: %q", first, more, prometheus.queries)
	}
}

// lateSource has the samples of the end only after some queries.
type lateSource struct{ asked, needed int }

func (*lateSource) name() string { return "straggler" }

func (s *lateSource) sample(_ context.Context, now round) (recordFunc, error) {
	s.asked++
	return func(into *payload.SampleRecorder) { into.Record("room", "", "warmth", "°C", now.at, float64(s.asked)) }, nil
}

func (s *lateSource) isBehind(time.Time) bool { return s.asked < s.needed }

func (*lateSource) missingAtEnd(time.Time) []string { return []string{"it was late"} }

// A loop that is ordered to end still queries sources with delay, and nothing else.
func TestLoopWaitsForDelayedSources(t *testing.T) {
	var log bytes.Buffer
	late := &lateSource{needed: 4}
	loop := newLoop(t, &log, func(context.Context) (bool, error) { return true, nil })
	loop.Interval = 3 * time.Second
	loop.sources = append(loop.sources, late)
	begin := time.Now()
	expect.NoError(t, loop.Work(t.Context()))
	samples := readLog(t, &log)
	if late.asked != 4 || len(samples.Rounds) != 2 || !samples.Final || time.Since(begin) < 5*time.Second {
		t.Errorf("it asked %d times, %d of them in rounds, final %t", late.asked, len(samples.Rounds), samples.Final)
	}
	if !slices.Contains(samples.Notes, "it was late") {
		t.Errorf("the notes are %q", samples.Notes)
	}
	if asked := loop.sources[0].(*fakeSource).asked.Load(); asked != 2 {
		t.Errorf("the thermometer was asked %d times, want twice: it is never late", asked)
	}
}

// A killed loop does not wait.
func TestKilledLoopDoesNotWait(t *testing.T) {
	var log bytes.Buffer
	ctx, kill := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer kill()
	loop := newLoop(t, &log, func(context.Context) (bool, error) { return false, nil })
	loop.sources = append(loop.sources, &lateSource{needed: 1000})
	begin := time.Now()
	expect.NoError(t, loop.Work(ctx))
	if samples := readLog(t, &log); samples.Final || time.Since(begin) > 10*time.Second {
		t.Errorf("final %t, after %s", samples.Final, time.Since(begin))
	}
}
