// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
)

// AdoptedEnv returns the variables that an adopted module needs: the addresses of
// components that PerfLab builds, and the replicas to read from. The workload already has
// the address and the credentials of an existing database; only its replicas are the
// experiment's choice. It sets nothing that the system does not declare.
func AdoptedEnv(req environment.Request, env string, module v1alpha1.Module) []corev1.EnvVar {
	database := databaseEnv(req, module)
	if postgres := req.System.Postgres; postgres != nil && postgres.Provider == v1alpha1.PostgresProviderExternal {
		database = externalReaderEnv(postgres, module)
	}
	return append(defaultReadersToPrimary(database), kafkaEnv(req, env)...)
}

// defaultReadersToPrimary sends a module's reads to the primary if it gets a primary and no
// replica, because a Secret may name another replica.
func defaultReadersToPrimary(database []corev1.EnvVar) []corev1.EnvVar {
	if podspec.EnvIndex(database, "DB_HOST_READER") >= 0 {
		return database
	}
	for writer, reader := range map[string]string{"DB_HOST": "DB_HOST_READER", "DB_PORT": "DB_PORT_READER"} {
		if at := podspec.EnvIndex(database, writer); at >= 0 {
			database = append(database, corev1.EnvVar{Name: reader, Value: database[at].Value})
		}
	}
	slices.SortFunc(database, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return database
}

// externalReaderEnv sends a module's reads to the declared replicas or, if the declared
// split excludes the module, to the primary.
func externalReaderEnv(postgres *v1alpha1.Postgres, module v1alpha1.Module) []corev1.EnvVar {
	external := postgres.External
	if external == nil || postgres.ReadWriteSplit == nil {
		return nil
	}
	host, port := external.Host, external.Port
	if environment.ReadsFromReplicas(postgres, module) {
		host, port = external.ReaderHost, external.ReaderPort
	}
	return []corev1.EnvVar{
		{Name: "DB_HOST_READER", Value: host},
		{Name: "DB_PORT_READER", Value: strconv.Itoa(int(cmp.Or(port, contract.PostgresPort)))},
	}
}
