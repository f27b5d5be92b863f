// SPDX-License-Identifier: Apache-2.0

// Package postgres turns the declared PostgreSQL into CloudNativePG's Cluster
// and Poolers, and what CloudNativePG makes of them into a readiness. A server
// that is already there is only pointed at. It is pure.
package postgres

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
)

// database is the name of the database and of the user that owns it.
const database = "app"

// defaultStorage is the size of an instance's volume when none is declared.
const defaultStorage = "1Gi"

// smartShutdownSeconds is how long an instance that is told to stop waits for
// its clients to hang up. Modules keep their connections, so CloudNativePG's
// default would only hold up each rebuild for three minutes.
const smartShutdownSeconds = 5

// metricsLifetime is how long an instance may give the same figures again.
// CloudNativePG's default of 30 s would give those of before a short load as
// those after it.
const metricsLifetime = "1s"

// Build returns the Cluster with its queries and Poolers; nothing when the system has no
// PostgreSQL or one that PerfLab does not run.
func Build(req environment.Request) []environment.Intent {
	if !isOurs(req.System.Postgres) {
		return nil
	}
	intents := append([]environment.Intent{buildCluster(req), buildQueries(req)}, buildPoolers(req)...)
	return environment.Patched(intents, req.Patches("Cluster", "Pooler"))
}

// isOurs reports whether PerfLab runs the declared PostgreSQL.
func isOurs(postgres *v1alpha1.Postgres) bool {
	return postgres != nil && postgres.Provider != v1alpha1.PostgresProviderExternal
}

func buildCluster(req environment.Request) environment.Intent {
	postgres := req.System.Postgres
	spec := map[string]any{
		"instances":             int64(instances(postgres)),
		"storage":               storage(postgres.Storage),
		"enableSuperuserAccess": false,
		"smartShutdownTimeout":  int64(smartShutdownSeconds),
		"bootstrap": map[string]any{"initdb": map[string]any{
			"database": database,
			"owner":    database,
			// Who measures logs in as the modules do and has to see what their
			// connections do, and their statements.
			"postInitSQL": []any{"GRANT pg_monitor TO " + database},
		}},
		"postgresql": server(postgres),
		"monitoring": monitoring(req),
	}
	if postgres.Image != "" {
		spec["imageName"] = postgres.Image
	}
	podspec.AddResources(spec, postgres.Resources)
	place(spec, postgres.Placement, req.PostgresName())
	cluster := req.Intent(contract.PostgresClusterKind, req.PostgresName(), environment.ComponentPostgres, req.PostgresShape())
	cluster.Object["spec"] = spec
	return cluster
}

func instances(postgres *v1alpha1.Postgres) int32 { return max(1, postgres.Instances) }

func isSynchronous(postgres *v1alpha1.Postgres) bool {
	return postgres.ReadWriteSplit != nil && postgres.ReadWriteSplit.Synchronous && instances(postgres) > 1
}

func storage(declared *v1alpha1.Storage) map[string]any {
	if declared == nil {
		return map[string]any{"size": defaultStorage}
	}
	storage := map[string]any{"size": declared.Size.String()}
	if declared.Class != "" {
		storage["storageClass"] = declared.Class
	}
	return storage
}

func server(postgres *v1alpha1.Postgres) map[string]any {
	server := map[string]any{"parameters": parameters(postgres)}
	if isSynchronous(postgres) {
		server["synchronous"] = map[string]any{
			"method": "any",
			// Reads go to any replica, so a commit has to wait for all of
			// them: a read after a write must not depend on luck.
			"number": int64(instances(postgres) - 1),
			// Going on without a replica would quietly measure something else.
			"dataDurability": "required",
		}
	}
	return server
}

// parameters are the declared ones with what measuring needs. Any parameter of
// pg_stat_statements makes CloudNativePG load the extension.
func parameters(postgres *v1alpha1.Postgres) map[string]any {
	parameters := map[string]any{}
	if postgres.Statements == nil || *postgres.Statements {
		parameters["pg_stat_statements.max"] = "10000"
		parameters["pg_stat_statements.track"] = "all"
	}
	if isSynchronous(postgres) {
		parameters["synchronous_commit"] = "remote_apply"
	}
	for key, value := range postgres.Parameters {
		parameters[key] = value
	}
	return parameters
}
