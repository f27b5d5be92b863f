// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/environment/jvm"
)

// The logs are from JVMs on a machine with 24105 MiB and 2 cores.
func TestParseInit(t *testing.T) {
	seen := func(collector string, heap int64) jvm.Init {
		return jvm.Init{MaxHeap: heap * mebibyte, Memory: 24105 * mebibyte, Cores: 2, Collector: collector}
	}
	cases := map[string]jvm.Init{
		"jdk17-decorated": seen(jvm.Serial, 1538),
		"jdk17-bare":      {MaxHeap: 1538 * mebibyte, Collector: jvm.Serial},
	}
	for _, jdk := range []string{"jdk17", "jdk25"} {
		for name, collector := range map[string]string{
			"serial": jvm.Serial, "parallel": jvm.Parallel, "g1": jvm.G1, "z": jvm.Z, "shenandoah": jvm.Shenandoah,
		} {
			cases[jdk+"-"+name] = seen(collector, 676)
		}
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			// Modules write other lines before and after it, and similar ones.
			text := "Picked up JAVA_TOOL_OPTIONS: -Xlog\n" + string(log) + "[1.2s][info][gc] GC(0) Pause Young 5M->2M(16M) 3.1ms\nMax Capacity: 7\n"
			got, found := jvm.ParseInit(strings.NewReader(text))
			if diff := cmp.Diff(want, got); diff != "" || !found {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseInitOfOtherLogs(t *testing.T) {
	for name, log := range map[string]string{
		"Empty":    "",
		"Other":    "12:00 INFO Verticle started\nheap is 5G\n",
		"NoAmount": "[0.003s][info][gc,init] Heap Max Capacity: lots\n",
		"CutOff":   "[0.003s][info][gc,init] Version: 17\n[0.003s][info][gc,init] Heap Max Capac",
		"LongLine": strings.Repeat("x", 1<<20),
	} {
		if got, found := jvm.ParseInit(strings.NewReader(log)); found {
			t.Errorf("%s: found %+v", name, got)
		}
	}
}

func TestParseInitReadsFirstJVM(t *testing.T) {
	log := "[0.003s][info][gc,init] Version: 17\n[0.003s][info][gc,init] Heap Max Capacity: 6656K\n[0.003s][info][gc,init] Pre-touch: Disabled\n"
	got, _ := jvm.ParseInit(strings.NewReader(log + strings.ReplaceAll(log, "6656K", "1G")))
	if want := (jvm.Init{MaxHeap: 6656 << 10, Collector: jvm.Serial}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
