// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"regexp"
	"strings"
)

// Unreadable replaces a statement that can't be parsed.
const Unreadable = "UNREADABLE"

// commands are the only texts shown of statements other than queries: the commands of PostgreSQL's
// reference, by their first words.
// https://www.postgresql.org/docs/current/sql-commands.html
var commands = words(`
ABORT
ALTER AGGREGATE
ALTER COLLATION
ALTER CONVERSION
ALTER DATABASE
ALTER DEFAULT PRIVILEGES
ALTER DOMAIN
ALTER EVENT TRIGGER
ALTER EXTENSION
ALTER FOREIGN DATA WRAPPER
ALTER FOREIGN TABLE
ALTER FUNCTION
ALTER GROUP
ALTER INDEX
ALTER LANGUAGE
ALTER LARGE OBJECT
ALTER MATERIALIZED VIEW
ALTER OPERATOR
ALTER OPERATOR CLASS
ALTER OPERATOR FAMILY
ALTER POLICY
ALTER PROCEDURE
ALTER PUBLICATION
ALTER ROLE
ALTER ROUTINE
ALTER RULE
ALTER SCHEMA
ALTER SEQUENCE
ALTER SERVER
ALTER STATISTICS
ALTER SUBSCRIPTION
ALTER SYSTEM
ALTER TABLE
ALTER TABLESPACE
ALTER TEXT SEARCH CONFIGURATION
ALTER TEXT SEARCH DICTIONARY
ALTER TEXT SEARCH PARSER
ALTER TEXT SEARCH TEMPLATE
ALTER TRIGGER
ALTER TYPE
ALTER USER
ALTER USER MAPPING
ALTER VIEW
ANALYSE
ANALYZE
BEGIN
CALL
CHECKPOINT
CLOSE
CLUSTER
COMMENT
COMMIT
COMMIT PREPARED
COPY
CREATE ACCESS METHOD
CREATE AGGREGATE
CREATE CAST
CREATE COLLATION
CREATE CONVERSION
CREATE DATABASE
CREATE DOMAIN
CREATE EVENT TRIGGER
CREATE EXTENSION
CREATE FOREIGN DATA WRAPPER
CREATE FOREIGN TABLE
CREATE FUNCTION
CREATE GROUP
CREATE INDEX
CREATE LANGUAGE
CREATE MATERIALIZED VIEW
CREATE OPERATOR
CREATE OPERATOR CLASS
CREATE OPERATOR FAMILY
CREATE POLICY
CREATE PROCEDURE
CREATE PUBLICATION
CREATE ROLE
CREATE RULE
CREATE SCHEMA
CREATE SEQUENCE
CREATE SERVER
CREATE STATISTICS
CREATE SUBSCRIPTION
CREATE TABLE
CREATE TABLESPACE
CREATE TEXT SEARCH CONFIGURATION
CREATE TEXT SEARCH DICTIONARY
CREATE TEXT SEARCH PARSER
CREATE TEXT SEARCH TEMPLATE
CREATE TRANSFORM
CREATE TRIGGER
CREATE TYPE
CREATE USER
CREATE USER MAPPING
CREATE VIEW
DEALLOCATE
DECLARE
DELETE
DISCARD
DO
DROP ACCESS METHOD
DROP AGGREGATE
DROP CAST
DROP COLLATION
DROP CONVERSION
DROP DATABASE
DROP DOMAIN
DROP EVENT TRIGGER
DROP EXTENSION
DROP FOREIGN DATA WRAPPER
DROP FOREIGN TABLE
DROP FUNCTION
DROP GROUP
DROP INDEX
DROP LANGUAGE
DROP MATERIALIZED VIEW
DROP OPERATOR
DROP OPERATOR CLASS
DROP OPERATOR FAMILY
DROP OWNED
DROP POLICY
DROP PROCEDURE
DROP PUBLICATION
DROP ROLE
DROP ROUTINE
DROP RULE
DROP SCHEMA
DROP SEQUENCE
DROP SERVER
DROP STATISTICS
DROP SUBSCRIPTION
DROP TABLE
DROP TABLESPACE
DROP TEXT SEARCH CONFIGURATION
DROP TEXT SEARCH DICTIONARY
DROP TEXT SEARCH PARSER
DROP TEXT SEARCH TEMPLATE
DROP TRANSFORM
DROP TRIGGER
DROP TYPE
DROP USER
DROP USER MAPPING
DROP VIEW
END
EXECUTE
EXPLAIN
FETCH
GRANT
IMPORT FOREIGN SCHEMA
INSERT
LISTEN
LOAD
LOCK
MERGE
MOVE
NOTIFY
PREPARE
PREPARE TRANSACTION
REASSIGN OWNED
REFRESH MATERIALIZED VIEW
REINDEX
RELEASE
RESET
REVOKE
ROLLBACK
ROLLBACK PREPARED
ROLLBACK TO SAVEPOINT
SAVEPOINT
SECURITY LABEL
SELECT
SET
SET CONSTRAINTS
SET ROLE
SET SESSION AUTHORIZATION
SET TRANSACTION
SHOW
START TRANSACTION
TABLE
TRUNCATE
UNLISTEN
UPDATE
VACUUM
VALUES
WITH
`)

func words(list string) [][]string {
	var all [][]string
	for line := range strings.Lines(strings.TrimSpace(list)) {
		all = append(all, strings.Fields(line))
	}
	return all
}

// firstWords of commands.
var firstWords = func() map[string]bool {
	first := map[string]bool{}
	for _, command := range commands {
		first[command[0]] = true
	}
	return first
}()

// command returns the command that starts keywords: the longest whose words occur in this order,
// of equally long ones the first complete one. CREATE UNIQUE INDEX is a CREATE INDEX.
func command(keywords []string) string {
	if len(keywords) == 0 {
		return Unreadable
	}
	var longest []string
	var end int
	for _, command := range commands {
		at, found := commandPosition(command, keywords)
		if found && (len(command) > len(longest) || len(command) == len(longest) && at < end) {
			longest, end = command, at
		}
	}
	if longest == nil {
		return listed(keywords[0])
	}
	return strings.Join(longest, " ")
}

// commandPosition returns the position after the last word of a command among keywords that begin
// with its first.
func commandPosition(command, keywords []string) (int, bool) {
	if command[0] != keywords[0] {
		return 0, false
	}
	matched := 0
	for i, keyword := range keywords {
		if keyword == command[matched] {
			matched++
		}
		if matched == len(command) {
			return i + 1, true
		}
	}
	return 0, false
}

var firstWord = regexp.MustCompile(`^[\s(]*([A-Za-z]+)(?:[^\w$\x80-\x{10FFFF}]|$)`)

// byFirstWord returns the first word of an unreadable statement if it begins a command. A statement
// that begins with a comment is not shown.
func byFirstWord(text string) string {
	found := firstWord.FindStringSubmatch(text)
	if found == nil {
		return Unreadable
	}
	return listed(strings.ToUpper(found[1]))
}

func listed(word string) string {
	if firstWords[word] {
		return word
	}
	return Unreadable
}
