// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// buildPoolers returns a PgBouncer for the primary and, if modules read from replicas, one
// for those. They are part of the Cluster's shape.
func buildPoolers(req environment.Request) []environment.Intent {
	postgres := req.System.Postgres
	if postgres.Pooler == nil {
		return nil
	}
	cluster := req.PostgresName()
	poolers := []environment.Intent{buildPooler(req, contract.PostgresWriterPooler(cluster), "rw")}
	if split := postgres.ReadWriteSplit; split != nil && split.Enabled {
		poolers = append(poolers, buildPooler(req, contract.PostgresReaderPooler(cluster), "ro"))
	}
	return poolers
}

func buildPooler(req environment.Request, name, service string) environment.Intent {
	declared := req.System.Postgres.Pooler
	bouncer := map[string]any{"poolMode": "session"}
	if declared.Mode != "" {
		bouncer["poolMode"] = string(declared.Mode)
	}
	if len(declared.Parameters) > 0 {
		parameters := map[string]any{}
		for key, value := range declared.Parameters {
			parameters[key] = value
		}
		bouncer["parameters"] = parameters
	}
	pooler := req.Intent(contract.PostgresPoolerKind, name, environment.ComponentPostgres, req.PostgresShape())
	pooler.Object["spec"] = map[string]any{
		"cluster":   map[string]any{"name": req.PostgresName()},
		"type":      service,
		"instances": int64(max(1, declared.Instances)),
		"pgbouncer": bouncer,
	}
	return pooler
}
