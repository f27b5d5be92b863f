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

// PostgresMetricsPort is where every instance of a Cluster serves its metrics.
const PostgresMetricsPort = 9187

// LabelPostgresReload makes instances follow the changes of a ConfigMap.
const LabelPostgresReload = "cnpg.io/reload"

// Queries of ours that instances are told to serve as metrics. CloudNativePG
// puts cnpg_ before and the column's name behind.
const (
	PostgresQueryServer = "perflab_server"
	PostgresQueryReads  = "perflab_reads"
)

// PostgresMetrics is what an instance tells about itself. What it does not
// tell is nil: the queries may be taken away by a patch, or fail.
type PostgresMetrics struct {
	// InRecovery: the instance is a replica.
	InRecovery *bool
	// StreamingReplicas is the number of replicas the instance sends its log to.
	StreamingReplicas *int32
	// SynchronousReplicas is the number of replicas whose answer a commit may
	// wait for.
	SynchronousReplicas *int32
	// RowsRead from the modules' tables since the instance's statistics began.
	RowsRead *int64
}

// ReadPostgresMetrics reads what the metrics port of an instance answers.
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

// mostOwn bounds what an instance tells of our queries, in bytes: a handful of lines.
const mostOwn = 64 << 10

// ownLines are those about our queries. A parsed line takes a hundred times its text, and an
// image of a stranger's may answer with millions.
func ownLines(answer io.Reader) (io.Reader, error) {
	var own bytes.Buffer
	lines := bufio.NewScanner(answer)
	for lines.Scan() && own.Len() < mostOwn {
		if bytes.Contains(lines.Bytes(), []byte("cnpg_perflab_")) {
			own.Write(lines.Bytes())
			own.WriteByte('\n')
		}
	}
	return &own, lines.Err() //nolint:wrapcheck // Said by the caller.
}

// metric is the value of a family with one series; nil also where it is no count.
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
