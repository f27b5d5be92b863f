// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"errors"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/comparison"
)

// A table is rejected with an error, or compared without a panic.
func FuzzReadCSV(f *testing.F) {
	f.Add(comparison.Header + "\n1,a,s,m,ms,1\n1,b,s,m,ms,2\n2,a,s,m,ms,1.5\n2,b,s,m,ms,2.5\n")
	f.Add("\ufeff" + comparison.Header + "\n1,a,s,m,%,-1e308\n1,b,s,m,%,1e308\n")
	f.Add(comparison.Header + "\n\"1\",\"'=a\",s,m,ms,0x1p-2\n")
	f.Add(comparison.Header + "\n1,a,s,m,ms,\"1")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := comparison.ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		rows := strings.Split(text, "\n")
		fields := strings.Split(rows[1], ",")
		if len(fields) < 2 || len(rows) > 30 {
			return
		}
		_, err = table.Compare(comparison.Options{Baseline: fields[1], MarginPercent: 5, ConfidencePercent: 95})
		if err != nil && errors.Is(err, comparison.ErrRows) {
			t.Fatalf("rows that were taken are refused: %v", err)
		}
	})
}
