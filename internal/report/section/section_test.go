// SPDX-License-Identifier: Apache-2.0

package section_test

import (
	"slices"
	"testing"

	"perflab.dev/perflab/internal/report/section"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// The page has every chart, so each chart's place is in a section.
func TestPageHasEveryChart(t *testing.T) {
	record, err := section.NewRecord(recorded.Experiment(20))
	expect.NoError(t, err)
	page := record.Page()
	var shown []string
	for one := range page.Charts() {
		shown = append(shown, one.Name)
	}
	drawn := slices.Sorted(slices.Values(record.ChartNames()))
	expect.Equal(t, drawn, slices.Sorted(slices.Values(shown)))
	if len(drawn) == 0 {
		t.Error("no chart was drawn")
	}
}

// A denominator is never printed as zero, however uncertain it is.
func TestCentersOfRatiosAreNotZero(t *testing.T) {
	for name, tc := range map[string]struct {
		arms [][]float64
		want []string
	}{
		"certain":         {[][]float64{{0.018, 0.0181, 0.0182}, {0.129, 0.13, 0.131}}, []string{"0.0181", "0.1300"}},
		"uncertain":       {[][]float64{{0.018, 0.0181, 0.0182}, {0.01, 0.2, 3}}, []string{"0.02", "0.18"}},
		"almost nothing":  {[][]float64{{0.0003, 0.0004, 0.0005}, {0.01, 0.2, 3}}, []string{"0.0004", "0.1817"}},
		"a single number": {[][]float64{{0.018}, {0.129}}, []string{"0.018", "0.129"}},
	} {
		expect.Equal(t, tc.want, section.Centers(tc.arms...), "%s", name)
	}
}
