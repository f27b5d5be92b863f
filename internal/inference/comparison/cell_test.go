// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestCellEscapesFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"xmx": "xmx", "-3.5": "-3.5", "+1e-3": "+1e-3", "%": "%", "1-2": "1-2", "'": "'", "it's": "it's",
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "'=1": "''=1",
	} {
		got := comparison.Cell(text)
		expect.Equal(t, want, got, "%q is the cell", text)
		rows := comparison.Header + "\n1," + quoted(got) + ",s,m,ms,1\n1,other,s,m,ms,1\n"
		table, err := comparison.ReadCSV(strings.NewReader(rows))
		expect.NoError(t, err)
		if _, err := table.Compare(comparison.Options{Baseline: text, MarginPercent: 5, ConfidencePercent: 95}); err != nil {
			t.Errorf("%q does not come back: %v", text, err)
		}
	}
}

func quoted(cell string) string { return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"` }
