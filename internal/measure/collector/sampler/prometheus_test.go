// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/servers"
)

// exposed are metrics as kubelets, JVMs and brokers expose them. The modules' use since begin grows
// by half a core, a quarter of the periods are throttled, and garbage collection takes a tenth of
// the time.
func exposed(begin time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		seconds := time.Since(begin).Seconds()
		pod := func(name, labels string, value float64) {
			_, _ = fmt.Fprintf(w, "%s{namespace=\"lab\",pod=\"users-1\",%s} %g\n", name, labels, value)
		}
		pod("container_cpu_usage_seconds_total", `container="mod-users"`, 100+0.5*seconds)
		pod("container_cpu_usage_seconds_total", `container="POD"`, 7*seconds)
		pod("container_cpu_usage_seconds_total", `container=""`, 8*seconds)
		pod("container_memory_working_set_bytes", `container="mod-users"`, 300<<20)
		pod("container_cpu_cfs_periods_total", `container="mod-users"`, 10*seconds)
		pod("container_cpu_cfs_throttled_periods_total", `container="mod-users"`, 2.5*seconds)
		pod("jvm_memory_used_bytes", `area="heap",id="Eden"`, 64<<20)
		pod("jvm_memory_used_bytes", `area="heap",id="Old"`, 36<<20)
		pod("jvm_memory_used_bytes", `area="nonheap",id="Metaspace"`, 500<<20)
		pod("jvm_gc_pause_seconds_sum", `cause="x"`, 0.1*seconds)
		_, _ = fmt.Fprintf(w, "container_cpu_usage_seconds_total{namespace=\"other\",pod=\"users-1\",container=\"mod-users\"} %g\n", 9*seconds)
		network := func(labels string, received, sent float64) {
			for direction, rate := range map[string]float64{"receive": received, "transmit": sent} {
				_, _ = fmt.Fprintf(w, "container_network_%s_bytes_total{%s} %g\n", direction, labels, rate*seconds)
			}
		}
		network(`id="/",interface="eth0",node="worker-1"`, 5000, 2000)
		network(`id="/",interface="eth1",node="worker-1"`, 1000, 500)
		network(`id="/",interface="cni0",node="worker-1"`, 90000, 90000)
		network(`id="/",interface="eth0",node="worker-10"`, 70000, 70000)
		network(`id="/kubepods/x",interface="eth0",node="worker-1",pod="users-1"`, 80000, 80000)
		_, _ = fmt.Fprintf(w, "queue_length{namespace=\"lab\",queue=\"a/b\"} 3\nqueue_length{namespace=\"lab\",queue=\"c\"} 4\n")
	})
}

// realPrometheus has enough samples for rates.
func realPrometheus(t *testing.T) prometheusv1.API {
	t.Helper()
	target := httptest.NewServer(exposed(time.Now()))
	t.Cleanup(target.Close)
	url := servers.Prometheus(t, strings.TrimPrefix(target.URL, "http://"))
	prometheus, err := connectPrometheus(url, "", loopback.Rules())
	expect.NoError(t, err)
	await.Until(t.Context(), t, 30*time.Second, "samples that Prometheus takes", func() (bool, string) {
		vector, err := instant(t.Context(), prometheus, `count_over_time(queue_length{queue="c"}[1m]) >= 4`, time.Now())
		return err == nil && len(vector) > 0, fmt.Sprint(err)
	})
	return prometheus
}

func TestPrometheusSources(t *testing.T) {
	prometheus := realPrometheus(t)
	now := round{at: time.Now(), interval: 15 * time.Second, pods: []pod{{component: "module/mod-users", name: "users-1"}}}
	samples := sampleSource(t, &podMetrics{prometheus: prometheus, namespace: "lab"}, now)
	for resource, want := range map[string]float64{
		"cpu": 0.5, "memory": 300, "cpuThrottled": 25, "heapUsed": 100, "gcShare": 10,
	} {
		if got := value(t, samples, "module/mod-users", resource); got < 0.97*want || got > 1.03*want {
			t.Errorf("%s is %g, want %g", resource, got, want)
		}
	}
	if got := samples.Series[0].Instance; got != "users-1/mod-users" {
		t.Errorf("the instance is %q", got)
	}
	if len(samples.Notes) != 2 || !strings.Contains(samples.Notes[0], "bytes in are not measured") {
		t.Errorf("the notes are %q, want those about the brokers' bytes", samples.Notes)
	}
	customMetrics(t, prometheus, now)
	nodesNetwork(t, prometheus, now)

	elsewhere := round{at: now.at, interval: now.interval, pods: []pod{{component: "module/mod-users", name: "users-2"}}}
	_, err := (&podMetrics{prometheus: prometheus, namespace: "lab"}).sample(t.Context(), elsewhere)
	if err == nil || !strings.Contains(err.Error(), `no cpu in Prometheus for the pods of namespace "lab" over the last 2m0s`) {
		t.Errorf("pods that Prometheus does not know: %v", err)
	}
}

