// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"strings"
	"testing"
	"time"

	"github.com/wasilibs/go-pgquery/parser"

	"perflab.dev/perflab/internal/testing/expect"
)

// secret and number must not be shown.
const (
	secret = "hunter2"
	number = "8675309"
)

// spellings of a literal that contains the secret and a surrounding text.
var spellings = []func(around string) string{
	func(around string) string { return "'" + doubled(around+secret+around) + "'" },
	func(around string) string { return "'" + escaped(around+secret+around) + "'" },
	func(around string) string { return "E'" + escaped(around+secret+around) + "'" },
	func(around string) string {
		return "e'" + strings.ReplaceAll(escaped(around+"'"+secret), `\'`, "''") + "'"
	},
	func(around string) string { return "N'" + doubled(around+secret) + "'" },
	func(around string) string { return "U&'" + strings.ReplaceAll(doubled(around+secret), `\`, `\\`) + "'" },
	func(around string) string { return "'" + doubled(around) + "'\n'" + doubled(secret+around) + "'" },
	func(around string) string {
		return "'x' -- " + oneLine(around) + secret + "\n '" + doubled(around) + secret + "'"
	},
	func(around string) string { return "$$" + strings.ReplaceAll(around, "$", "") + secret + "$$" },
	func(around string) string { return "$p1$" + strings.ReplaceAll(around, "$", "'") + secret + "$p1$" },
	func(around string) string {
		return "$straße$" + strings.ReplaceAll(around, "$", "/*") + secret + "$$'$straße$"
	},
	func(around string) string {
		return "'x' /* " + balanced(around) + " /* " + secret + " */ " + secret + " */"
	},
	func(around string) string { return "'x' /* " + balanced(around) + secret },
	func(around string) string { return "1 -- " + oneLine(around) + secret + "\n" },
	func(around string) string { return "interval '" + doubled(around+secret) + "' day" },
	func(around string) string { return "date $_$" + strings.ReplaceAll(around, "$", "") + secret + "$_$" },
	func(string) string { return number },
	func(string) string { return "-" + number + ".5e10" },
	func(string) string { return "." + number },
	func(string) string { return "0x" + number },
	func(string) string { return "x'" + number + "'" },
	func(string) string { return "1" + number + "_1" },
}

func doubled(text string) string { return strings.ReplaceAll(text, "'", "''") }

func escaped(text string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) }

func oneLine(text string) string { return strings.NewReplacer("\n", "", "\r", "").Replace(text) }

func balanced(text string) string { return strings.NewReplacer("*", "", "/", "").Replace(text) }

// templates of statements; each § is replaced by a literal.
var templates = []string{
	"SELECT §", "SELECT a FROM b WHERE c = § AND d <> §", "SELECT * FROM a WHERE b IN (§, §) LIMIT 5", "VALUES (§), (§)",
	"INSERT INTO a VALUES ($1, §) ON CONFLICT DO NOTHING", "UPDATE a SET b = § WHERE c LIKE §", "DELETE FROM a WHERE b = ANY (ARRAY[§])",
	"MERGE INTO a USING b ON a.c = § WHEN MATCHED THEN UPDATE SET d = §", "WITH a AS (SELECT §) SELECT a, § FROM a",
	"SELECT a->§ #>> §, b::text || § COLLATE \"C\"", "SELECT CASE WHEN a THEN § ELSE § END", "SELECT f(a => §, b := §) OVER (ORDER BY §)",
	"SELECT text §", "SELECT a FROM json_to_recordset(§) AS x(a int)", "SELECT \"a'b\", §, \"c'd\"", "SELECT 'x' || § -- '",
	"ALTER ROLE a PASSWORD §", "CREATE USER a PASSWORD § VALID UNTIL §", "CREATE ROLE \"§\" PASSWORD §", "SET a.b = §", "SET a TO §, §", "DO §",
	"DO LANGUAGE plpgsql §", "COPY a FROM § WITH (DELIMITER §)", "COPY (SELECT §) TO PROGRAM §", "EXPLAIN SELECT §", "EXPLAIN ANALYZE UPDATE a SET b = §",
	"PREPARE a AS SELECT §", "EXECUTE a(§)", "DECLARE a CURSOR FOR SELECT §", "CREATE FUNCTION a() RETURNS text LANGUAGE sql AS §",
	"CREATE TABLE a (b text DEFAULT §)", "CREATE TABLE a AS SELECT §", "CREATE VIEW a AS SELECT §", "CREATE INDEX a ON b (c) WHERE d = §",
	"CREATE SUBSCRIPTION a CONNECTION § PUBLICATION b", "CREATE SERVER a FOREIGN DATA WRAPPER b OPTIONS (c §)", "CREATE USER MAPPING FOR a SERVER b OPTIONS (password §)",
	"COMMENT ON TABLE a IS §", "SECURITY LABEL ON TABLE a IS §", "NOTIFY a, §", "CALL a(§)", "ALTER SYSTEM SET a = §", "ALTER TABLE a ALTER b SET DEFAULT §",
	"PREPARE TRANSACTION §", "LOAD §", "IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c OPTIONS (d §)", "ALTER DATABASE a SET b TO §",
	"SELECT §; SELECT §", "§", "SELEC §", "§ SELECT", "SELECT ((§", "/* a */ SELECT § /* b */", "BEGIN; ALTER ROLE a PASSWORD §; COMMIT", "SELECT E'\\\\', §, '\\'",
}

// FuzzLiterals puts a secret into literals and comments of all spellings, with any surrounding
// text, and truncates statements. The secret must never be shown.
func FuzzLiterals(f *testing.F) {
	arounds := []string{"", "'", `\`, `\'`, "$$", "$p1$", "--", "/*", "*/", "\n", `"`, "ä", "{", ";"}
	for i := range templates {
		for k := range spellings {
			f.Add(uint(i), uint(k), arounds[(i+k)%len(arounds)], uint(0))
		}
	}
	f.Fuzz(func(t *testing.T, template, spelling uint, around string, cut uint) {
		if strings.Contains(strings.ToLower(around), "hunter") || strings.Contains(around, "867") || strings.ContainsRune(around, 0) {
			t.Skip("the secret stands where it may be shown")
		}
		chosen := templates[template%uint(len(templates))]
		text := strings.ReplaceAll(chosen, `"§"`, `"a"`)
		text = strings.ReplaceAll(text, "§", spellings[spelling%uint(len(spellings))](around))
		text = text[:len(text)-int(cut%uint(len(text)))]
		shown := checked(t, text)
		if strings.Contains(strings.ToLower(shown), secret) || strings.Contains(shown, number) {
			t.Errorf("%s\n  became %s", text, shown)
		}
	})
}

// FuzzTexts shows any text.
func FuzzTexts(f *testing.F) {
	for _, template := range templates {
		for _, spelling := range spellings {
			f.Add(strings.ReplaceAll(template, "§", spelling("'")))
		}
	}
	f.Fuzz(func(t *testing.T, text string) { checked(t, text) })
}

// checked verifies the properties of every shown text.
func checked(t *testing.T, text string) string {
	t.Helper()
	begin := time.Now()
	shown := WithoutLiterals(text)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%q took %s", text, took)
	}
	if len(shown) > max(len(text), len("ALTER TEXT SEARCH CONFIGURATION")) || strings.ContainsAny(shown, "\n\r\x00") {
		t.Errorf("%q became %q, which is too much", text, shown)
	}
	if Failed() {
		t.Fatalf("%q brought the parser out of order", text)
	}
	for _, token := range scanned(t, shown) {
		if token.kind.isLiteral() || token.kind.isComment() {
			t.Errorf("%q became %q with %q", text, shown, shown[token.from:token.to])
		}
	}
	return shown
}

// scanned returns the tokens that the parser finds in a text.
func scanned(t *testing.T, text string) []token {
	t.Helper()
	sharedParser.mutex.Lock()
	defer sharedParser.mutex.Unlock()
	result, err := parser.ScanToProtobuf(text)
	expect.NoError(t, err, "%q is no SQL", text)
	tokens, err := decodeTokens(result)
	expect.NoError(t, err)
	return tokens
}
