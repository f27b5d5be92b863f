// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/folio"
	"perflab.dev/perflab/internal/text/prose"
)

func postgresFindings(system *v1alpha1.System) []finding {
	postgres := system.Postgres
	if postgres == nil {
		return nil
	}
	found := splitFindings(system)
	if postgres.Provider == v1alpha1.PostgresProviderExternal {
		return found
	}
	found = append(found, serverFindings(postgres)...)
	found = append(found, resourceFindings("postgres", postgres.Resources, setting{"postgres", "resources"})...)
	return append(found, storageFindings("postgres", postgres.Storage, setting{"postgres", "storage", "size"})...)
}

// splitFindings checks that a read-write split has replicas, and modules that can use them.
func splitFindings(system *v1alpha1.System) []finding {
	split := system.Postgres.ReadWriteSplit
	if split == nil {
		return nil
	}
	found := exclusionFindings(system, split)
	if !split.Enabled {
		return found
	}
	found = append(found, replicaFindings(system.Postgres)...)
	if blind := blindModules(system, split); len(blind) > 0 {
		found = append(found, doubtful(
			fmt.Sprintf("the read/write split is enabled, but %s can't read from a replica: list modules that can't in postgres.readWriteSplit.exclude, or set readsFromReplica: true for those that can", prose.Enumerate(blind)),
			setting{"postgres", "readWriteSplit", "enabled"}))
	}
	return found
}

func exclusionFindings(system *v1alpha1.System, split *v1alpha1.ReadWriteSplit) []finding {
	var found []finding
	for _, name := range split.Exclude {
		if !hasModule(system, name) {
			found = append(found, wrong(name, "postgres.readWriteSplit.exclude: "+unknownModule(name, system),
				setting{"postgres", "readWriteSplit", "exclude"}))
		}
	}
	return found
}

func replicaFindings(postgres *v1alpha1.Postgres) []finding {
	enabled := setting{"postgres", "readWriteSplit", "enabled"}
	switch {
	case postgres.Provider != v1alpha1.PostgresProviderExternal && postgres.Instances < 2:
		return []finding{wrong(postgres.Instances,
			fmt.Sprintf("the read/write split is enabled with %d PostgreSQL instance, so there is no replica to read from: set postgres.instances to 2 or more, or set readWriteSplit.enabled: false", max(1, postgres.Instances)),
			setting{"postgres", "instances"}, enabled)}
	case postgres.Provider == v1alpha1.PostgresProviderExternal && (postgres.External == nil || postgres.External.ReaderHost == ""):
		return []finding{wrong("", "the read/write split is enabled without postgres.external.readerHost, so there is no replica to read from: write the replicas' host, or set readWriteSplit.enabled: false",
			setting{"postgres", "external"}, enabled)}
	default:
		return nil
	}
}

// blindModules returns the modules of the split that can't use it.
func blindModules(system *v1alpha1.System, split *v1alpha1.ReadWriteSplit) []string {
	var blind []string
	for _, module := range system.Modules {
		if !slices.Contains(split.Exclude, module.Name) && isBlind(module) {
			blind = append(blind, module.Name)
		}
	}
	return blind
}

// isBlind reports whether the module reads from the database, but not from a replica.
func isBlind(module v1alpha1.Module) bool {
	if module.ReadsFromReplica != nil {
		return !*module.ReadsFromReplica
	}
	known, reads := folio.ReadsFromReplica(module.Name)
	return known && !reads && folio.HasDatabase(module.Name)
}

func hasModule(system *v1alpha1.System, name string) bool {
	return moduleIndex(system, name) >= 0
}
