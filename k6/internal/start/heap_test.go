// SPDX-License-Identifier: AGPL-3.0-only

package start

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestSpareReducesCollections(t *testing.T) {
	before := resident(t)
	held := spare(map[string]string{})
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	if heap.NextGC < 2*spareBytes {
		t.Errorf("the collector works next at %d MiB, want it to leave %d of garbage", heap.NextGC>>20, spareBytes>>20)
	}
	if more := resident(t) - before; more > spareBytes/4 {
		t.Errorf("it takes %d MiB", more>>20)
	}
	runtime.KeepAlive(held)
}

func TestSpareHonorsUserSettings(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if held := spare(map[string]string{name: "200"}); held != nil {
			t.Errorf("with %s there are %d bytes to spare", name, len(held))
		}
	}
}

// resident returns this process's memory, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system does not tell: ", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
