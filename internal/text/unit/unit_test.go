// SPDX-License-Identifier: Apache-2.0

package unit_test

import (
	"math"
	"testing"

	"perflab.dev/perflab/internal/text/unit"
)

// The sign for micro and the Greek letter look alike.
const micro, mu = "\u00b5s", "\u03bcs"

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"sec": "s", "Seconds": "s", "MSEC": "ms", "us": micro, mu: micro, micro: micro, "nanoseconds": "ns", "mins": "min", "hours": "h",
		"bytes": "B", "GiB": "GiB", "Gi": "GiB", "MB": "MB", "Mb": "Mb", "KB": "KB", "percent": "%", "": "", " ms ": "ms",
		"bytes/sec": "B/s", "req/second": "req/s", "requests": "requests", "[ms]": "ms", "(msec)": "ms", "[ MiB ]": "MiB", "[ms": "[ms", "requests per second": "requests/s", "bytes per sec": "B/s", "% of limit": "% of limit", "cores": "cores",
	} {
		if got := unit.Canonical(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFactor(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		want     float64
	}{
		{"sec", "ms", 1000},
		{mu, "ns", 1000},
		{"us", mu, 1},
		{"h", "min", 60},
		{"GiB", "MiB", 1024},
		{"GB", "MB", 1000},
		{"MiB", "bytes", 1048576},
		{"MB/s", "kB/sec", 1000},
		{"req/s", "req/sec", 1},
		{"ms/op", "µs/op", 1000},
		{"cores", "cores", 1},
		{"%", "percent", 1},
	} {
		if got, known := unit.Factor(tc.from, tc.to); !known || math.Abs(got/tc.want-1) > 1e-12 {
			t.Errorf("%s in %s: %g, %t, want %g", tc.from, tc.to, got, known, tc.want)
		}
	}
	for _, other := range [][2]string{{"s", "B"}, {"KB", "MB"}, {"req/s", "req/min"}, {"ms/op", "ms"}, {"%", "s"}, {"cores", "s"}, {"", "s"}} {
		if got, known := unit.Factor(other[0], other[1]); known {
			t.Errorf("%s in %s: %g", other[0], other[1], got)
		}
	}
}
