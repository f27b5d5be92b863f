// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/payload"
)

// A load of twenty runners with 100,000 iterations a second in total.
const (
	manyRunners     = 20
	iterationsASide = 100_000 / manyRunners
	manySeconds     = 60
)

// transactionsOfMany are the transactions of the iterations, in turn.
var transactionsOfMany = []string{"Check-In", "Check-Out", "Renew", "Search"}

// TestTwentyRunnersAddUpExactly adds up the logs of twenty runners in a process with the memory
// limit of the operator. It compares the sum with one recorder of all iterations.
func TestTwentyRunnersAddUpExactly(t *testing.T) {
	if folder := os.Getenv("PERFLAB_RUNNERS"); folder != "" {
		sumUp(t, folder)
		return
	}
	folder := t.TempDir()
	whole := payload.New("cico", "run-1", "all", start)
	for n := range manyRunners {
		own := payload.New("cico", "run-1", fmt.Sprintf("r%02d", n), start)
		measure(n, own, whole)
		log, err := os.Create(filepath.Join(folder, own.Runner))
		noError(t, err)
		noError(t, payload.Write(log, own))
		noError(t, log.Close())
	}
	reader := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwentyRunnersAddUpExactly$", "-test.v")
	reader.Env = append(os.Environ(), "PERFLAB_RUNNERS="+folder)
	output, err := reader.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.3000s", err, output)
	}
	for _, line := range told(whole) {
		if !strings.Contains(string(output), line) {
			t.Errorf("the sum does not say %q", line)
		}
	}
	if iterations := whole.Total("iterations"); iterations != manyRunners*iterationsASide*manySeconds {
		t.Errorf("%v iterations were recorded", iterations)
	}
	t.Logf("%.4000s", output)
}

// measure records the iterations of a runner in each of the recorders.
func measure(n int, recorders ...*payload.Payload) {
	random := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // Not a secret.
	const all = iterationsASide * manySeconds
	for i := range all {
		at := start.Add(time.Duration(i) * manySeconds * time.Second / all)
		row := payload.Row{Scenario: "s", Transaction: transactionsOfMany[i%len(transactionsOfMany)], Outcome: "ok"}
		took := time.Duration(math.Exp(random.NormFloat64()*0.8-4) * float64(time.Second))
		for _, p := range recorders {
			p.Add(row, at, took)
			p.Count("iterations", at, 1)
		}
	}
	for _, p := range recorders {
		p.End, p.Final = start.Add(manySeconds*time.Second), true
	}
}

// told returns counts, means and percentiles, of the whole and of a part of the time.
func told(p *payload.Payload) []string {
	lines := []string{fmt.Sprintf("iterations %v", p.Total("iterations"))}
	part := p.Between(start.Add(20*time.Second), start.Add(40*time.Second))
	for _, transaction := range transactionsOfMany {
		all, _ := p.Summary(transaction, "")
		within, _ := part.Summary(transaction, "")
		lines = append(lines, fmt.Sprintf("%s %+v within %+v", transaction, all, within))
	}
	return lines
}

// sumUp reads logs as the operator does, within its memory.
func sumUp(t *testing.T, folder string) {
	t.Helper()
	var sum payload.Sum
	withinMemory(t, func() {
		for n := range manyRunners {
			noError(t, readLog(filepath.Join(folder, fmt.Sprintf("r%02d", n)), &sum))
		}
	})
	all, err := sum.Payload()
	noError(t, err)
	for _, line := range told(all) {
		t.Log(line)
	}
}
