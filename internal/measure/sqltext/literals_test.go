// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"slices"
	"strings"
	"testing"
)

func TestQueriesStayReadable(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT * FROM t WHERE a = $1 AND b2 = $12`:                           `SELECT * FROM t WHERE a = $1 AND b2 = $12`,
		"SELECT 1 -- secret\n  , \"Na'me 1\" /* 'secret' */ FROM t\"t\"":      `SELECT ? , "Na'me 1" FROM t"t"`,
		"SELECT a/* x */, b /* a /* nested */ comment */\n\t FROM \"t\"\"1\"": `SELECT a , b FROM "t""1"`,
		"SELECT \"two\n lines\"":                                              `SELECT "two lines"`,
		`SELECT U&'d\0061t' , x'1F', B'01', E'a\'b', 'it''s', $$a$$`:          `SELECT ? , ?, ?, ?, ?, ?`,
		`SELECT U&"d!0061" UESCAPE '!', n'x'`:                                 `SELECT U&"d!0061" UESCAPE ?, n?`,
		"SELECT 'a'\n 'b', 0x1F, 1_000, .5e-3, 1., -7, true, NULL":            `SELECT ?, ?, ?, ?, ?, -?, true, NULL`,
		`SELECT now() - interval $1, date $2, extract($3 from x) LIMIT $4`:    `SELECT now() - interval $1, date $2, extract($3 from x) LIMIT $4`,
		`SELECT interval '1 day', numeric(10,2) '1.5', 'x'::jsonb -> 'y'`:     `SELECT interval ?, numeric(?,?) ?, ?::jsonb -> ?`,
		`SELECT größe FROM straße_2 WHERE a ? $1 AND b @> $2 AND c[1:2]`:      `SELECT größe FROM straße_2 WHERE a ? $1 AND b @> $2 AND c[?:?]`,
		`SELECT * FROM a WHERE b IN ($1 /*, ... */);`:                         `SELECT * FROM a WHERE b IN ($1 );`,
		`INSERT INTO items VALUES ($1, $2), ($3, $4)`:                         `INSERT INTO items VALUES ($1, $2), ($3, $4)`,
		`UPDATE t SET a = jsonb_set(a, $1, to_jsonb($2::text))`:               `UPDATE t SET a = jsonb_set(a, $1, to_jsonb($2::text))`,
		`WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a`:               `WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a`,
		`MERGE INTO a USING b ON a.i=b.i WHEN MATCHED THEN DELETE`:            `MERGE INTO a USING b ON a.i=b.i WHEN MATCHED THEN DELETE`,
		`VALUES ($1)`:                       `VALUES ($1)`,
		`TABLE items`:                       `TABLE items`,
		`(SELECT f(a => 1, b := 'x'))`:      `(SELECT f(a => ?, b := ?))`,
		`SELECT 'a\nb'`:                     `SELECT`,
		`SELECT pg_catalog.count(*) FROM x`: `SELECT pg_catalog.count(*) FROM x`,
	} {
		if got := WithoutLiterals(text); got != want {
			t.Errorf("%s\n  became %s\n    want %s", text, got, want)
		}
	}
}

// A statement that PostgreSQL does not plan is shown by its command.
func TestOtherStatementsShowTheirCommand(t *testing.T) {
	for text, want := range map[string]string{
		`ALTER ROLE app PASSWORD 'it''s secret' VALID UNTIL '2030-01-01'`:                   `ALTER ROLE`,
		`alter user "secret" password 'x'`:                                                  `ALTER USER`,
		`CREATE USER MAPPING FOR x SERVER y OPTIONS (password 'secret')`:                    `CREATE USER MAPPING`,
		`SET x = E'a\'b', 'y'`:                                                              `SET`,
		`SET LOCAL ROLE secret`:                                                             `SET ROLE`,
		`SET secret.key TO 'secret'`:                                                        `SET`,
		"DO $$ BEGIN PERFORM 'secret'; END $$":                                              `DO`,
		"DO $tag$ 'a' $$ 1 $tag$ LANGUAGE plpgsql":                                          `DO`,
		`/* secret */ FETCH 100 FROM secret`:                                                `FETCH`,
		`COPY (SELECT 'secret') TO STDOUT`:                                                  `COPY`,
		`EXPLAIN (ANALYZE) SELECT 'secret'`:                                                 `EXPLAIN`,
		`PREPARE p AS SELECT 'secret'`:                                                      `PREPARE`,
		`PREPARE TRANSACTION 'secret'`:                                                      `PREPARE TRANSACTION`,
		`EXECUTE p('secret')`:                                                               `EXECUTE`,
		`DECLARE c CURSOR FOR SELECT 'secret'`:                                              `DECLARE`,
		`CREATE OR REPLACE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT 'secret' $$`: `CREATE FUNCTION`,
		`CREATE UNIQUE INDEX CONCURRENTLY secret ON t (a) WHERE b = 'secret'`:               `CREATE INDEX`,
		`CREATE TEMP TABLE t AS SELECT 'secret'`:                                            `CREATE TABLE`,
		`CREATE TABLE index (a text DEFAULT 'secret')`:                                      `CREATE TABLE`,
		`CREATE VIEW v AS SELECT 'secret'`:                                                  `CREATE VIEW`,
		`CREATE SUBSCRIPTION s CONNECTION 'password=secret' PUBLICATION p`:                  `CREATE SUBSCRIPTION`,
		`REFRESH MATERIALIZED VIEW CONCURRENTLY v`:                                          `REFRESH MATERIALIZED VIEW`,
		`CALL p('secret')`:                                                                  `CALL`,
		`NOTIFY c, 'secret'`:                                                                `NOTIFY`,
		`BEGIN ISOLATION LEVEL SERIALIZABLE`:                                                `BEGIN`,
		`vacuum (analyze) t`:                                                                `VACUUM`,
	} {
		if got := WithoutLiterals(text); got != want {
			t.Errorf("%s\n  became %s\n    want %s", text, got, want)
		}
	}
}

// A text that the parser rejects is shown by its first word, if that begins a command.
func TestUnreadableStatementsAreHidden(t *testing.T) {
	for text, want := range map[string]string{
		"":                                Unreadable,
		`;`:                               Unreadable,
		`hunter2`:                         Unreadable,
		`hunter2 SELECT`:                  Unreadable,
		`selected hunter2`:                Unreadable,
		`SELECT$hunter2`:                  Unreadable,
		`SELECTä hunter2`:                 Unreadable,
		`-- hunter2`:                      Unreadable,
		`/* hunter2 */ SELECT 'x`:         Unreadable,
		`<insufficient privilege>`:        Unreadable,
		`SELECT hunter2 FROM`:             `SELECT`,
		` (( select 'hunter2`:             `SELECT`,
		`COPY t FROM 'cut off in the mid`: `COPY`,
		`DO $$ cut off`:                   `DO`,
		`SELECT 1; SELECT hunter2`:        `SELECT`,
		"SELECT 1 \x00 hunter2":           `SELECT`,
		"SELECT '\xff' , hunter2":         `SELECT`,
		`SELECT 1hunter2`:                 `SELECT`,
		`SELECT /* /* hunter2 */ 1`:       `SELECT`,
		`SELECT 1 --` + strings.Repeat("=", maxOperator) + `, hunter2`: `SELECT`,
		`SELECT hunter2` + strings.Repeat(" ", MaxText):                `SELECT`,
	} {
		if got := WithoutLiterals(text); got != want {
			t.Errorf("%.80s\n  became %s\n    want %s", text, got, want)
		}
	}
}

