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

// endpoint is where a PostgreSQL server or a pool of connections to it is.
type endpoint struct {
	host string
	port int32
}

func (e endpoint) env(host, port string) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: host, Value: e.host},
		{Name: port, Value: strconv.Itoa(int(cmp.Or(e.port, contract.PostgresPort)))},
	}
}

// databaseEnv is how a module finds its database and logs in to it.
func databaseEnv(req environment.Request, module v1alpha1.Module) []corev1.EnvVar {
	postgres := req.System.Postgres
	if postgres == nil {
		return nil
	}
	writer, reader := endpoints(req)
	variables := slices.Concat(writer.env("DB_HOST", "DB_PORT"), credentials(req))
	if !environment.ReadsFromReplicas(postgres, module) {
		return variables
	}
	// Modules use the replicas only when both are set.
	return append(variables, reader.env("DB_HOST_READER", "DB_PORT_READER")...)
}

// endpoints are where the primary and the replicas are reached: where they are
// declared to be, through their poolers, or through CloudNativePG's Services.
func endpoints(req environment.Request) (writer, reader endpoint) {
	postgres := req.System.Postgres
	cluster := req.PostgresName()
	switch {
	case postgres.External != nil:
		external := postgres.External
		return endpoint{external.Host, external.Port}, endpoint{external.ReaderHost, external.ReaderPort}
	case postgres.Pooler != nil:
		return endpoint{host: contract.PostgresWriterPooler(cluster)}, endpoint{host: contract.PostgresReaderPooler(cluster)}
	default:
		return endpoint{host: contract.PostgresWriterService(cluster)}, endpoint{host: contract.PostgresReaderService(cluster)}
	}
}

// credentials refer to the Secret CloudNativePG makes, or to the declared one.
func credentials(req environment.Request) []corev1.EnvVar {
	if external := req.System.Postgres.External; external != nil {
		return databaseLogin(corev1.EnvVar{Name: "DB_DATABASE", Value: external.Database}, external.CredentialsSecret.Name)
	}
	secret := contract.PostgresSecret(req.PostgresName())
	return databaseLogin(podspec.EnvFromSecret("DB_DATABASE", secret, contract.PostgresSecretDatabase), secret)
}

func databaseLogin(database corev1.EnvVar, secret string) []corev1.EnvVar {
	return append([]corev1.EnvVar{database}, podspec.LoginEnv("DB_USERNAME", "DB_PASSWORD", secret)...)
}
