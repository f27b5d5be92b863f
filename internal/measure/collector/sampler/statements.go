// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"perflab.dev/perflab/internal/measure/sqltext"
	"perflab.dev/perflab/payload"
)

const (
	// maxStatements is the number of statements kept per period.
	maxStatements = 20
	// oldestStatements is the version of PostgreSQL since which pg_stat_statements separates
	// execution and planning.
	oldestStatements = 130000
	// topLevelSince is the version since which it marks statements within functions, whose time
	// is included in that of the outer statement.
	topLevelSince = 140000
)

// statements reads the counters of pg_stat_statements.
type statements struct {
	// missing is the reason why statements are unavailable; empty if they are available.
	missing string
	// schema of the extension, quoted.
	schema string
	where  string
	// before are the counters at the last print, by statement.
	before map[int64]statementCount
	since  time.Time
	// written are the statements with recorded texts.
	written map[int64]bool
}

type statementCount struct {
	calls, rows  int64
	milliseconds float64
}

func findStatements(ctx context.Context, connection *pgx.Conn) (*statements, error) {
	var (
		version int
		schema  string
	)
	if err := connection.QueryRow(ctx, `SELECT pg_catalog.current_setting('server_version_num')::int4`).Scan(&version); err != nil {
		return nil, fmt.Errorf("querying the server's version: %w", err)
	}
	err := connection.QueryRow(ctx, `
SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`).Scan(&schema)
	found := &statements{schema: schema, written: map[int64]bool{}}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		found.missing = "the top statements are not measured: the extension pg_stat_statements is not installed in the database"
	case err != nil:
		return nil, fmt.Errorf("looking for pg_stat_statements: %w", err)
	case version < oldestStatements:
		found.missing = "the top statements are not measured: they require PostgreSQL 13 or later"
	case version >= topLevelSince:
		found.where = " AND toplevel"
	}
	if found.missing == "" {
		// The first texts are read in a minute.
		sqltext.Prepare()
	}
	return found, nil
}

// topStatements records the statements with the most time since the last print. Their texts are not
// read each time: PostgreSQL keeps them in a file.
func (d *database) topStatements(ctx context.Context, now round) (recordFunc, error) {
	own := d.statements
	if own.missing != "" || !d.monitors {
		return func(into *payload.SampleRecorder) {
			if own.missing != "" {
				into.Samples.Note(d.component + ": " + own.missing)
			}
		}, nil
	}
	if own.before != nil && !now.last {
		return func(*payload.SampleRecorder) {}, nil
	}
	after, err := own.count(ctx, d.Conn)
	if err != nil {
		return nil, err
	}
	before, since := own.before, own.since
	own.before, own.since = after, now.at
	if before == nil {
		return func(*payload.SampleRecorder) {}, nil
	}
	period := payload.StatementPeriod{Component: d.component, From: since.UTC().Truncate(time.Millisecond), To: now.at.UTC().Truncate(time.Millisecond)}
	var ids []int64
	period.Top, ids, period.Milliseconds = topStatements(before, after)
	texts, err := own.texts(ctx, d.Conn, ids)
	if err != nil {
		return nil, err
	}
	return func(into *payload.SampleRecorder) {
		into.Samples.Statements = append(into.Samples.Statements, period)
		for id, text := range texts {
			into.Samples.SetText(strconv.FormatInt(id, 10), text)
		}
		if sqltext.Failed() {
			into.Samples.Note(d.component + ": top statements are reduced to their first word: the parser that removes literals failed")
		}
	}, nil
}

// count reads all counters of this database.
func (s *statements) count(ctx context.Context, connection *pgx.Conn) (map[int64]statementCount, error) {
	rows, err := connection.Query(ctx, `
SELECT queryid, sum(calls)::int8, sum(rows)::int8, sum(total_exec_time)
FROM `+s.schema+`.pg_stat_statements(false)
WHERE queryid IS NOT NULL AND dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`+s.where+`
GROUP BY queryid`)
	if err != nil {
		return nil, fmt.Errorf("reading pg_stat_statements: %w", err)
	}
	counts := map[int64]statementCount{}
	var (
		id    int64
		count statementCount
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &count.calls, &count.rows, &count.milliseconds}, func() error {
		counts[id] = count
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading pg_stat_statements: %w", err)
	}
	return counts, nil
}

// texts reads, without literals, the texts that were not written yet. It truncates texts that are
// too long to be read.
func (s *statements) texts(ctx context.Context, connection *pgx.Conn, ids []int64) (map[int64]string, error) {
	ids = slices.DeleteFunc(ids, func(id int64) bool { return s.written[id] })
	texts := map[int64]string{}
	if len(ids) == 0 {
		return texts, nil
	}
	rows, err := connection.Query(ctx, `
SELECT queryid, pg_catalog.left(pg_catalog.min(query), $2) FROM `+s.schema+`.pg_stat_statements(true)
WHERE queryid = ANY ($1) GROUP BY queryid`, ids, sqltext.MaxText+1)
	if err != nil {
		return nil, fmt.Errorf("reading statements: %w", err)
	}
	var (
		id   int64
		text *string
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		if text != nil {
			texts[id] = sqltext.WithoutLiterals(*text)
			s.written[id] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading statements: %w", err)
	}
	return texts, nil
}

// topStatements returns the statements with the most time between two counts, and the time of all
// statements.
func topStatements(before, after map[int64]statementCount) (top []payload.StatementTime, ids []int64, total float64) {
	type spent struct {
		id int64
		statementCount
	}
	var list []spent
	for id, count := range after {
		was := before[id]
		if count.calls < was.calls {
			// The server's statistics were reset in between.
			was = statementCount{}
		}
		if count.calls == was.calls {
			continue
		}
		total += count.milliseconds - was.milliseconds
		list = append(list, spent{id, statementCount{
			calls: count.calls - was.calls, rows: count.rows - was.rows, milliseconds: count.milliseconds - was.milliseconds,
		}})
	}
	slices.SortFunc(list, func(a, b spent) int {
		return cmp.Or(cmp.Compare(b.milliseconds, a.milliseconds), cmp.Compare(a.id, b.id))
	})
	for _, one := range list[:min(len(list), maxStatements)] {
		ids = append(ids, one.id)
		top = append(top, payload.StatementTime{
			ID: strconv.FormatInt(one.id, 10), Calls: one.calls, Rows: one.rows, Milliseconds: one.milliseconds,
		})
	}
	return top, ids, total
}
