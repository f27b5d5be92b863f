// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/testing/expect"
)

// The results from runs to verdicts agree with those of scipy and statsmodels for the same file:
// see testdata/reference.py.
func TestCompareAgainstReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	expect.NoError(t, err)
	var wants []struct {
		Scenario, Metric, Arm, Scale                              string
		Blocks                                                    int
		BaselineCenter, ArmCenter, Delta, Low, High               float64
		EquivalenceLow, EquivalenceHigh, P, Permutation, Adjusted float64
		Primary                                                   bool
		Verdict                                                   verdict.Verdict
	}
	expect.NoError(t, json.Unmarshal(text, &wants))
	if len(wants) != 8 {
		t.Fatalf("%d references", len(wants))
	}
	found := map[[3]string]comparison.Comparison{}
	for _, c := range comparedRuns(t) {
		found[[3]string{c.Scenario, c.Metric, c.Arm}] = c
	}
	for _, want := range wants {
		got, is := found[[3]string{want.Scenario, want.Metric, want.Arm}]
		if !is || got.Blocks != want.Blocks || string(got.Scale) != want.Scale || got.Primary != want.Primary || got.Verdict != want.Verdict {
			t.Errorf("got %+v, want %+v", got, want)
		}
		for what, pair := range map[string][2]float64{
			"baseline center": {got.BaselineCenter, want.BaselineCenter}, "arm center": {got.ArmCenter, want.ArmCenter},
			"delta": {got.Delta, want.Delta}, "low": {got.Low, want.Low}, "high": {got.High, want.High},
			"equivalence low": {got.EquivalenceLow, want.EquivalenceLow}, "equivalence high": {got.EquivalenceHigh, want.EquivalenceHigh},
			"p": {got.P, want.P}, "permutation p": {got.Permutation, want.Permutation}, "adjusted p": {got.Adjusted, want.Adjusted},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-8*math.Max(math.Abs(pair[1]), 1e-3)) {
				t.Errorf("%s of %s, %s: %v, want %v", what, want.Metric, want.Arm, pair[0], pair[1])
			}
		}
	}
}

func comparedRuns(t *testing.T) []comparison.Comparison {
	t.Helper()
	file, err := os.Open("../../../cmd/perflab/testdata/runs.csv")
	expect.NoError(t, err)
	defer func() { _ = file.Close() }()
	table, err := comparison.ReadCSV(file)
	expect.NoError(t, err)
	compared, err := table.Compare(comparison.Options{
		Baseline: "xmx", MarginPercent: 5, ConfidencePercent: 95, Seed: 1,
		Primary: func(metric string) bool {
			return strings.HasSuffix(metric, "average") || strings.Contains(metric, "throughput")
		},
		Direction: func(metric, _ string) verdict.Direction {
			return verdict.NewDirection(strings.Contains(metric, "throughput"), true)
		},
	})
	expect.NoError(t, err)
	return compared
}

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
