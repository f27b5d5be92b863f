// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/payload"
)

// connectTimeout limits the time to connect to a server.
const connectTimeout = 5 * time.Second

// databases samples the servers of PostgreSQL, each over one persistent connection.
type databases struct {
	// fixed are existing servers. None: those of the pods.
	fixed []collector.Server
	// egress rules for connections.
	egress egress.Rules
	// servers found so far, by component.
	servers map[string]*database
}

func (d *databases) name() string { return "postgres" }

func (d *databases) sample(ctx context.Context, now round) (recordFunc, error) {
	if d.servers == nil {
		d.servers = map[string]*database{}
	}
	addresses := d.addresses(now.pods)
	if len(addresses) == 0 {
		return nil, errors.New("no server of PostgreSQL has an address")
	}
	var (
		records []recordFunc
		failed  []error
	)
	for _, component := range slices.Sorted(maps.Keys(addresses)) {
		server := d.servers[component]
		if server == nil || server.address != addresses[component] {
			server.close(ctx)
			server = &database{component: component, address: addresses[component], egress: d.egress}
			d.servers[component] = server
		}
		write, err := server.sample(ctx, now)
		if err != nil {
			// The next connection may work again.
			server.close(ctx)
			failed = append(failed, fmt.Errorf("%s: %w", component, withoutMessage(err)))
			continue
		}
		records = append(records, write)
	}
	return combine(records), errors.Join(failed...)
}

// addresses are host:port of the servers, by component.
func (d *databases) addresses(pods []pod) map[string]string {
	found := map[string]string{}
	for _, server := range d.fixed {
		found[server.Component] = net.JoinHostPort(server.Host, strconv.Itoa(int(server.Port)))
	}
	for _, pod := range pods {
		isServer := pod.component == metric.Primary || strings.HasPrefix(pod.component, metric.Replica)
		if len(d.fixed) == 0 && isServer && pod.address != "" {
			found[pod.component] = net.JoinHostPort(pod.address, strconv.Itoa(contract.PostgresPort))
		}
	}
	return found
}

// database is one server.
type database struct {
	component string
	address   string
	egress    egress.Rules
	connection
	// before are the counters of the previous round.
	before *counted
}

// connection to a server; nil while there is none.
type connection struct {
	*pgx.Conn
	// monitors means that the login may see other logins' activity.
	monitors   bool
	statements *statements
}

// counted are a server's counters since its statistics began.
type counted struct {
	at                    time.Time
	transactions          int64
	blocksHit, blocksRead int64
}

func (d *database) close(ctx context.Context) {
	if d == nil || d.Conn == nil {
		return
	}
	// It may be broken already.
	_ = d.Close(ctx)
	d.connection, d.before = connection{}, nil
}

// connect logs in with the credentials of the environment.
func (d *database) connect(ctx context.Context) error {
	if d.Conn != nil {
		return nil
	}
	host, port, err := net.SplitHostPort(d.address)
	if err != nil {
		return fmt.Errorf("reading the address %q: %w", d.address, err)
	}
	// Other settings, including the password, come from the environment. TLS is used if offered. A
	// server that requests the password in clear text is rejected, so that an eavesdropper or a
	// false server gets no readable password.
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s connect_timeout=%d require_auth=!password", quoted(host), quoted(port), int(connectTimeout.Seconds())))
	if err != nil {
		return fmt.Errorf("reading the login: %w", err)
	}
	config.RuntimeParams["application_name"] = "perflab-collector"
	config.RuntimeParams["statement_timeout"] = strconv.Itoa(int(connectTimeout.Milliseconds()))
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.DialFunc = d.egress.Dialer(connectTimeout).DialContext
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting: %w", withoutLogin(err))
	}
	d.Conn = conn
	err = conn.QueryRow(ctx, `SELECT pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`).Scan(&d.monitors)
	if err != nil {
		return fmt.Errorf("querying the login's rights: %w", err)
	}
	d.statements, err = findStatements(ctx, d.Conn)
	return err
}