// A scanner of PerfLab's own once showed the secret in each of these.
func TestLiteralsThatTheScannerMisses(t *testing.T) {
	for _, text := range []string{
		`ALTER ROLE x PASSWORD $p1$hunter2$p1$`,
		`DO $ä$ hunter2 $ä$`,
		`SELECT $é1_$ hunter2 $é1_$`,
		`SELECT /* a /* b */ hunter2 */ 1`,
		`SELECT 1 /* hunter2`,
		`SELECT 1 /* 'x */ , 'it''s' /* hunter2`,
		`SELECT 'it\'s hunter2'`,
		`SELECT 'it\'s hunter2', 'x\'y'`,
		`ALTER ROLE x PASSWORD 'it\' hunter2 \'s'`,
		`SET a TO hunter2`,
		`COMMENT ON ROLE hunter2 IS 'x'`,
		`SELECT 0xhunter2`,
	} {
		if got := WithoutLiterals(text); strings.Contains(got, "hunter2") {
			t.Errorf("%s\n  became %s", text, got)
		}
	}
}

// Nesting in a text that is short enough to be read does not break the parser.
func TestDeepStatements(t *testing.T) {
	for name, one := range map[string]struct{ begin, deeper, end string }{
		"brackets":              {"SELECT ", "(", ")"},
		"queries":               {"SELECT 1 FROM ", "(SELECT 1 FROM ", ")"},
		"expressions":           {"SELECT ", "(SELECT ", ")"},
		"functions":             {"SELECT ", "f(", ")"},
		"rows":                  {"SELECT ", "ROW(", ")"},
		"arrays":                {"SELECT ARRAY", "[", "]"},
		"cases":                 {"SELECT ", "CASE WHEN a THEN ", " END"},
		"signs":                 {"SELECT ", "- ", ""},
		"negations":             {"SELECT ", "NOT ", ""},
		"sums":                  {"SELECT a", "+a", ""},
		"products":              {"SELECT a", "*(b)", ""},
		"casts":                 {"SELECT a", "::x", ""},
		"tests":                 {"SELECT a", " ISNULL", ""},
		"collations":            {"SELECT a", ` COLLATE "C"`, ""},
		"unions":                {"SELECT 1", " UNION SELECT 1", ""},
		"joins":                 {"SELECT 1 FROM a", " CROSS JOIN a", ""},
		"conditions":            {"SELECT a", " AND (b OR c", ")"},
		"subscripts":            {"SELECT a", "[1]", ""},
		"fields":                {"SELECT a", ".a", ""},
		"withs":                 {"", "WITH a AS (", "SELECT 1)"},
		"rows of values":        {"INSERT INTO t VALUES ($1)", ",($1)", ""},
		"literals":              {"SELECT 'a'", ",'a'", ""},
		"comments":              {"SELECT ", "/*", "*/"},
		"operators":             {"SELECT ", "+", ""},
		"operators in lines":    {"SELECT ", strings.Repeat("+", maxOperator) + "\n", ""},
		"comments side by side": {"SELECT ", "/**/", ""},
		"comments apart":        {"SELECT ", "/* */", ""},
		"semicolons":            {"SELECT 1", ";", ""},
	} {
		for _, depth := range []int{maxNesting / 3, maxNesting - 5, 4 * maxNesting, MaxText} {
			depth = min(depth, (MaxText-len(one.begin)-1)/(len(one.deeper)+len(one.end)))
			text := one.begin + strings.Repeat(one.deeper, depth) + "1" + strings.Repeat(one.end, depth)
			for _, text := range []string{text, text + ")"} {
				if WithoutLiterals(text); Failed() {
					t.Fatalf("%d %s brought the parser out of order", depth, name)
				}
			}
		}
	}
}

