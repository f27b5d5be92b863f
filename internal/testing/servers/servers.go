// SPDX-License-Identifier: Apache-2.0

// Package servers starts real servers on loopback for tests: PostgreSQL and Prometheus from
// Debian's packages, Kafka from its jars. A test without them is skipped.
package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/ports"
)

// startTime is the startup limit of a server.
const startTime = time.Minute

// nobody runs servers that refuse to run as root.
const nobody = 65534

// find looks for a program, including Debian's directories of PostgreSQL.
func find(t *testing.T, program, install string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	if err != nil || len(paths) == 0 {
		t.Skipf("%s is not installed: install it with %q to run this test", program, install)
	}
	slices.Sort(paths)
	return paths[len(paths)-1]
}

// directory returns a directory that user nobody may write to; it is removed with the test.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "perflab-server-") //nolint:usetesting // Nobody may not enter what t.TempDir makes for root, and sockets' names must be short.
	expect.NoError(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing %s: %v", dir, err)
		}
	})
	if os.Getuid() == 0 {
		expect.NoError(t, os.Chown(dir, nobody, nobody))
	}
	return dir
}

// command runs as nobody where the test runs as root.
func command(t *testing.T, dir, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	made := exec.Command(program, arguments...)
	made.Dir = dir
	if os.Getuid() == 0 {
		made.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return made
}

func run(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	if output, err := command(t, dir, program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

// start runs a server until the test ends.
func start(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	startProcess(t, dir, command(t, dir, program, arguments...))
}

func startProcess(t *testing.T, dir string, server *exec.Cmd) {
	t.Helper()
	program := server.Path
	log, err := os.Create(filepath.Join(dir, filepath.Base(program)+".log"))
	expect.NoError(t, err)
	server.Stdout, server.Stderr = log, log
	expect.NoError(t, server.Start(), "starting %s", program)
	t.Cleanup(func() {
		// PostgreSQL stops its children on an interrupt, not on a kill.
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the log of %s ends with\n%s", program, text[max(0, len(text)-2000):])
		}
	})
}

// answers waits until a port accepts connections.
func answers(t *testing.T, what string, port int) {
	t.Helper()
	await.Until(t.Context(), t, startTime, what+" to answer", func() (bool, string) {
		err := dial(port)
		return err == nil, fmt.Sprint(err)
	})
}

func dial(port int) error {
	connection, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second)
	if err != nil {
		return err
	}
	return connection.Close()
}

// Scrape is a path of a target that is scraped as another instance.
type Scrape struct{ Path, Instance string }

// Prometheus starts a server that scrapes a target, as host:port, each second and returns
// its URL.
func Prometheus(t *testing.T, target string, more ...Scrape) string {
	t.Helper()
	program := find(t, "prometheus", "apt-get install prometheus")
	dir := directory(t)
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: test\n  static_configs: [{targets: [%q]}]\n", target)
	for i, one := range more {
		config += fmt.Sprintf("- job_name: more-%d\n  metrics_path: %s\n  static_configs: [{targets: [%q], labels: {instance: %q}}]\n", i, one.Path, target, one.Instance)
	}
	file := filepath.Join(dir, "prometheus.yml")
	expect.NoError(t, os.WriteFile(file, []byte(config), 0o644))
	port := ports.For(t)
	start(t, dir, program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), "--log.level=warn")
	answers(t, "Prometheus", port)
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}
