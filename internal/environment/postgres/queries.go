// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// queriesKey is the entry of the ConfigMap with the queries.
const queriesKey = "queries"

// queries are additional metrics of each instance. The rows read are those of user tables:
// pg_stat_database would include the catalogue, which CloudNativePG reads constantly.
//
// synchronous_commit is not available: CloudNativePG sets it for its own connections, and a
// connection sees only its own value.
//
// Names are qualified because the database belongs to the modules, which may have functions
// and operators of the same names.
const queries = `
` + contract.PostgresQueryServer + `:
  query: |
    SELECT pg_catalog.pg_is_in_recovery() AS in_recovery
      , (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication
         WHERE state OPERATOR(pg_catalog.=) 'streaming') AS streaming_replicas
      , (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication
         WHERE sync_state OPERATOR(pg_catalog.=) ANY (ARRAY['sync', 'quorum'])) AS synchronous_replicas
  metrics:
  - in_recovery: {usage: GAUGE, description: Whether the server is a replica}
  - streaming_replicas: {usage: GAUGE, description: Number of replicas the server sends its log to}
  - synchronous_replicas: {usage: GAUGE, description: Number of replicas whose answer a commit may wait for}
` + contract.PostgresQueryReads + `:
  query: |
    SELECT
      (SELECT COALESCE(pg_catalog.sum(seq_tup_read), 0) FROM pg_catalog.pg_stat_user_tables)
      OPERATOR(pg_catalog.+)
      (SELECT COALESCE(pg_catalog.sum(idx_tup_read), 0) FROM pg_catalog.pg_stat_user_indexes) AS rows
  target_databases: [` + database + `]
  metrics:
  - rows: {usage: COUNTER, description: Rows and index entries of the modules' tables read since the server's statistics began}
`

// queriesName returns the name of the ConfigMap with the queries of a Cluster.
func queriesName(req environment.Request) string { return req.PostgresName() + "-queries" }

func buildQueries(req environment.Request) environment.Intent {
	intent := req.Intent(corev1.SchemeGroupVersion.WithKind("ConfigMap"), queriesName(req), environment.ComponentPostgres, req.PostgresShape())
	// Instances reload ConfigMaps with this label.
	environment.AddLabel(intent, contract.LabelPostgresReload, "")
	intent.Object["data"] = map[string]any{queriesKey: queries}
	return intent
}

func monitoring(req environment.Request) map[string]any {
	return map[string]any{
		"metricsQueriesTTL":      metricsLifetime,
		"customQueriesConfigMap": []any{map[string]any{"name": queriesName(req), "key": queriesKey}},
	}
}
