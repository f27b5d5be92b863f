// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// The test binary runs as sh or curl, so that its process can be observed.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "sh" || name == "curl" {
		main()
	}
	os.Exit(m.Run())
}

// processResult is the result of a process.
type processResult struct {
	out, problems string
	code          int
}

// start runs one of the two programs, with both of them on the PATH.
func start(t *testing.T, program string, arguments ...string) processResult {
	t.Helper()
	own, err := os.Executable()
	expect.NoError(t, err)
	folder := t.TempDir()
	for _, name := range []string{"sh", "curl"} {
		expect.NoError(t, os.Symlink(own, filepath.Join(folder, name)))
	}
	var out, problems strings.Builder
	command := exec.CommandContext(t.Context(), filepath.Join(folder, program), arguments...)
	command.Env = []string{"PATH=" + folder, "MODE=lab"}
	command.Stdout, command.Stderr = &out, &problems
	_ = command.Run() // The exit code has the result.
	return processResult{out.String(), problems.String(), command.ProcessState.ExitCode()}
}

// wrapper is k6-operator's wrapper of a script in the image.
const wrapper = `if [ ! -f %s ]; then echo "LocalFile not found exiting..."; exit 1; fi;
`

func TestShell(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.js")
	expect.NoError(t, os.WriteFile(script, nil, 0o600))
	wrapped := func(file string) string { return strings.ReplaceAll(wrapper, "%s", file) }
	for name, tc := range map[string]struct {
		arguments []string
		want      processResult
	}{
		"Sequence":     {[]string{"-c", `echo one; echo "two  $MODE"`}, processResult{out: "one\ntwo  lab\n"}},
		"LastCode":     {[]string{"-c", "false; true"}, processResult{}},
		"ExitCode":     {[]string{"-c", "exit 99; echo never"}, processResult{code: 99}},
		"Replaced":     {[]string{"-c", `echo one; sh -c "exit 107"`}, processResult{out: "one\n", code: 107}},
		"Exec":         {[]string{"-c", "shift\nexec \"$@\"", "sh", "gone", "sh", "-c", `echo "$0$1"`, "x", "kept"}, processResult{out: "xkept\n"}},
		"InScript":     {[]string{"-c", wrapped(script) + `sh -c 'echo ran; exit 5'`}, processResult{out: "ran\n", code: 5}},
		"NoScript":     {[]string{"-c", wrapped("/no/such.js") + "echo ran"}, processResult{out: "LocalFile not found exiting...\n", code: 1}},
		"Substituted":  {[]string{"-c", `echo "$(sh -c 'echo in')" out`}, processResult{out: "in out\n"}},
		"Piped":        {[]string{"-c", `echo in | sh -c 'read word; echo "$word"'`}, processResult{out: "in\n"}},
		"Assigned":     {[]string{"-c", `MODE=other sh -c 'echo $MODE'`}, processResult{out: "other\n"}},
		"NoProgram":    {[]string{"-c", "no-such-program"}, processResult{problems: "\"no-such-program\": executable file not found in $PATH\n", code: 127}},
		"NoText":       {[]string{"script.sh"}, processResult{problems: "sh: this sh supports only -c TEXT [NAME [ARGUMENT...]]\n", code: 2}},
		"NotSyntactic": {[]string{"-c", "if"}, processResult{problems: "sh: sh:1:1: `if` must be followed by a statement list\n", code: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := start(t, "sh", tc.arguments...); got != tc.want {
				t.Errorf("it ended as %+v, want %+v", got, tc.want)
			}
		})
	}
}

// Signals to the shell must reach k6: the last command is the same process.
func TestShellExecsLastCommand(t *testing.T) {
	told := start(t, "sh", "-c", `echo $$; /bin/sh -c 'echo $$'`)
	first, second, _ := strings.Cut(strings.TrimSpace(told.out), "\n")
	if first == "" || first != second {
		t.Errorf("the shell is process %s, its last command %s: %+v", first, second, told)
	}
}

// requestSeen is the last request of a server, and their number.
type requestSeen struct {
	method, path, kind, tenant, body string
	times                            int
}

// serve answers by the path, with 503 for the first request to /busy-once.
func serve(t *testing.T) (*httptest.Server, *requestSeen) {
	t.Helper()
	seen := &requestSeen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // The test detects missing data.
		*seen = requestSeen{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("X-Okapi-Tenant"), string(body), seen.times + 1}
		switch {
		case r.URL.Path == "/busy-once" && seen.times == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/refused":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "answer\n") // The test detects a missing answer.
		}
	}))
	t.Cleanup(server.Close)
	return server, seen
}

func TestCurl(t *testing.T) {
	quiet := []string{"--silent", "--show-error", "--fail", "--output", "/dev/null", "--max-time", "30", "--request", "POST"}
	for name, tc := range map[string]struct {
		arguments []string
		path      string
		want      processResult
		asked     requestSeen
	}{
		"Plain":   {nil, "/a", processResult{out: "answer\n"}, requestSeen{method: "GET", path: "/a", times: 1}},
		"Data":    {[]string{"-d", "a=1"}, "/a", processResult{out: "answer\n"}, requestSeen{"POST", "/a", "application/x-www-form-urlencoded", "", "a=1", 1}},
		"Release": {[]string{"-s", "--retry", "3", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", `{"data":{}}`}, "/v1/status", processResult{out: "answer\n"}, requestSeen{"PATCH", "/v1/status", "application/json", "", `{"data":{}}`, 1}},
		"Retried": {[]string{"-s", "--retry", "3"}, "/busy-once", processResult{out: "answer\n"}, requestSeen{method: "GET", path: "/busy-once", times: 2}},
		"Restore": {append(quiet, "--header", "X-Okapi-Tenant: diku", "--header", "Content-Type: application/json", "--data-raw", "@x"), "/reset", processResult{}, requestSeen{"POST", "/reset", "application/json", "diku", "@x", 1}},
		"Refused": {quiet, "/refused", processResult{problems: "curl: (22) the server answered 403 Forbidden\n", code: 22}, requestSeen{method: "POST", path: "/refused", times: 1}},
		"Moved":   {[]string{"-o", "/dev/null"}, "/moved", processResult{}, requestSeen{method: "GET", path: "/moved", times: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			server, seen := serve(t)
			if got := start(t, "curl", append(tc.arguments, server.URL+tc.path)...); got != tc.want {
				t.Errorf("it ended as %+v, want %+v", got, tc.want)
			}
			if *seen != tc.asked {
				t.Errorf("it asked %+v, want %+v", *seen, tc.asked)
			}
		})
	}
}

// PerfLab has messages for these exit codes.
func TestCurlExitCodes(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	const closed = "http://127.0.0.1:1"
	for name, tc := range map[string]struct {
		arguments []string
		code      int
	}{
		"ConnectionRefused": {[]string{"-s", closed}, exitNoAnswer},
		"NoAddress":         {[]string{"-s", "http://no-such-host.invalid"}, exitNoAddress},
		"Timeout":           {[]string{"-s", "-m", "0.2", silent.URL}, exitTimeout},
		"UnknownFlag":       {[]string{"--compressed", closed}, exitUsage},
		"TwoURLs":           {[]string{closed, closed}, exitUsage},
		"File":              {[]string{"-d", "@/etc/passwd", closed}, exitUsage},
		"Header":            {[]string{"-H", "nonsense", closed}, exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			if got := start(t, "curl", tc.arguments...); got.code != tc.code {
				t.Errorf("it ended as %+v, want code %d", got, tc.code)
			}
		})
	}
}
