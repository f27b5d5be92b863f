// SPDX-License-Identifier: Apache-2.0

package probe_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/network/probe"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
)

// replicaMetrics are lines of the response of a CloudNativePG 1.30 replica.
const replicaMetrics = `# HELP cnpg_collector_sync_replicas Number of requested synchronous replicas (synchronous_standby_names)
# TYPE cnpg_collector_sync_replicas gauge
cnpg_collector_sync_replicas{value="expected"} 1
# HELP cnpg_pg_stat_database_tup_returned Number of rows returned by queries in this database
# TYPE cnpg_pg_stat_database_tup_returned counter
cnpg_pg_stat_database_tup_returned{datname="app"} 14475
# HELP cnpg_perflab_reads_rows Rows read
# TYPE cnpg_perflab_reads_rows counter
cnpg_perflab_reads_rows 1.2345678e+07
# HELP cnpg_perflab_server_in_recovery Whether the server is a replica
# TYPE cnpg_perflab_server_in_recovery gauge
cnpg_perflab_server_in_recovery 1
# HELP cnpg_perflab_server_streaming_replicas Number of replicas
# TYPE cnpg_perflab_server_streaming_replicas gauge
cnpg_perflab_server_streaming_replicas 0
`

func TestPostgresMetrics(t *testing.T) {
	var answer string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	ask := func() (contract.PostgresMetrics, error) {
		return probe.NewPostgres(loopback.Rules()).Metrics(t.Context(), server.URL+"/metrics")
	}

	answer = replicaMetrics
	got, err := ask()
	want := contract.PostgresMetrics{InRecovery: ptr.To(true), StreamingReplicas: ptr.To[int32](0), RowsRead: ptr.To[int64](12345678)}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("what is not told is absent (-want +got), %v:\n%s", err, diff)
	}
	answer = "cnpg_perflab_reads_rows is no metric {"
	if _, err := ask(); err == nil {
		t.Error("nonsense was read without an error")
	}
	answer, status = replicaMetrics, http.StatusServiceUnavailable
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a server error gave %v", err)
	}
}

// A server in an instance's place can't redirect the operator.
func TestPostgresMetricsFollowNoRedirect(t *testing.T) {
	elsewhere, asked := newTargetServer(t, http.StatusOK, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		address, _ := newTargetServer(t, status, map[string]string{"Location": elsewhere + "/secrets"})
		_, err := probe.NewPostgres(loopback.Rules()).Metrics(t.Context(), address+"/metrics")
		if err == nil || !strings.Contains(err.Error(), "returned a redirect") || !strings.Contains(err.Error(), address) {
			t.Errorf("a redirect of %d gave %v, want an error that says who answered with it", status, err)
		}
	}
	if *asked != "" {
		t.Errorf("the redirect was followed: %q", *asked)
	}
}

func TestListens(t *testing.T) {
	open, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	t.Cleanup(func() { _ = open.Close() })
	if err := probe.NewPostgres(loopback.Rules()).Listens(t.Context(), open.Addr().String()); err != nil {
		t.Errorf("an open port: %v", err)
	}
	begun := time.Now()
	if err := probe.NewPostgres(loopback.Rules()).Listens(t.Context(), "127.0.0.1:1"); err == nil || time.Since(begun) > 4*time.Second {
		t.Errorf("a closed port gave %v after %s", err, time.Since(begun))
	}
}
