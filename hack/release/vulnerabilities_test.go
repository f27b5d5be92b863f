// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreachableDatabaseIsNotSuccess checks that an unreachable database is different from
// a database without findings.
func TestUnreachableDatabaseIsNotSuccess(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	broken := closed.URL + "/none"
	t.Cleanup(closed.Close)
	for name, tc := range map[string]struct {
		database string
		code     int
		want     string
	}{
		"NotThere":  {"file:///no/such/database", exitNotChecked, "VULNERABILITIES WERE NOT CHECKED: the database file:///no/such/database is unreachable"},
		"NoIndex":   {broken, exitNotChecked, "404 Not Found"},
		"NoScheme":  {"/var/lib/vulndb", exitFailed, "write a URL that begins with https:// or file://"},
		"NotAnURL":  {"://", exitFailed, "--db"},
		"NoAddress": {"https://vuln.invalid", exitNotChecked, "NOT CHECKED"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newRoot()
			root.SetArgs([]string{"vulnerabilities", "--db", tc.database})
			err := root.ExecuteContext(t.Context())
			if code(err) != tc.code || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("exit code %d, %v; want %d and %q", code(err), err, tc.code, tc.want)
			}
		})
	}
}

// vulnerable is the database's entry for a function of a module in this test.
const vulnerable = `{"schema_version":"1.3.1","id":"GO-2026-9999","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z",
"summary":"made for a test","details":"made for a test","affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],"ecosystem_specific":{"imports":[{"path":"os","symbols":["Getenv"]}]}}],
"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-9999"}}`

// database returns the address of a local copy, as in GOVULNDB.
func database(t *testing.T, modules string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`, "index/modules.json": modules, "index/vulns.json": "[]", "ID/GO-2026-9999.json": vulnerable,
	} {
		path := filepath.Join(folder, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return (&url.URL{Scheme: "file", Path: folder}).String()
}

func TestFindingFails(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  "module example.org/made\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"os\"\n\nfunc main() { println(os.Getenv(\"HOME\")) }\n",
	} {
		noError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	var out strings.Builder
	sound := database(t, "[]")
	if err := govulncheck(t.Context(), []string{"-C", folder, "-db", sound, "."}, &out); err != nil {
		t.Errorf("no finding: %v\n%s", err, out.String())
	}
	bad := database(t, `[{"path":"stdlib","vulns":[{"id":"GO-2026-9999","modified":"2026-01-01T00:00:00Z"}]}]`)
	err := govulncheck(t.Context(), []string{"-C", folder, "-db", bad, "."}, &out)
	if code(err) != exitVulnerable || !strings.Contains(out.String(), "GO-2026-9999") {
		t.Errorf("exit code %d, %v, want %d:\n%s", code(err), err, exitVulnerable, out.String())
	}
}
