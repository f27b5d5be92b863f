// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestRefusalsQuoteNothing(t *testing.T) {
	refused := func(code, message string) error {
		return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message, Detail: "hunter2"}
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a code that is known": {
			fmt.Errorf("counting connections: %w", refused("28P01", `password authentication failed for user "hunter2"`)),
			"counting connections: PostgreSQL refuses with SQLSTATE 28P01: the login's password is wrong",
		},
		"one that is not": {
			fmt.Errorf("reading statements: %w", refused("P0001", "hunter2")),
			"reading statements: PostgreSQL refuses with SQLSTATE P0001",
		},
		"no code":     {refused("hunter2", "hunter2"), "PostgreSQL refuses"},
		"two of them": {errors.Join(errors.New("no TLS"), refused("57P03", "hunter2"), refused("53300", "hunter2")), "no TLS\nPostgreSQL refuses with SQLSTATE 57P03: it is starting up or shutting down"},
		"a message of several lines": {
			rewritten{refused("XX000", "hunter2\nhunter2")}, "PostgreSQL refuses with SQLSTATE XX000",
		},
		"none": {errors.New("connection refused"), "connection refused"},
	} {
		if got := withoutMessage(test.err).Error(); got != test.want {
			t.Errorf("%s is told as\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// rewritten writes an error otherwise than it writes itself.
type rewritten struct{ error }

func (r rewritten) Error() string { return "hunter2:\n\t" + r.error.Error()[:3] }
func (r rewritten) Unwrap() error { return r.error }
