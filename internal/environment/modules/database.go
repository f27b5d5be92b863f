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

// endpoint is the address of a PostgreSQL server or pooler.
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

// databaseEnv returns the variables for a module's database and login.
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
	// Modules use the replicas only if both are set.
	return append(variables, reader.env("DB_HOST_READER", "DB_PORT_READER")...)
}

// endpoints returns the addresses of the primary and the replicas: the declared ones, the
// poolers, or CloudNativePG's Services.
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

// credentials refers to the Secret of CloudNativePG, or to the declared one.
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
