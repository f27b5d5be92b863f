// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"testing"

	"perflab.dev/perflab/internal/environment/jvm"
)

func TestRewrite(t *testing.T) {
	cases := map[string]struct {
		reason        string
		options, want string
		set           jvm.Settings
	}{
		"Nothing": {reason: "spaces stay as well", options: "  -Xmx1g   -Da=b", want: "  -Xmx1g   -Da=b"},
		"SizeTakesPercentagesOut": {
			options: "-XX:MaxRAMPercentage=66.0 -Dx=y -XX:InitialRAMPercentage=10 -XX:MinRAMPercentage=40 -XX:MaxRAMFraction=2 -XX:MaxHeapSize=3g -Xmx2g",
			set:     jvm.Settings{MaxHeap: 768 * mebibyte}, want: "-Dx=y -Xmx768m",
		},
		"PercentageTakesSizesOut": {
			options: "-Xmx3500m -XX:+UseG1GC -XX:MaxHeapSize=3g", set: jvm.Settings{MaxRAMPercentage: "66"},
			want: "-XX:+UseG1GC -XX:MaxRAMPercentage=66.0",
		},
		"TooLargeInitial": {
			reason:  "a JVM does not start with an initial heap above the maximum",
			options: "-Xms2g -XX:MinHeapSize=1g", set: jvm.Settings{MaxHeap: 1024 * mebibyte}, want: "-XX:MinHeapSize=1g -Xmx1024m",
		},
		"QuotesStay": {
			options: `-XX:OnError="gdb - %p" '-Xmx1g' -Dgreeting='a  "b"'`, set: jvm.Settings{MaxHeap: 1000},
			want: `-XX:OnError="gdb - %p" -Dgreeting='a  "b"' -Xmx1000`,
		},
		"Metaspace": {
			options: "-XX:MetaspaceSize=88m -XX:MaxMetaspaceSize=128m -Xmx1g",
			set:     jvm.Settings{Metaspace: 384 * mebibyte, MaxMetaspace: 512 * mebibyte},
			want:    "-Xmx1g -XX:MetaspaceSize=384m -XX:MaxMetaspaceSize=512m",
		},
		"OptionsReplaceTheirLike": {
			options: "-XX:MaxGCPauseMillis=200 -XX:-AlwaysPreTouch -Da=1 -Db=2 -Xlog:gc",
			set:     jvm.Settings{Options: []string{"-XX:MaxGCPauseMillis=50", "-XX:+AlwaysPreTouch", "-Da=3", "-Xlog:safepoint"}},
			want:    "-Db=2 -Xlog:gc -XX:MaxGCPauseMillis=50 -XX:+AlwaysPreTouch -Da=3 -Xlog:safepoint",
		},
		"OneCollector": {
			reason: "a JVM with two does not start", options: "-XX:+UseG1GC -XX:+UseStringDeduplication",
			set: jvm.Settings{Options: []string{"-XX:+UseSerialGC"}}, want: "-XX:+UseStringDeduplication -XX:+UseSerialGC",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := jvm.Rewrite(tc.options, tc.set)
			if got != tc.want {
				t.Errorf("\n%s, want\n%s: %s", got, tc.want, tc.reason)
			}
			if again := jvm.Rewrite(got, tc.set); again != got {
				t.Errorf("the second time changes it to %s", again)
			}
		})
	}
}

func TestWithLogInit(t *testing.T) {
	for options, want := range map[string]string{
		"":                                 "-Xlog:gc+init:stdout",
		"-Xmx1g":                           "-Xlog:gc+init:stdout -Xmx1g",
		"-Xlog:gc*:file=/tmp/gc.log":       "-Xlog:gc+init:stdout -Xlog:gc*:file=/tmp/gc.log",
		"-Xmx1g -Xlog:gc+init:stdout:none": "-Xmx1g -Xlog:gc+init:stdout:none",
		`-Xlog:"safepoint,gc+init"`:        `-Xlog:"safepoint,gc+init"`,
	} {
		if got := jvm.WithLogInit(options); got != want {
			t.Errorf("%q became %q, want %q", options, got, want)
		}
		if again := jvm.WithLogInit(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
}

func TestSetsHeap(t *testing.T) {
	for option, want := range map[string]bool{
		"-Xmx1g": true, "-mx1g": true, "'-Xmx1g'": true, "-XX:MaxHeapSize=1g": true, "-XX:MaxRAMPercentage=50": true, "-XX:MinRAMPercentage=50": true,
		"-XX:MaxRAMFraction=2": true, "-XX:MaxRAM=1g": true, "-XX:-UseContainerSupport": true, "-XX:+AggressiveHeap": true, "-XX:ErgoHeapSizeLimit=1g": true,
		"-Xms1g": false, "-XX:InitialRAMPercentage=10": false, "-XX:SoftMaxHeapSize=1g": false, "-XX:+UseG1GC": false, "-Xss1m": false, "-DXmx=1g": false, "": false,
	} {
		if got := jvm.SetsHeap(option); got != want {
			t.Errorf("%s: %t", option, got)
		}
	}
	for option, want := range map[string]bool{"@/opt/options": true, "-XX:Flags=.hotspotrc": true, "-XX:VMOptionsFile=a": true, "-Xmx1g": false, "-javaagent:a@b.jar": false} {
		if got := jvm.ReadsFile(option); got != want {
			t.Errorf("%s: read from a file %t", option, got)
		}
	}
}
