// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/testing/expect"
)

// large is the largest experiment that must be compared in two seconds: 100
// arms x 30 blocks x 200 metrics.
func large() []byte {
	random := rand.New(rand.NewPCG(6, 6))
	var text bytes.Buffer
	text.WriteString(comparison.Header + "\n")
	for metric := range 200 {
		for block := range 30 {
			for arm := range 100 {
				fmt.Fprintf(&text, "%d,arm-%d,cico-8,cico/step-%d/p95,ms,%.3f\n", block, arm, metric, 400*math.Exp(0.03*random.NormFloat64()))
			}
		}
	}
	return text.Bytes()
}

func BenchmarkReadAndCompare(b *testing.B) {
	text := large()
	chosen := options
	chosen.Baseline = "arm-0"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		table, err := comparison.ReadCSV(bytes.NewReader(text))
		expect.NoError(b, err)
		if found, err := table.Compare(chosen); err != nil || len(found) != 99*200 {
			b.Fatal(len(found), err)
		}
	}
}
