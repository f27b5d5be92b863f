// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

// A third-party image may return any metrics.
func TestThirdPartyMetricsAreBounded(t *testing.T) {
	const counter = "# TYPE cnpg_perflab_reads_rows counter\n"
	var many strings.Builder
	for n := range 100_000 {
		_, _ = fmt.Fprintf(&many, "a%d 1\n", n)
	}
	answer := many.String() + counter + "cnpg_perflab_reads_rows 7\r\ncnpg_perflab_server_streaming_replicas 1e300"
	got := contract.PostgresMetrics{}
	allocated := testing.Benchmark(func(b *testing.B) {
		for range b.N {
			var err error
			got, err = contract.ReadPostgresMetrics(strings.NewReader(answer))
			expect.NoError(b, err)
		}
	}).AllocedBytesPerOp()
	if allocated > 1<<20 {
		t.Errorf("reading %d bytes takes %d", len(answer), allocated)
	}
	expect.Equal(t, contract.PostgresMetrics{RowsRead: ptr.To[int64](7)}, got, "counts")
	for value, want := range map[string]*int64{"1e18": ptr.To[int64](1e18), "NaN": nil, "+Inf": nil, "-1": nil, "1.797e308": nil} {
		got, err := contract.ReadPostgresMetrics(strings.NewReader(counter + "cnpg_perflab_reads_rows " + value + "\n"))
		expect.NoError(t, err)
		expect.Equal(t, want, got.RowsRead, value)
	}
}
