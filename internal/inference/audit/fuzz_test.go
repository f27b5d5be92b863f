// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"math"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/audit"
)

// Published numbers are rejected with an error, or checked without a panic.
func FuzzReadCSV(f *testing.F) {
	const header = "report,table,configuration,scenario,metric,value,unit,kind\n"
	f.Add(header + "r,t,old,s,m,10,ms,measured\nr,t,new,s,m,12,ms,measured\nr,t,new vs old,s,m,20,%,published_delta\n")
	f.Add(header + "r,t,old,s,m,-1e308,%,measured\nr,t,new,s,m,1e308,%,measured\nr,t,new minus old,s,m,0.0000001,%,published_delta\n")
	f.Add("kind,unit,value,metric,scenario,configuration,table,report\nmeasured,ms,0,m,s,c,t,r\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := audit.ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, row := range rows {
			if math.IsNaN(row.Value) || math.IsInf(row.Value, 0) {
				t.Fatalf("line %d has the value %v", row.Line, row.Value)
			}
		}
		audit.Check(rows)
	})
}
