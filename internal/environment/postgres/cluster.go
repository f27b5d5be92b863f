// SPDX-License-Identifier: Apache-2.0

// Package postgres renders the declared PostgreSQL as CloudNativePG's Cluster and Poolers,
// and assesses their readiness. For an existing server it only returns the address. It is
// pure.
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

// smartShutdownSeconds is how long a stopping instance waits for clients to disconnect.
// Modules keep their connections, so CloudNativePG's default would delay each rebuild by
// three minutes.
const smartShutdownSeconds = 5

// metricsLifetime is how long an instance caches its metrics. CloudNativePG's default of 30
// s would return metrics from before a short load after it.
const metricsLifetime = "1s"

// Build returns the Cluster with its queries and Poolers; nothing if the system has no
// PostgreSQL or an external one.
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
			// The collector logs in as the modules' user and reads their connections and
			// statements.
			"postInitSQL": []any{"GRANT pg_monitor TO " + database},
		}},
		"postgresql": server(postgres),
		"monitoring": monitoring(req),
	}
	if req.StrikesPostgres {
		spec["inheritedMetadata"] = map[string]any{"labels": map[string]any{v1alpha1.LabelExperiment: req.Experiment}}
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
			// Reads go to any replica, so a commit waits for all of them: a read after a
			// write must see it.
			"number": int64(instances(postgres) - 1),
			// Continuing without a replica would silently measure another configuration.
			"dataDurability": "required",
		}
	}
	return server
}

// parameters returns the declared parameters with those that measuring needs. Any parameter
// of pg_stat_statements makes CloudNativePG load the extension.
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
