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

	"perflab.dev/perflab/internal/testing/expect"
)

// mostMemory is what a process may take to make the parser ready, in MiB: the
// collector's limit without what it takes for all else.
const mostMemory = 400

// The parser is made ready in a process of its own, for its memory is counted by
// process.
func TestThereIsRoomForTheParser(t *testing.T) {
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
	if took < 50 || took > mostMemory {
		t.Errorf("it took %d MiB, want 50 to %d", took, mostMemory)
	}
}

// memory of the process by Linux' count, in MiB.
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
