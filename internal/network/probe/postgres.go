// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/network/egress"
)

// dialTimeout bounds the check for a listener, which each reconcile repeats until PostgreSQL
// is ready.
const dialTimeout = 2 * time.Second

// maxMetricsBytes bounds a response. CloudNativePG's has 60 kB with the default
// queries and grows with replicas and databases.
const maxMetricsBytes = 8 << 20

// Postgres probes PostgreSQL's servers.
type Postgres struct {
	client *http.Client
	dialer *net.Dialer
}

// NewPostgres returns a prober over HTTP and TCP within the egress rules.
func NewPostgres(rules egress.Rules) *Postgres {
	return &Postgres{client: rules.Client(timeout), dialer: rules.Dialer(dialTimeout)}
}

// Metrics reads the metrics port of a CloudNativePG instance, for example
// http://10.1.2.3:9187/metrics.
func (p *Postgres) Metrics(ctx context.Context, url string) (metrics contract.PostgresMetrics, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return metrics, fmt.Errorf("requesting %s: %w", url, err)
	}
	response, err := p.client.Do(request)
	if err != nil {
		// The client's error names method and address.
		return metrics, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return metrics, checkStatus(http.MethodGet, url, response.StatusCode)
	}
	return contract.ReadPostgresMetrics(io.LimitReader(response.Body, maxMetricsBytes))
}

// Listens returns nil if host:port accepts connections.
func (p *Postgres) Listens(ctx context.Context, address string) error {
	connection, err := p.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}
