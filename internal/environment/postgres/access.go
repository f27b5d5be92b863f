// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"net"
	"strconv"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// Access is the direct connection to the system's database, without a Pooler.
type Access struct {
	// Host of the primary.
	Host string
	Port int32
	// Database is the declared name of the database; empty if the Secret has it, under
	// contract.PostgresSecretDatabase.
	Database string
	// Secret with the keys username and password.
	Secret string
}

// AccessTo returns the access to the system's database.
func AccessTo(req environment.Request) Access {
	if external := req.System.Postgres.External; external != nil {
		return Access{
			Host: external.Host, Port: cmp.Or(external.Port, contract.PostgresPort),
			Database: external.Database, Secret: external.CredentialsSecret.Name,
		}
	}
	cluster := req.PostgresName()
	return Access{
		Host: contract.PostgresWriterService(cluster), Port: contract.PostgresPort,
		Secret: contract.PostgresSecret(cluster),
	}
}

// ExternalAddresses returns the addresses, as host:port, of an external PostgreSQL: the
// primary and, if modules read from replicas, the replicas. None if PerfLab runs it.
func ExternalAddresses(req environment.Request) []string {
	declared := req.System.Postgres
	if declared == nil || declared.External == nil {
		return nil
	}
	external := declared.External
	addresses := []string{address(external.Host, external.Port)}
	if split := declared.ReadWriteSplit; split != nil && split.Enabled && external.ReaderHost != "" {
		addresses = append(addresses, address(external.ReaderHost, external.ReaderPort))
	}
	return addresses
}

// ReplicaReaders returns the modules that read from replicas as declared.
func ReplicaReaders(req environment.Request) []string {
	var readers []string
	for _, module := range req.System.Modules {
		if environment.ReadsFromReplicas(req.System.Postgres, module) {
			readers = append(readers, module.Name)
		}
	}
	return readers
}

func address(host string, port int32) string {
	return net.JoinHostPort(host, strconv.Itoa(int(cmp.Or(port, contract.PostgresPort))))
}