// nodesNetwork: the interfaces of the node itself count, those of other nodes and of pods don't; a
// node that Prometheus does not have is reported once.
func nodesNetwork(t *testing.T, prometheus prometheusv1.API, now round) {
	t.Helper()
	samples := sampleSource(t, &nodeNetwork{prometheus: prometheus, node: "worker-1"}, now)
	for resource, want := range map[string]float64{"networkIn": 6000, "networkOut": 2500} {
		if got := value(t, samples, "node", resource); got < 0.97*want || got > 1.03*want {
			t.Errorf("%s is %g, want %g", resource, got, want)
		}
	}
	unknown := sampleSource(t, &nodeNetwork{prometheus: prometheus, node: "worker-2"}, now)
	if len(unknown.Series) != 0 || len(unknown.Notes) != 1 || !strings.Contains(unknown.Notes[0], `of node "worker-2"`) {
		t.Errorf("a node that Prometheus does not know: %d series, notes %q", len(unknown.Series), unknown.Notes)
	}
}

func customMetrics(t *testing.T, prometheus prometheusv1.API, now round) {
	t.Helper()
	custom := func(query, label string) *customMetric {
		return &customMetric{prometheus: prometheus, metric: collector.Metric{Name: "queue", Query: query, Label: label, Unit: "1"}}
	}
	for query, want := range map[string]float64{`sum(queue_length)`: 7, `scalar(sum(queue_length)) * 2`: 14} {
		expect.Equal(t, want, value(t, sampleSource(t, custom(query, ""), now), "custom/queue", ""), "%s", query)
	}
	if got := value(t, sampleSource(t, custom(`queue_length`, "queue"), now), "custom/queue/a_b", ""); got != 3 {
		t.Errorf("queue a/b is %g long, want 3", got)
	}
	for query, want := range map[string]string{
		`queue_length`:     "has 2 results",
		`nothing_at_all`:   "has no result",
		`sum(`:             "parse error",
		`queue_length[1m]`: "the answer is a matrix",
	} {
		if _, err := custom(query, "").sample(t.Context(), now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

func TestPrometheusBearerToken(t *testing.T) {
	var header string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Get("Authorization")
		_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}`)
	}))
	defer server.Close()
	prometheus, err := connectPrometheus(server.URL, "token-of-the-test", loopback.Rules())
	expect.NoError(t, err)
	if vector, err := instant(t.Context(), prometheus, "up", time.Now()); err != nil || len(vector) != 1 || header != "Bearer token-of-the-test" {
		t.Errorf("the answer is %v (%v) to a request with %q", vector, err, header)
	}
}

// The token goes only to the named server, whatever it answers.
func TestPrometheusTokenIsNotRedirected(t *testing.T) {
	var asked int
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		defer server.Close()
		prometheus, err := connectPrometheus(server.URL, "token-of-the-test", loopback.Rules())
		expect.NoError(t, err)
		_, err = instant(t.Context(), prometheus, "up", time.Now())
		if err == nil || !strings.Contains(err.Error(), "answers with a redirect") || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("a redirect of %d gave %v, want an error that says who answered with it", status, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were led elsewhere", asked)
	}
}

// Addresses that the operator denies are denied to its collectors as well.
func TestPrometheusIsDeniedByEgressRules(t *testing.T) {
	t.Setenv("PGUSER", "app")
	var asked int
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	expect.NoError(t, err)
	number, err := strconv.Atoi(port)
	expect.NoError(t, err)
	prometheus, err := connectPrometheus(server.URL, "token-of-the-test", egress.Rules{})
	expect.NoError(t, err)
	for _, asking := range []source{
		&podMetrics{prometheus: prometheus, namespace: "lab"},
		&databases{fixed: []collector.Server{{Component: metric.Primary, Host: host, Port: int32(number)}}},
		&brokers{brokers: kafkaadmin.Brokers{Servers: []string{server.Listener.Addr().String()}}},
	} {
		_, err := asking.sample(t.Context(), round{at: time.Now()})
		if err == nil || !strings.Contains(err.Error(), "is a loopback address") {
			t.Errorf("%s: %v", asking.name(), err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests arrived", asked)
	}
}
