//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// argo is an Argo CD whose programs run on this machine.
type argo struct {
	environment []string
	repoServer  string
	cache       string
	logs        string
}

// startArgo installs Argo CD's kinds and settings in the cluster and starts its programs.
// Their cache is the Redis of Argo CD's own tests.
func startArgo(t *testing.T) *argo {
	t.Helper()
	crds := filepath.Join(module(t, "github.com/argoproj/argo-cd/v3"), "manifests", "crds")
	// This fails on a cluster with an Argo CD, which must not change.
	kubectl(t, "create", "namespace", "argocd")
	kubectl(t, "apply", "--server-side", "-k", crds)
	eventually(t, time.Minute, "Argo CD's kinds to be served", func() (bool, string) {
		_, err := tried("", required(t, "KUBECTL"), "-n", "argocd", "get", "applications,appprojects")
		return err == nil, fmt.Sprint(err)
	})
	kubectl(t, "apply", "-f", "testdata/argocd.yaml")
	port := freePort(t)
	started := &argo{repoServer: net.JoinHostPort(loopback, port), cache: miniredis.RunT(t).Addr(), logs: logs(t)}
	home := t.TempDir()
	started.environment = append(os.Environ(),
		"HOME="+home, "TMPDIR="+home, "ARGOCD_GPG_ENABLED=false", "ARGOCD_FAKE_IN_CLUSTER=true",
		"ARGOCD_TLS_DATA_PATH="+home, "ARGOCD_SSH_DATA_PATH="+home, "ARGOCD_GNUPGHOME="+home, "ARGOCD_PLUGINSOCKFILEPATH="+home,
		"PATH="+filepath.Dir(required(t, "HELM"))+":"+os.Getenv("PATH"))
	started.run(t, "argocd-repo-server", "--address", loopback, "--port", port, "--metrics-address", loopback, "--metrics-port", freePort(t), "--redis", started.cache)
	return started
}

// controller starts the application controller and returns a function that stops it.
func (a *argo) controller(t *testing.T) (stop func()) {
	t.Helper()
	return a.run(t, "argocd-application-controller", "--namespace", "argocd", "--kubeconfig", os.Getenv("KUBECONFIG"),
		"--repo-server", a.repoServer, "--redis", a.cache, "--metrics-port", freePort(t),
		// The application's status has each object's health.
		"--persist-resource-health",
		// Failures are retried soon, because a test has less time than a user.
		"--self-heal-backoff-cap-seconds", "5")
}

// run starts one of the programs, which are one binary with several names. It stops the
// program when the test ends.
func (a *argo) run(t *testing.T, name string, arguments ...string) (stop func()) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(a.logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	// The program must still run in the test's cleanup, after the test's context has ended.
	ctx, end := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, required(t, "ARGOCD"), append(arguments, "--loglevel", "info")...)
	command.Env = append(a.environment, "ARGOCD_BINARY_NAME="+name)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Cancel also stops the child processes, git and helm.
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 20 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		end()
		_ = command.Wait()
		_ = log.Close()
	})
	t.Cleanup(stop)
	return stop
}

// logs returns the directory of the programs' logs. The logs are kept if the test fails.
func logs(t *testing.T) string {
	t.Helper()
	made, err := os.MkdirTemp("", "perflab-argocd-") //nolint:usetesting // read after a test that failed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Argo CD's logs are in %s", made)
			return
		}
		_ = os.RemoveAll(made)
	})
	return made
}

// loopback is the address of the programs.
const loopback = "127.0.0.1"

// freePort returns a free port below 32768. The system assigns ports from 32768 on, so it
// does not assign this port meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for nextPort < 30000 {
		port := nextPort
		nextPort++
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(port)
	}
	t.Fatal("no port from 20000 to 29999 is free")
	return ""
}

var nextPort = 20000

func required(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run this by make e2e-argocd", name)
	}
	return value
}

// module returns the directory of a Go module that this one requires.
func module(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(output(t, "", "go", "list", "-m", "-f", "{{.Dir}}", path))
}

func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	return output(t, "", required(t, "KUBECTL"), arguments...)
}

// output returns the output of a command that must succeed.
func output(t *testing.T, directory, program string, arguments ...string) string {
	t.Helper()
	written, err := tried(directory, program, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// tried runs a command in a directory, or in the current one if it is "". It has its own
// deadline, because cleanup calls it too.
func tried(directory, program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = directory
	said := &strings.Builder{}
	command.Stderr = said
	written, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(arguments, " "), err, said)
	}
	return string(written), nil
}

// eventually polls until a condition holds, and reports the last state on a timeout.
func eventually(t *testing.T, limit time.Duration, what string, holds func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		done, seen := holds()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %s; last: %s", what, limit, seen)
		}
		time.Sleep(time.Second)
	}
}
