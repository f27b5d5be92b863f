// SPDX-License-Identifier: AGPL-3.0-only

// Package k6test runs PerfLab's k6 in tests. A test binary that calls Main becomes k6 when it
// restarts itself, so that tests never use a stale build.
package k6test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/start"
	"perflab.dev/perflab/payload"

	_ "perflab.dev/perflab/k6/marc/jsmodule" // under test
	_ "perflab.dev/perflab/k6/output"
)

const isK6 = "PERFLAB_TEST_IS_K6"

// limit is the time after which k6 is killed.
const limit = 2 * time.Minute

// Main runs k6 or the tests; TestMain calls it.
func Main(m *testing.M) {
	if os.Getenv(isK6) == "" {
		os.Exit(m.Run())
	}
	start.Execute()
}

// NoError ends the test if there is an error.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// arguments returns the operator's arguments, plus the test's.
func arguments(address, script string, more []string) []string {
	args := []string{"run", "--address", address, "--summary-mode=disabled", "--no-thresholds", "--no-color", "--log-output=stderr", "--quiet"}
	if !slices.ContainsFunc(more, func(arg string) bool { return strings.HasPrefix(arg, "--out=") }) {
		args = append(args, "--out=perflab")
	}
	return append(append(args, more...), script)
}

// Process is a running k6.
type Process struct {
	t       *testing.T
	command *exec.Cmd
	address string
	stdout  lockedBuffer
	stderr  lockedBuffer
}

// Result is the output of k6.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Start runs a script with an environment of "NAME=value" and more arguments.
func Start(t *testing.T, script string, env []string, args ...string) *Process {
	t.Helper()
	executable, err := os.Executable()
	NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	p := &Process{t: t, address: freeAddress(t)}
	p.command = exec.CommandContext(ctx, executable, arguments(p.address, script, args)...)
	p.command.Env = append([]string{isK6 + "=1", "K6_AUTO_EXTENSION_RESOLUTION=false", "K6_NO_USAGE_REPORT=true", "HOME=" + t.TempDir()}, env...)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	NoError(t, p.command.Start())
	return p
}

// Run starts a script and waits for its end.
func Run(t *testing.T, script string, env []string, args ...string) Result {
	t.Helper()
	return Start(t, script, env, args...).Wait()
}

// interrupted is the exit code of a stopped k6.
const interrupted = 105

// RunUntil stops a script as soon as enough is true, so that tests that count do not depend
// on the machine's speed.
func RunUntil(t *testing.T, enough func() bool, script string, env []string, args ...string) Result {
	t.Helper()
	p := Start(t, script, env, args...)
	ended := make(chan Result, 1)
	go func() { ended <- p.Wait() }()
	for {
		select {
		case result := <-ended:
			t.Fatalf("k6 exited with code %d before the condition was met\n%s", result.Code, result.Stderr)
		case <-time.After(50 * time.Millisecond):
		}
		if enough() {
			break
		}
	}
	p.Interrupt()
	result := <-ended
	if result.Code != interrupted {
		t.Errorf("k6 was interrupted and exited with code %d\n%s", result.Code, result.Stderr)
	}
	return result
}

// Wait waits for the end.
func (p *Process) Wait() Result {
	p.t.Helper()
	// The exit code has the result, and the error adds nothing.
	_ = p.command.Wait()
	result := Result{Code: p.command.ProcessState.ExitCode(), Stdout: p.stdout.String(), Stderr: p.stderr.String()}
	if result.Code < 0 {
		p.t.Fatalf("k6 was killed: %v\n%s", p.command.ProcessState, result.Stderr)
	}
	return result
}

// MaxMemory returns the peak resident memory of a finished k6, in bytes.
func (p *Process) MaxMemory() int64 {
	p.t.Helper()
	usage, ok := p.command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		p.t.Fatal("the system does not report the resource usage of a process")
	}
	return usage.Maxrss << 10
}

// Interrupt sends SIGTERM, as the kubelet does.
func (p *Process) Interrupt() {
	p.t.Helper()
	NoError(p.t, p.command.Process.Signal(syscall.SIGTERM))
}

// Patch sets an attribute of the test's status through the REST API.
func (p *Process) Patch(attribute string, value bool) {
	p.t.Helper()
	body := fmt.Sprintf(`{"data":{"type":"status","id":"default","attributes":{%q:%v}}}`, attribute, value)
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPatch, "http://"+p.address+"/v1/status", strings.NewReader(body))
	NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	NoError(p.t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		p.t.Fatalf("PATCH /v1/status %s=%v returned %s", attribute, value, response.Status)
	}
}

// Payload parses the printed payload.
func (r Result) Payload(t *testing.T) *payload.Payload {
	t.Helper()
	p, err := payload.Read(strings.NewReader(r.Stdout))
	if err != nil {
		t.Fatalf("%v (k6 exited with %d)\n%s", err, r.Code, r.Stderr)
	}
	return p
}

// Script writes a script into its own directory.
func Script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.js")
	NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// lockedBuffer may be read while the process writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
