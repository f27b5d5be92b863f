// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// The command serves the page on loopback until Ctrl-C, and then succeeds.
func TestViewServesUntilInterrupt(t *testing.T) {
	home := measured(t)
	ctx, interrupt := context.WithCancel(t.Context())
	out, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"view", recorded.Name, "--kubeconfig", home.kubeconfig, "--namespace", home.namespace}, strings.NewReader(""), told, io.Discard)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	expect.NoError(t, err)
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	if address == "" || !strings.HasSuffix(line, "; press Ctrl-C to stop\n") {
		t.Fatalf("it says %q", line)
	}
	if page := fetched(t, address); !strings.Contains(page, recorded.Arm) {
		t.Errorf("the page is %.300s", page)
	}
	interrupt()
	select {
	case code := <-ended:
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on")
	}
}

// fetched returns the page once the experiment was read.
func fetched(t *testing.T, address string) string {
	t.Helper()
	return await.Page(t, address, "", "the experiment", func(page string) bool { return !strings.Contains(page, "Loading the experiment") })
}

// Initial errors end the command.
func TestViewOfMissingExperiment(t *testing.T) {
	home := measured(t)
	missing := home.perflab(t, "", "view", "no-such")
	missing.ends(exit.Failed).warns("list experiments with kubectl get perfexperiments -A")
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	_, port, err := net.SplitHostPort(taken.Addr().String())
	expect.NoError(t, err)
	home.perflab(t, "", "view", recorded.Name, "--port", port).ends(exit.Failed).warns("address already in use")
}
