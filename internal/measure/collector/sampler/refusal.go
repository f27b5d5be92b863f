// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// meanings of the SQLSTATEs with which PostgreSQL rejects a collector.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var meanings = map[string]string{
	"28000": "it rejects the login",
	"28P01": "the login's password is wrong",
	"3D000": "the database does not exist",
	"42501": "the login lacks a right",
	"53300": "it has too many connections",
	"57014": "the statement took too long",
	"57P01": "it is shutting down",
	"57P03": "it is starting up or shutting down",
}

var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// withoutMessage removes the server's message from an error. Messages quote names and values,
// and those of triggers and functions anything; the code is sufficient.
func withoutMessage(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	// Only the text before the first message is certainly ours.
	ours, _, found := strings.Cut(err.Error(), refused.Error())
	if !found {
		ours = ""
	}
	return errors.New(ours + refusal(refused.Code))
}

func refusal(code string) string {
	if !sqlState.MatchString(code) {
		return "PostgreSQL refuses"
	}
	text := "PostgreSQL refuses with SQLSTATE " + code
	if meaning := meanings[code]; meaning != "" {
		text += ": " + meaning
	}
	return text
}

// withoutLogin removes the user and the database, which are in a Secret, from the error of a failed
// connection.
func withoutLogin(err error) error {
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		return failed.Unwrap()
	}
	return err
}
