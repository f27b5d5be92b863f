// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"net"
	"strconv"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// Access says how the system's database is reached past any Pooler.
type Access struct {
	// Host of the primary.
	Host string
	Port int32
	// Database is the database's name where it is declared; empty: it is in
	// the Secret, with the key contract.PostgresSecretDatabase.
	Database string
	// Secret with the keys username and password.
	Secret string
}

// AccessTo returns the access to the system's database. The system has one.
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

// ExternalAddresses are the addresses, as host:port, at which a PostgreSQL that
// PerfLab does not run has to answer: that of the primary and, where modules
// read from the replicas, that of those. None where PerfLab runs it.
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

// ReplicaReaders names the modules that read from the replicas as declared.
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
