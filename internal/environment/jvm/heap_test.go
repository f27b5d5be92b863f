// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"perflab.dev/perflab/internal/environment/jvm"
)

const mebibyte = 1 << 20

func TestMaxHeap(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options string
		machine jvm.Machine
		// want in MiB.
		want   int64
		source jvm.Source
	}{
		"Size":         {options: "-Xmx768m", want: 768, source: jvm.SourceSize},
		"SizeInGi":     {options: "-Xmx2G", want: 2048, source: jvm.SourceSize},
		"OddSize":      {reason: "heaps are multiples of 2 MiB", options: "-Xmx101m", want: 102, source: jvm.SourceSize},
		"LastSizeWins": {options: "-Xmx300m -XX:MaxHeapSize=400m", want: 400, source: jvm.SourceSize},
		"SizeBeatsPercentage": {
			options: "-XX:MaxRAMPercentage=10 -Xmx768m -XX:MaxRAMPercentage=80",
			machine: jvm.Machine{Memory: 1024 * mebibyte}, want: 768, source: jvm.SourceSize,
		},
		"Percentage": {
			reason: "seed 004: mod-inventory-storage at 66 % of 4096 MiB", options: "-XX:MaxRAMPercentage=66.0",
			machine: jvm.Machine{Memory: 4096 * mebibyte}, want: 2704, source: jvm.SourcePercentage,
		},
		"Default": {machine: jvm.Machine{Memory: 2048 * mebibyte}, want: 512, source: jvm.SourceDefault},
		"SmallMemory": {
			reason: "a JVM with little memory uses half of it, whatever the percentage", options: "-XX:MaxRAMPercentage=66.0",
			machine: jvm.Machine{Memory: 200 * mebibyte}, want: 100, source: jvm.SourceSmallMemory,
		},
		"SmallMemoryOtherShare": {
			options: "-XX:MinRAMPercentage=30 -XX:MaxRAMPercentage=66.0",
			machine: jvm.Machine{Memory: 200 * mebibyte}, want: 60, source: jvm.SourceSmallMemory,
		},
		"Least":         {machine: jvm.Machine{Memory: 300 * mebibyte}, want: 126, source: jvm.SourceLeast},
		"LargerInitial": {options: "-Xms600m", machine: jvm.Machine{Memory: 512 * mebibyte}, want: 600, source: jvm.SourceInitial},
		"LargeG1": {
			reason: "regions of 8 MiB", options: "-Xmx9001m", machine: jvm.Machine{Memory: 1 << 34}, want: 9008, source: jvm.SourceSize,
		},
		"LargeOnOneCore": {
			reason: "one core makes it Serial", options: "-Xmx9001m", machine: jvm.Machine{Memory: 1 << 34, Cores: 1}, want: 9002, source: jvm.SourceSize,
		},
		"HugeDefault": {
			reason: "without a percentage a JVM sees 128 GiB at most", machine: jvm.Machine{Memory: 1 << 38}, want: 32768, source: jvm.SourceDefault,
		},
		"OldSpelling": {options: "-mx512m", want: 512, source: jvm.SourceSize},
		"CollectorOffAgain": {
			reason: "Serial has no regions", options: "-Xmx9001m -XX:+UseG1GC -XX:-UseG1GC", machine: jvm.Machine{Memory: 1 << 30}, want: 9002, source: jvm.SourceSize,
		},
		"Quoted": {options: `-Dgreeting="a -Xmx1m b" '-Xmx64m'`, want: 64, source: jvm.SourceSize},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			heap, err := jvm.MaxHeap(tc.options, tc.machine)
			if err != nil || heap.Bytes != tc.want*mebibyte || heap.Source != tc.source {
				t.Errorf("%d bytes (%.2f MiB) from %q (%v), want %d MiB from %q: %s",
					heap.Bytes, float64(heap.Bytes)/mebibyte, heap.Source, err, tc.want, tc.source, tc.reason)
			}
		})
	}
}

func TestMaxHeapRejects(t *testing.T) {
	if _, err := jvm.MaxHeap("-XX:MaxRAMPercentage=66", jvm.Machine{}); !errors.Is(err, jvm.ErrMemoryUnknown) {
		t.Errorf("a share of nothing gave %v", err)
	}
	for _, options := range []string{"-Xmx", "-Xmx1.5g", "-Xmxlots", "-Xms-5m", "-XX:MaxRAMPercentage=many", "-XX:MaxRAMPercentage=101", "-XX:MaxRAMPercentage=NaN", "-Xmx99999999999g"} {
		if heap, err := jvm.MaxHeap(options, jvm.Machine{Memory: 1 << 30}); err == nil {
			t.Errorf("%s gave %v", options, heap)
		}
	}
}

// javas returns the JVMs on this machine.
func javas(t *testing.T) []string {
	t.Helper()
	installed, err := filepath.Glob("/usr/lib/jvm/*/bin/java")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var found []string
	for _, java := range installed {
		if target, err := filepath.EvalSymlinks(java); err == nil && !seen[target] {
			seen[target] = true
			found = append(found, target)
		}
	}
	if len(found) > 0 {
		return found
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java to ask")
	}
	return []string{java}
}

// The prediction equals the maximum heap of real JVMs, to the byte.
func TestMaxHeapMatchesJava(t *testing.T) {
	sizes := []string{
		"-XX:MaxRAM=200m -XX:MaxRAMPercentage=66.0", "-XX:MaxRAM=249m -XX:MaxRAMPercentage=66.0",
		"-XX:MaxRAM=300m", "-XX:MaxRAM=1g -XX:MaxRAMPercentage=66",
		"-XX:MaxRAM=1791m -XX:MaxRAMPercentage=70.1", "-XX:MaxRAM=5600m -XX:MaxRAMPercentage=85.7",
		"-XX:MaxRAM=12345m -XX:MaxRAMPercentage=77.7", "-Xmx101m", "-Xmx500000000", "-Xmx9001m", "-Xms600m -XX:MaxRAM=512m",
		"-XX:MaxRAM=200m -XX:MinRAMPercentage=30 -XX:MaxRAMPercentage=66",
	}
	asked := 0
	for _, java := range javas(t) {
		for flag, collector := range map[string]string{
			"-XX:+UseSerialGC": jvm.Serial, "-XX:+UseParallelGC": jvm.Parallel, "-XX:+UseG1GC": jvm.G1, "-XX:+UseZGC": jvm.Z, "-XX:+UseShenandoahGC": jvm.Shenandoah,
		} {
			for _, size := range sizes {
				options := flag + " " + size
				log, err := exec.Command(java, append(jvm.SplitOptions(options), jvm.LogInit, "-version")...).Output()
				if err != nil {
					// Not every build has every collector.
					t.Logf("%s %s: %v", java, options, err)
					continue
				}
				asked++
				granted, found := jvm.ParseInit(bytes.NewReader(log))
				if !found || granted.Collector != collector {
					t.Errorf("%s %s: read %+v (%t) from\n%s", java, options, granted, found, log)
				}
				heap, err := jvm.MaxHeap(options, jvm.Machine{})
				if err != nil || heap.Bytes != granted.MaxHeap {
					t.Errorf("%s %s: predicted %d (%v), granted %d", java, options, heap.Bytes, err, granted.MaxHeap)
				}
			}
		}
	}
	if asked < len(sizes)*3 {
		t.Errorf("only %d JVMs started, want three collectors at least", asked)
	}
}
