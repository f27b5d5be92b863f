// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

// maxMemory limits a process that initializes the parser, in MiB: the collector's limit without its
// other uses.
const maxMemory = 400

// The parser is initialized in a separate process, because memory is counted by process.
func TestParserMemory(t *testing.T) {
	const child = "PERFLAB_TEST_PREPARE"
	if os.Getenv(child) != "" {
		prepare()
		fmt.Printf("took %.0f MiB\n", memory(t, "VmHWM"))
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), child+"=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	_, told, _ := strings.Cut(string(output), "took ")
	told, _, _ = strings.Cut(told, " ")
	took, err := strconv.Atoi(told)
	if err != nil {
		t.Fatalf("no memory in %s", output)
	}
	if took < 50 || took > maxMemory {
		t.Errorf("it took %d MiB, want 50 to %d", took, maxMemory)
	}
}

// memory returns the memory of the process as counted by Linux, in MiB.
func memory(tb testing.TB, field string) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("only Linux tells")
	}
	found := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		tb.Fatalf("the kernel does not tell %s", field)
	}
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	expect.NoError(tb, err)
	return kilobytes / 1024
}

// BenchmarkWithoutLiterals measures the cost of a statement.
func BenchmarkWithoutLiterals(b *testing.B) {
	columns := strings.Repeat("t.some_column = $1 AND ", 20)
	for name, text := range map[string]string{
		"short":       `SELECT * FROM items WHERE id = $1`,
		"usual":       `SELECT t.id, t.jsonb FROM tenant_mod_inventory_storage.item t WHERE ` + columns + `t.jsonb->>'barcode' = $2 ORDER BY 1 LIMIT $3`,
		"utility":     `ALTER ROLE a PASSWORD 'hunter2'`,
		"unreadable":  `SELECT 'hunter2`,
		"longest":     `INSERT INTO t VALUES ($1)` + strings.Repeat(",($1)", (MaxText-30)/5),
		"not a query": strings.Repeat("a ", MaxText/2),
	} {
		b.Run(name, func(b *testing.B) {
			prepare()
			for b.Loop() {
				WithoutLiterals(text)
			}
		})
	}
}

// BenchmarkPrepare measures the initialization of the parser. It happens once per process, so the
// figures are right if the benchmark runs alone and once.
func BenchmarkPrepare(b *testing.B) {
	before, begin := memory(b, "VmHWM"), time.Now()
	prepare()
	took := time.Since(begin)
	for b.Loop() {
		prepare()
	}
	b.ReportMetric(took.Seconds(), "s-to-prepare")
	b.ReportMetric(memory(b, "VmHWM")-before, "MiB-at-most")
	b.ReportMetric(memory(b, "VmRSS")-before, "MiB-that-stay")
}
