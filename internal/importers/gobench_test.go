// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A benchmark is identified by its package, its name and its number of processors.
func TestBenchmarksAreDistinct(t *testing.T) {
	got := must(t, "gobench", "pkg: example.org/codec/json\nBenchmarkEncode-8\t10\t1000 ns/op\nBenchmarkEncode\t10\t7000 ns/op\nBenchmarkEncode/size-100\t10\t1 ns/op\nBenchmarkEncode/size-200\t10\t2 ns/op\nBenchmarkEncode/size-100-8\t10\t3 ns/op\n"+
		"pkg: example.org/codec/xml\nBenchmarkEncode-8\t10\t3000 ns/op\nBenchmarkEncode-8\t10\t5000 ns/op\npkg: example.org/other/xml\nBenchmarkEncode-8\t10\t9000 ns/op\n")
	wantValues(t, got, map[string]string{
		"cico/example.org/codec/json.Encode-8/average": "0.001 ms of 10", "cico/example.org/codec/json.Encode/average": "0.007 ms of 10",
		"cico/example.org/codec/json.Encode/size-100/average": "0.000001 ms of 10", "cico/example.org/codec/json.Encode/size-200/average": "0.000002 ms of 10", "cico/example.org/codec/json.Encode/size-100-8/average": "0.000003 ms of 10",
		"cico/example.org/codec/xml.Encode-8/average": "0.004 ms of 20", "cico/example.org/other/xml.Encode-8/average": "0.009 ms of 10",
	})
	wantNote(t, got, "repetitions of a benchmark in one file (-count) are one run")
	if alone := must(t, "gobench", "BenchmarkA@1-2\t10\t1 ns/op\nBenchmarkA_1-2\t10\t2 ns/op\n"); len(alone.Observations) != 2 {
		t.Errorf("it holds %v", told(alone))
	}
}

// The units in a file define which direction is better.
func TestUnitsOfBenchmarks(t *testing.T) {
	got := must(t, "gobench", "Unit hits better=higher\nUnit skew-ns better=lower assume=exact\nUnit note label=x\nBenchmarkA\t10\t5 hits\t7 skew-ns\t3 note\t0 MB/s\t-2 drift\t0 ns/op\n")
	if want := []string{"custom/A/hits"}; !slices.Equal(got.Higher, want) {
		t.Errorf("higher is better for %q, want %q", got.Higher, want)
	}
	if want := []string{"custom/A/skew-sec"}; !slices.Equal(got.Lower, want) {
		t.Errorf("lower is better for %q, want %q", got.Lower, want)
	}
	wantValues(t, got, map[string]string{"custom/A/B per s": "0 B/s of 10", "custom/A/drift": "-2 drift of 10", "cico/A/average": "0 ms of 10"})
	if _, err := measure("gobench", "Unit hits better=higher\nUnit hits better=lower\nBenchmarkA\t10\t5 hits\n", ""); err == nil || !strings.Contains(err.Error(), "line 2: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestBenchmarksWithoutNumbers(t *testing.T) {
	got := must(t, "gobench", "BenchmarkA\t10\t5 ns/op\tNaN ratio\t+Inf hits\nBenchmarkB\t10\t3 ns/op\t4 ratio\n")
	if found := fmt.Sprint(told(got)); strings.Contains(found, "custom/A") {
		t.Errorf("it holds %s", found)
	}
	wantNote(t, got, "2 values omitted: infinite or not a number")
}
