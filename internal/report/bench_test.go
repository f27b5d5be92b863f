// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// BenchmarkStored is what a report costs the operator at the end of a block: to unpack
// the raw results of its runs, and to write the pages.
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
