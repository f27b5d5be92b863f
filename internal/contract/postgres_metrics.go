// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// PostgresMetricsPort is the metrics port of every instance of a Cluster.
const PostgresMetricsPort = 9187

// LabelPostgresReload makes instances reload a changed ConfigMap.
const LabelPostgresReload = "cnpg.io/reload"

// Custom queries that instances serve as metrics, with the prefix cnpg_ and the column's
// name as a suffix.
const (
	PostgresQueryServer = "perflab_server"
	PostgresQueryReads  = "perflab_reads"
)

// PostgresMetrics are the metrics of an instance. Missing ones are nil: a patch may remove
// the queries, or they may fail.
type PostgresMetrics struct {
	// InRecovery: the instance is a replica.
	InRecovery *bool
	// StreamingReplicas is the number of replicas that stream from the instance.
	StreamingReplicas *int32
	// SynchronousReplicas is the number of synchronous replicas.
	SynchronousReplicas *int32
	// RowsRead from user tables since the instance's statistics were reset.
	RowsRead *int64
}

// ReadPostgresMetrics parses the metrics of an instance.
func ReadPostgresMetrics(answer io.Reader) (PostgresMetrics, error) {
	own, err := ownLines(answer)
	if err != nil {
		return PostgresMetrics{}, fmt.Errorf("reading metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(own)
	if err != nil {
		return PostgresMetrics{}, fmt.Errorf("reading metrics: %w", err)
	}
	server := func(column string) *int64 { return metric(families, PostgresQueryServer+"_"+column) }
	return PostgresMetrics{
		InRecovery:          boolean(server("in_recovery")),
		StreamingReplicas:   small(server("streaming_replicas")),
		SynchronousReplicas: small(server("synchronous_replicas")),
		RowsRead:            metric(families, PostgresQueryReads+"_rows"),
	}, nil
}

// mostOwn bounds the metrics of our queries, in bytes.
const mostOwn = 64 << 10

// ownLines returns the lines of our queries. A parsed line takes a hundred times its text,
// and a third-party image may return millions.
func ownLines(answer io.Reader) (io.Reader, error) {
	var own bytes.Buffer
	lines := bufio.NewScanner(answer)
	for lines.Scan() && own.Len() < mostOwn {
		if bytes.Contains(lines.Bytes(), []byte("cnpg_perflab_")) {
			own.Write(lines.Bytes())
			own.WriteByte('\n')
		}
	}
	return &own, lines.Err() //nolint:wrapcheck // The caller wraps it.
}

// metric returns the value of a family with one series; nil if it is no count.
func metric(families map[string]*dto.MetricFamily, name string) *int64 {
	family := families["cnpg_"+name]
	if family == nil || len(family.GetMetric()) != 1 {
		return nil
	}
	only := family.GetMetric()[0]
	var value float64
	switch {
	case only.GetGauge() != nil:
		value = only.GetGauge().GetValue()
	case only.GetCounter() != nil:
		value = only.GetCounter().GetValue()
	default:
		return nil
	}
	if !(value >= 0 && value < math.MaxInt64) {
		return nil
	}
	whole := int64(value)
	return &whole
}

func boolean(value *int64) *bool {
	if value == nil {
		return nil
	}
	is := *value != 0
	return &is
}

func small(value *int64) *int32 {
	if value == nil {
		return nil
	}
	narrow := int32(min(*value, math.MaxInt32))
	return &narrow
}
