// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/recorded"
)

// A report of 16 arms, 16 scenarios and 30 blocks can still be passed on. What is
// told here is how long it takes a browser to open it.
func TestLargeReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	const most = 8 << 20
	began := time.Now()
	input := recorded.Large(seed, 16, 16, 30)
	made := time.Now()
	r := reportOf(t, input)
	built := time.Now()
	page := written(t, r, "report.html")
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	_, _ = writer.Write([]byte(page))
	_ = writer.Close()
	t.Logf("%d runs (made in %s), the report in %s, its page in %s: %d bytes (%d zipped), of which pictures %d and data %d",
		len(input.Runs), made.Sub(began), built.Sub(made), time.Since(built), len(page), zipped.Len(), share(page, "<svg ", "</svg>"), share(page, `<script type="application/json">`, "</script>"))
	if len(page) > most {
		t.Errorf("the page has %d bytes, want at most %d", len(page), most)
	}
	p := newTab(t, page, 1280)
	p.Open("")
	t.Logf("opened in %.0f ms", browser.Ask[float64](p.Tab, "performance.timing.loadEventEnd - performance.timing.navigationStart"))
	p.liveChart(0)
}

// share of a page between two marks, in bytes.
func share(page, from, to string) int {
	size := 0
	for _, part := range strings.Split(page, from)[1:] {
		inside, _, _ := strings.Cut(part, to)
		size += len(inside)
	}
	return size
}
