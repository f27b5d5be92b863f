// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/servers"
	"perflab.dev/perflab/payload"
)

// A server that requests the password in clear text does not get it.
func TestPasswordIsNotSentInClear(t *testing.T) {
	t.Setenv("PGUSER", "app")
	t.Setenv("PGPASSWORD", "s3cret-word")
	t.Setenv("PGDATABASE", "app")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	heard := make(chan []byte, 1)
	go func() {
		var all []byte
		for {
			// Without TLS, the client connects a second time.
			conn, err := listener.Accept()
			if err != nil {
				heard <- all
				return
			}
			all = append(all, askForPassword(conn)...)
		}
	}()
	asked := &database{address: listener.Addr().String(), egress: loopback.Rules()}
	_, err = asked.sample(t.Context(), round{})
	if err == nil || strings.Contains(err.Error(), "s3cret-word") {
		t.Errorf("it gave %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	said := <-heard
	if !bytes.Contains(said, []byte("perflab-collector")) {
		t.Errorf("the startup message is %q, want perflab-collector in it", said)
	}
	if bytes.Contains(said, []byte("s3cret-word")) {
		t.Error("the server has the password")
	}
}

// askForPassword is a server without TLS, and returns all that it receives.
func askForPassword(conn net.Conn) []byte {
	defer conn.Close() //nolint:errcheck // The client hangs up.
	var heard bytes.Buffer
	backend := pgproto3.NewBackend(io.TeeReader(conn, &heard), conn)
	for {
		message, err := backend.ReceiveStartupMessage()
		if err != nil {
			return heard.Bytes()
		}
		if _, encrypted := message.(*pgproto3.SSLRequest); encrypted {
			if _, err := conn.Write([]byte("N")); err != nil {
				return heard.Bytes()
			}
			continue
		}
		backend.Send(&pgproto3.AuthenticationCleartextPassword{})
		if err := backend.Flush(); err != nil {
			return heard.Bytes()
		}
		_, _ = io.Copy(&heard, conn)
		return heard.Bytes()
	}
}

// connect logs in as a user, once the server accepts connections.
func connect(t *testing.T, server servers.PostgreSQL, user, database string) *pgx.Conn {
	t.Helper()
	address := fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s", user, servers.Password, server.Port, database)
	var connection *pgx.Conn
	await.Until(t.Context(), t, 10*time.Second, "a connection to PostgreSQL", func() (bool, string) {
		var err error
		connection, err = pgx.Connect(t.Context(), address)
		return err == nil, fmt.Sprint(err)
	})
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}

func do(t *testing.T, connection *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := connection.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// modules creates the database of the modules, with the login in the environment.
func modules(t *testing.T, server servers.PostgreSQL, rights string) *pgx.Conn {
	t.Helper()
	do(t, connect(t, server, servers.Superuser, "postgres"),
		`CREATE ROLE app LOGIN PASSWORD '`+servers.Password+`'`, rights, `CREATE DATABASE app OWNER app`)
	do(t, connect(t, server, servers.Superuser, "app"), `CREATE EXTENSION pg_stat_statements`)
	t.Setenv("PGUSER", "app")
	t.Setenv("PGPASSWORD", servers.Password)
	t.Setenv("PGDATABASE", "app")
	app := connect(t, server, "app", "app")
	do(t, app, `CREATE TABLE items (id int PRIMARY KEY, title text)`)
	return app
}

// sampleSource returns what a source recorded in one round.
func sampleSource(t *testing.T, asked source, now round) *payload.Samples {
	t.Helper()
	write, err := asked.sample(t.Context(), now)
	expect.NoError(t, err)
	recorder := payload.NewSampleRecorder("run", "pod", now.at)
	if write != nil {
		write(recorder)
	}
	return recorder.Samples
}

// value is the last of a series; without one the test fails.
func value(t *testing.T, samples *payload.Samples, component, resource string) float64 {
	t.Helper()
	for _, series := range samples.Series {
		if series.Component == component && series.Resource == resource {
			return series.Points[len(series.Points)-1].Value
		}
	}
	t.Fatalf("%s has no %s among %+v", component, resource, samples.Series)
	return 0
}

func fixed(primary servers.PostgreSQL, replicas ...servers.PostgreSQL) *databases {
	asked := &databases{egress: loopback.Rules(), fixed: []collector.Server{{Component: metric.Primary, Host: "127.0.0.1", Port: int32(primary.Port)}}}
	for i, replica := range replicas {
		asked.fixed = append(asked.fixed, collector.Server{
			Component: fmt.Sprintf("%s%d", metric.Replica, i+1), Host: "127.0.0.1", Port: int32(replica.Port),
		})
	}
	return asked
}

func TestPostgreSQLPrimaryAndReplica(t *testing.T) {
	primary := servers.Postgres(t)
	app := modules(t, primary, `GRANT pg_monitor TO app`)
	replica := primary.Replica(t)
	connect(t, replica, "app", "app")
	asked := fixed(primary, replica)
	begin := time.Now()
	sampleSource(t, asked, round{at: begin, last: true})

	busy := connect(t, primary, "app", "app")
	sleeping := make(chan error, 1)
	go func() {
		_, err := busy.Exec(t.Context(), `SELECT pg_sleep(3)`)
		sleeping <- err
	}()
	idle := connect(t, primary, "app", "app")
	do(t, idle, `BEGIN`)
	for i := range 200 {
		do(t, app, fmt.Sprintf(`INSERT INTO items VALUES (%d, 'the secret title %d')`, i, i))
	}
	do(t, app, `SET standard_conforming_strings = off`, `COMMENT ON TABLE items IS 'it\'s secret'`,
		`COMMENT ON COLUMN items.title IS $s1$secret$s1$`, `DO $ä$ BEGIN PERFORM 'secret'; END $ä$`,
		`SELECT /* a /* secret */ secret */ count(*) FROM items WHERE title > 'secret'`)
	// PostgreSQL publishes its statistics a moment later.
	do(t, app, `SELECT pg_stat_force_next_flush()`, `SELECT 1`)
	time.Sleep(200 * time.Millisecond)
	samples := sampleSource(t, asked, round{at: begin.Add(10 * time.Second), last: true})

	const first = "postgres/primary"
	// The superuser's two logins, app's first, the sleeper, and the one within a transaction,
	// without the collector's own.
	for resource, want := range map[string]float64{
		"connections/total": 5, "connections/active": 1, "connections/idle": 3, "connections/idleInTransaction": 1,
		"databaseLoad/other": 1, "databaseLoad/cpu": 0, "databaseLoad/io": 0, "databaseLoad/lock": 0, "databaseLoad/lwLock": 0, "databaseLoad/ipc": 0, "databaseLoad/client": 0,
	} {
		expect.Equal(t, want, value(t, samples, first, resource), "%s", resource)
	}
	if got := value(t, samples, first, "transactionsPerSecond"); got < 20 || got > 40 {
		t.Errorf("%g transactions per second, want a little more than the 20 of the 200 inserts in 10 s", got)
	}
	if got := value(t, samples, first, "cacheHits"); got <= 50 || got > 100 {
		t.Errorf("cache hits of %g %%, want most", got)
	}
	if got := value(t, samples, first, "databaseSize"); got < 5 || got > 50 {
		t.Errorf("the database has %g MiB, want that of a small one", got)
	}
	if got := value(t, samples, "postgres/replica-1", "lag"); got < 0 || got > 5 {
		t.Errorf("the replica is %g s behind", got)
	}
	for _, series := range samples.Series {
		if series.Component == first && series.Resource == "lag" {
			t.Error("the primary is behind itself")
		}
	}
	checkStatements(t, samples)
	if err := <-sleeping; err != nil {
		t.Error(err)
	}
}

func checkStatements(t *testing.T, samples *payload.Samples) {
	t.Helper()
	var inserts payload.StatementTime
	for _, period := range samples.Statements {
		for _, one := range period.Top {
			if strings.HasPrefix(samples.Texts[one.ID], "INSERT INTO items") {
				inserts = one
			}
		}
		if period.To.Sub(period.From) != 10*time.Second {
			t.Errorf("period %+v, want 10 s", period)
		}
	}
	if inserts.Calls != 200 || inserts.Rows != 200 || inserts.Milliseconds <= 0 {
		t.Errorf("the inserts are %+v among %+v, want 200 calls", inserts, samples.Texts)
	}
	shown := map[string]bool{}
	for id, text := range samples.Texts {
		shown[text] = true
		if strings.Contains(text, "secret") {
			t.Errorf("statement %s holds a literal: %s", id, text)
		}
	}
	for _, want := range []string{"COMMENT", "DO", "SET", "SELECT count(*) FROM items WHERE title > $1"} {
		if !shown[want] {
			t.Errorf("%q is not among %q", want, samples.Texts)
		}
	}
	if slices.ContainsFunc(samples.Notes, func(note string) bool { return strings.Contains(note, "first word") }) {
		t.Errorf("the parser failed: %q", samples.Notes)
	}
}

// A note describes what a login without rights can't see; everything else is measured.
func TestPostgreSQLLoginWithoutRights(t *testing.T) {
	primary := servers.Postgres(t)
	modules(t, primary, `SELECT 1`)
	asked := fixed(primary)
	sampleSource(t, asked, round{at: time.Now(), last: true})
	samples := sampleSource(t, asked, round{at: time.Now().Add(time.Second), last: true})
	if got := value(t, samples, metric.Primary, "connections/total"); got != 3 {
		t.Errorf("%g connections, want 3", got)
	}
	if len(samples.Notes) != 1 || !strings.Contains(samples.Notes[0], "grant it pg_monitor") {
		t.Errorf("the notes are %q, want one about pg_monitor", samples.Notes)
	}
	if len(samples.Statements) != 0 {
		t.Errorf("statements of others were told: %+v", samples.Statements)
	}
}

// An unavailable server is a failure, reported without the password, and is queried again once it
// is back.
func TestPostgreSQLUnavailable(t *testing.T) {
	t.Setenv("PGUSER", "app")
	t.Setenv("PGPASSWORD", servers.Password)
	t.Setenv("PGDATABASE", "app")
	_, err := fixed(servers.PostgreSQL{Port: 1}).sample(t.Context(), round{at: time.Now()})
	if err == nil || !strings.HasPrefix(err.Error(), "postgres/primary: ") || strings.Contains(err.Error(), servers.Password) || strings.Contains(err.Error(), "app") {
		t.Errorf("the failure is %v", err)
	}
	_, err = (&databases{}).sample(t.Context(), round{at: time.Now()})
	if err == nil {
		t.Error("no server at all is no failure")
	}
}
