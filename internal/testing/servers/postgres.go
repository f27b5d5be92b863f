// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/ports"
)

// Login of a PostgreSQL's superuser.
const (
	Superuser = "postgres"
	Password  = "secret-of-the-test"
)

const installPostgres = "apt-get install postgresql"

// PostgreSQL is a server on loopback.
type PostgreSQL struct {
	Port int
}

// Postgres starts a primary with pg_stat_statements.
func Postgres(t *testing.T) PostgreSQL {
	t.Helper()
	initdb := find(t, "initdb", installPostgres)
	dir := directory(t)
	password := filepath.Join(dir, "password")
	expect.NoError(t, os.WriteFile(password, []byte(Password), 0o644))
	data := filepath.Join(dir, "data")
	run(t, dir, initdb, "-D", data, "-U", Superuser, "--auth=scram-sha-256", "--pwfile="+password, "--no-sync", "--encoding=UTF8", "--locale=C")
	return startPostgres(t, dir, data)
}

// Replica starts a server that follows another.
func (p PostgreSQL) Replica(t *testing.T) PostgreSQL {
	t.Helper()
	backup := find(t, "pg_basebackup", installPostgres)
	dir := directory(t)
	data := filepath.Join(dir, "data")
	copying := command(t, dir, backup, "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-h", "127.0.0.1", "-p", strconv.Itoa(p.Port), "-U", Superuser)
	copying.Env = append(os.Environ(), "PGPASSWORD="+Password)
	if output, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("copying the primary: %v\n%s", err, output)
	}
	return startPostgres(t, dir, data)
}

func startPostgres(t *testing.T, dir, data string) PostgreSQL {
	t.Helper()
	server := PostgreSQL{Port: ports.For(t)}
	start(t, dir, find(t, "postgres", installPostgres), "-D", data, "-p", strconv.Itoa(server.Port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off",
		"-c", "shared_preload_libraries=pg_stat_statements", "-c", "pg_stat_statements.track=all")
	answers(t, "PostgreSQL", server.Port)
	return server
}
