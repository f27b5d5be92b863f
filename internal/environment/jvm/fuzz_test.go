// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/environment/jvm"
)

// Any options yield an amount of memory or an error, and rewritten options contain the new
// settings.
func FuzzOptions(f *testing.F) {
	for _, options := range []string{
		"-Xmx512m", "-XX:MaxRAMPercentage=70.5 -XX:+UseZGC", `-Dname="a b" -Xms1g -Xmx1`, "-XX:G1HeapRegionSize=32m -Xmx99999999999999999g",
		"-XX:MaxRAMPercentage=1e308 -XX:MinRAMPercentage=NaN", "-Xmx-1", "'-Xmx1g", "@argfile -XX:MaxHeapSize=1t",
	} {
		f.Add(options, int64(512<<20), 2)
	}
	f.Fuzz(func(t *testing.T, options string, memory int64, cores int) {
		if memory < 0 || memory > 1<<44 || cores < 0 || cores > 1024 {
			return
		}
		machine := jvm.Machine{Memory: memory, Cores: cores}
		if heap, err := jvm.MaxHeap(options, machine); err == nil && heap.Bytes < 0 {
			t.Fatalf("a heap of %d bytes", heap.Bytes)
		}
		jvm.WithLogInit(options)
		jvm.SplitOptions(options)
	})
}

func FuzzParseInit(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(log))
	}
	f.Add("[0.003s][info][gc,init] Heap Max Capacity: 99999999999999999999T\n")
	f.Add("[0.003s][info][gc,init] Heap Max Capacity: 10000000T\n")
	f.Add("[0.003s][info][gc,init] Heap Max Capacity: 1G\n[0.003s][info][gc,init] CPUs: 2 total, -1 available\n")
	f.Fuzz(func(t *testing.T, log string) {
		if found, any := jvm.ParseInit(strings.NewReader(log)); found.MaxHeap < 0 || found.Memory < 0 || found.Cores < 0 || any && found.MaxHeap == 0 {
			t.Fatalf("%+v", found)
		}
	})
}
