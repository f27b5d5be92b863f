// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

const published = "testdata/published.csv"

func TestAuditFormats(t *testing.T) {
	for format, path := range map[string]string{"table": "testdata/audit.txt", "markdown": "testdata/audit.md", "json": "testdata/audit.json"} {
		got := perflab(t, "", "audit", "-o", format, published)
		got.ends(0)
		golden(t, path, got.out)
	}
}

func TestAuditFindsEachKindOfSlip(t *testing.T) {
	text, err := os.ReadFile(published)
	expect.NoError(t, err)
	got := perflab(t, string(text), "audit", "-o", "json")
	var answer struct {
		Deltas, Follows            int
		Rounding, Slips, Unchecked []struct {
			File, Slip string
			Line       int
			Expected   *float64
		}
	}
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		t.Fatalf("%v in %s%s", err, got.out, got.problems)
	}
	if answer.Deltas != 7 || answer.Follows != 1 || len(answer.Rounding) != 1 || len(answer.Unchecked) != 1 || len(answer.Slips) != 4 {
		t.Fatalf("got %+v", answer)
	}
	for i, want := range []string{"size", "last digit", "sign", "base"} {
		if found := answer.Slips[i]; found.Slip != want || found.File != "-" || found.Expected == nil {
			t.Errorf("slip %d: %+v, want %s", i, found, want)
		}
	}
	if *answer.Slips[0].Expected != 67 || answer.Slips[0].Line != 7 || answer.Unchecked[0].Expected != nil {
		t.Errorf("got %+v and %+v", answer.Slips[0], answer.Unchecked[0])
	}
}

func TestAuditExitCodes(t *testing.T) {
	sound := "report,table,configuration,scenario,metric,value,unit,kind\nr,t,new,s,m,5,ms,measured\nr,t,old,s,m,4,ms,measured\nr,t,new minus old,s,m,1,ms,published_delta\n"
	cases := map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"Fail":        {"", []string{"audit", "--fail", published}, exit.Slips, "do not follow from the numbers next to them: 4 of 7"},
		"FailOnNone":  {sound, []string{"audit", "--fail"}, 0, ""},
		"MissingFile": {"", []string{"audit", "no-such.csv"}, exit.Failed, "no-such.csv"},
		"Format":      {sound, []string{"audit", "-o", "xml"}, exit.Failed, "write -o table"},
		"RunsOfNone":  {"block,arm,scenario,metric,unit,value\n", []string{"audit", "-"}, exit.Invalid, "name the report in Markdown first"},
		"BadRow":      {sound + "r,t,new,s,m,x,ms,measured\n", []string{"audit", "-"}, exit.Invalid, `line 5: the value "x" is not a finite number`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, tc.in, tc.arguments...)
			got.ends(tc.code).warns(tc.want)
		})
	}
}
