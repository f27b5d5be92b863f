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

// startArgo installs Argo CD's kinds and settings in the cluster and starts its
// programs. Redis, where they cache, is the one its own tests use.
func startArgo(t *testing.T) *argo {
	t.Helper()
	crds := filepath.Join(module(t, "github.com/argoproj/argo-cd/v3"), "manifests", "crds")
	// An Argo CD that somebody uses is left alone: this fails where there is one.
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

// controller starts the application controller. The function stops it.
func (a *argo) controller(t *testing.T) (stop func()) {
	t.Helper()
	return a.run(t, "argocd-application-controller", "--namespace", "argocd", "--kubeconfig", os.Getenv("KUBECONFIG"),
		"--repo-server", a.repoServer, "--redis", a.cache, "--metrics-port", freePort(t),
		// What each object's health says is looked at in the application's status.
		"--persist-resource-health",
		// What fails is tried again soon: a test's patience is shorter than a person's.
		"--self-heal-backoff-cap-seconds", "5")
}

// run starts one of the programs that are one file under several names, and
// ends it with the test.
func (a *argo) run(t *testing.T, name string, arguments ...string) (stop func()) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(a.logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	// It outlives the test's own context by its clean-up.
	ctx, end := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, required(t, "ARGOCD"), append(arguments, "--loglevel", "info")...)
	command.Env = append(a.environment, "ARGOCD_BINARY_NAME="+name)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// With what it started: git and helm.
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

// logs is where the programs' logs are written; they stay if the test fails.
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

// loopback is where the programs listen.
const loopback = "127.0.0.1"

// freePort is one on this machine that nothing listens to, and that the system
// hands out to nobody meanwhile: it does so from 32768 on.
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

// module is the directory of a Go module this one requires.
func module(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(output(t, "", "go", "list", "-m", "-f", "{{.Dir}}", path))
}

func kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	return output(t, "", required(t, "KUBECTL"), arguments...)
}

// output of a command that has to succeed.
func output(t *testing.T, directory, program string, arguments ...string) string {
	t.Helper()
	written, err := tried(directory, program, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// tried runs a command in a directory, "" for this one. It is asked for by
// clean-up, too, so it has a deadline of its own.
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

// eventually asks until something holds. The last answer says how far it was.
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