// quoted is a value in a connection string.
func quoted(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// sample queries the server. The names are qualified because the database belongs to the
// modules, which may have functions of the same names.
func (d *database) sample(ctx context.Context, now round) (recordFunc, error) {
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	var records []recordFunc
	for _, ask := range []func(context.Context, round) (recordFunc, error){d.activity, d.load, d.transactions, d.lag, d.size, d.topStatements} {
		write, err := ask(ctx, now)
		if err != nil {
			return nil, err
		}
		records = append(records, write)
	}
	return combine(records), nil
}

// activity counts connections. Only the role pg_read_all_stats, which is in pg_monitor, can see
// what they do.
func (d *database) activity(ctx context.Context, now round) (recordFunc, error) {
	var total, active, idle, inTransaction float64
	err := d.QueryRow(ctx, `
SELECT pg_catalog.count(*)
  , pg_catalog.count(*) FILTER (WHERE state = 'active')
  , pg_catalog.count(*) FILTER (WHERE state = 'idle')
  , pg_catalog.count(*) FILTER (WHERE state LIKE 'idle in transaction%')
FROM pg_catalog.pg_stat_activity
WHERE pid <> pg_catalog.pg_backend_pid() AND datname IS NOT NULL
  AND (backend_type = 'client backend' OR backend_type IS NULL)`).Scan(&total, &active, &idle, &inTransaction)
	if err != nil {
		return nil, fmt.Errorf("counting connections: %w", err)
	}
	return func(into *payload.SampleRecorder) {
		into.Record(d.component, "", metric.Connections, metric.UnitCount, now.at, total)
		if !d.monitors {
			into.Samples.Note(d.component + ": the login is not allowed to read the state of connections: grant it pg_monitor")
			return
		}
		into.Record(d.component, "", metric.ConnectionsActive, metric.UnitCount, now.at, active)
		into.Record(d.component, "", metric.ConnectionsIdle, metric.UnitCount, now.at, idle)
		into.Record(d.component, "", metric.IdleInTransaction, metric.UnitCount, now.at, inTransaction)
	}, nil
}

// waits maps PostgreSQL's names of what a working connection waits for to ours; one that waits for
// nothing uses a CPU, or waits for one.
var waits = map[string]string{
	"": "cpu", "IO": "io", "Lock": "lock", "LWLock": "lwLock", "IPC": "ipc", "Client": "client",
}

// otherWaits are timeouts, extensions, and waits that later versions of PostgreSQL add.
const otherWaits = "other"

// load counts the working connections by what they wait for.
func (d *database) load(ctx context.Context, now round) (recordFunc, error) {
	if !d.monitors {
		// The activity source has noted this.
		return combine(nil), nil
	}
	rows, err := d.Query(ctx, `
SELECT coalesce(wait_event_type, ''), pg_catalog.count(*)
FROM pg_catalog.pg_stat_activity
WHERE pid <> pg_catalog.pg_backend_pid() AND datname IS NOT NULL AND state = 'active'
  AND (backend_type = 'client backend' OR backend_type IS NULL)
GROUP BY wait_event_type`)
	if err != nil {
		return nil, fmt.Errorf("counting connections at work: %w", err)
	}
	// Sessions without a wait are counted as well.
	counts := map[string]float64{otherWaits: 0}
	for _, name := range waits {
		counts[name] = 0
	}
	var kind string
	var number int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &number}, func() error {
		name, known := waits[kind]
		if !known {
			name = otherWaits
		}
		counts[name] += float64(number)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("counting connections at work: %w", err)
	}
	return func(into *payload.SampleRecorder) {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			into.Record(d.component, "", metric.DatabaseLoad+name, metric.UnitCount, now.at, counts[name])
		}
	}, nil
}

// transactions records the database's transactions since the previous round.
func (d *database) transactions(ctx context.Context, now round) (recordFunc, error) {
	after := &counted{at: now.at}
	err := d.QueryRow(ctx, `
SELECT xact_commit + xact_rollback, blks_hit, blks_read
FROM pg_catalog.pg_stat_database WHERE datname = pg_catalog.current_database()`).
		Scan(&after.transactions, &after.blocksHit, &after.blocksRead)
	if err != nil {
		return nil, fmt.Errorf("counting transactions: %w", err)
	}
	before := d.before
	d.before = after
	return func(into *payload.SampleRecorder) {
		if before == nil || after.transactions < before.transactions {
			// The first round, or the server's statistics were reset.
			return
		}
		seconds := after.at.Sub(before.at).Seconds()
		into.Record(d.component, "", metric.TransactionsPerSecond, metric.UnitPerSecond, now.at, float64(after.transactions-before.transactions)/seconds)
		hit, read := float64(after.blocksHit-before.blocksHit), float64(after.blocksRead-before.blocksRead)
		// Without blocks the share is 0/0, which is not recorded.
		into.Record(d.component, "", metric.CacheHits, metric.UnitPercent, now.at, 100*hit/(hit+read))
	}, nil
}

// lag is the time by which a replica is behind. One that has replayed everything it received is not
// behind, however long nothing was written.
func (d *database) lag(ctx context.Context, now round) (recordFunc, error) {
	var lag *float64
	err := d.QueryRow(ctx, `
SELECT CASE
  WHEN NOT pg_catalog.pg_is_in_recovery() THEN NULL
  WHEN pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() THEN 0
  ELSE GREATEST(0, EXTRACT(EPOCH FROM pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp()))
END::float8`).Scan(&lag)
	if err != nil {
		return nil, fmt.Errorf("querying the replication lag: %w", err)
	}
	return func(into *payload.SampleRecorder) {
		if lag != nil {
			into.Record(d.component, "", metric.Lag, metric.UnitSeconds, now.at, *lag)
		}
	}, nil
}

// size reads every file of the database, so it is queried only before each print.
func (d *database) size(ctx context.Context, now round) (recordFunc, error) {
	if !now.last || d.component != metric.Primary {
		return func(*payload.SampleRecorder) {}, nil
	}
	var bytes int64
	if err := d.QueryRow(ctx, `SELECT pg_catalog.pg_database_size(pg_catalog.current_database())`).Scan(&bytes); err != nil {
		return nil, fmt.Errorf("querying the database's size: %w", err)
	}
	return func(into *payload.SampleRecorder) {
		into.Record(d.component, "", metric.DatabaseSize, metric.UnitMebibytes, now.at, float64(bytes)/(1<<20))
	}, nil
}
