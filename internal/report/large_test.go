// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// A report of 16 arms, 16 scenarios and 30 blocks is small enough to share. The test logs how
// long a browser takes to open it.
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

// share is the size of a page's parts between two marks, in bytes.
func share(page, from, to string) int {
	size := 0
	for _, part := range strings.Split(page, from)[1:] {
		inside, _, _ := strings.Cut(part, to)
		size += len(inside)
	}
	return size
}

// BenchmarkStored measures what a report costs the operator at the end of a block: unpacking the
// raw results of its runs, and writing the pages.
func BenchmarkStored(b *testing.B) {
	input := recorded.Experiment(seed)
	own := map[string][]corev1.ConfigMap{}
	for _, raw := range input.Raw {
		run := raw.Labels[v1alpha1.LabelRun]
		own[run] = append(own[run], raw)
	}
	input.Raw, input.Traces = nil, map[string]*report.Trace{}
	b.Run("traces", func(b *testing.B) {
		for b.Loop() {
			for i := range input.Runs {
				trace, err := report.TraceOf(&input.Runs[i], own[input.Runs[i].Name]...)
				expect.NoError(b, err)
				input.Traces[input.Runs[i].Name] = trace
			}
		}
		b.ReportMetric(float64(len(input.Runs)), "runs")
	})
	b.Run("pages", func(b *testing.B) {
		for b.Loop() {
			made, err := report.New(input)
			expect.NoError(b, err)
			if _, _, _, err := made.Stored(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