// A failed parser is not used again, and texts then show less.
func TestFailedParser(t *testing.T) {
	var broken safeParser
	broken.broken = true
	if _, err := broken.read("SELECT 1"); err == nil {
		t.Error("it was asked again")
	}
	prepare()
	sharedParser.broken = true
	defer func() { sharedParser.broken = false }()
	if got := WithoutLiterals("SELECT a FROM b"); got != "SELECT" || !Failed() {
		t.Errorf("the statement became %s", got)
	}
}

// The numbers of tokens are those that the parser gives.
func TestKindsOfTokens(t *testing.T) {
	for text, want := range map[string]kind{
		`a`: identifier, `U&"a"`: unicodeName, `1.5`: decimal, `'a'`: simpleString, `E'a'`: simpleString, `$$a$$`: simpleString,
		`U&'a'`: unicodeString, `b'1'`: bitString, `x'1'`: hexString, `17`: integer, `$1`: parameter, `--a`: lineComment, `/*a*/`: blockComment,
		`(`: '(', `]`: ']',
	} {
		read := scanned(t, text)
		if len(read) != 1 || read[0] != (token{from: 0, to: len(text), kind: want}) {
			t.Errorf("%s is %+v, want one token of kind %d", text, read, want)
		}
	}
	if read := scanned(t, `select`); len(read) != 1 || !read[0].isKeyword {
		t.Errorf("select is %+v, want a keyword", read)
	}
}

// Invalid tokens are not shown.
func TestInvalidTokens(t *testing.T) {
	const text = `a 'b' c`
	for name, tokens := range map[string][]token{
		"a string as a name":  {{from: 2, to: 5, kind: identifier}},
		"over another":        {{from: 0, to: 1, kind: identifier}, {from: 0, to: 1, kind: identifier}},
		"behind the end":      {{from: 6, to: 8, kind: identifier}},
		"before the begin":    {{from: -1, to: 1, kind: identifier}},
		"of no length":        {{from: 1, to: 1, kind: identifier}},
		"more than one thing": {{from: 0, to: 7, kind: identifier}},
	} {
		if pieces, understood := newPieces(text, tokens); understood {
			t.Errorf("%s is shown as %v", name, pieces)
		}
	}
	if _, err := decodeTokens([]byte{0x12, 0x7f}); err == nil {
		t.Error("a message that is cut off was read")
	}
}

func TestCommandsAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(commands, slices.Compare[[]string]) {
		t.Error("the list of commands is not in order")
	}
}
