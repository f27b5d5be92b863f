// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/testing/expect"
)

const header = "report,table,configuration,scenario,metric,value,unit,kind\n"

func check(t *testing.T, rows string) []audit.Finding {
	t.Helper()
	read, err := audit.ReadCSV(strings.NewReader(header + rows))
	if err != nil {
		t.Fatal(err)
	}
	return audit.Check(read)
}

// auditDelta checks a single delta of two sides.
func auditDelta(t *testing.T, a, b, unit, delta, deltaUnit string) audit.Finding {
	t.Helper()
	found := check(t, fmt.Sprintf("r,t,new,s,m,%s,%s,measured\nr,t,old,s,m,%s,%s,measured\nr,t,new minus old,s,m,%s,%s,published_delta\n", a, unit, b, unit, delta, deltaUnit))
	if len(found) != 1 {
		t.Fatalf("%d findings", len(found))
	}
	return found[0]
}

// The numbers of some cases are facts from published pages on library systems.
func TestOutcomes(t *testing.T) {
	cases := map[string]struct {
		a, b, unit, delta, deltaUnit string
		want                         audit.Outcome
		expected                     float64
	}{
		"difference":                 {"0.476", "0.459", "s", "0.017", "s", audit.Follows, 0.017},
		"in milliseconds":            {"0.476", "0.459", "s", "17", "ms", audit.Follows, 17},
		"lost sign":                  {"3267", "3338", "s", "71", "s", audit.Sign, -71},
		"lost sign in milliseconds":  {"0.707", "0.736", "s", "29", "ms", audit.Sign, -29},
		"slip of the pen":            {"0.736", "0.669", "s", "37", "ms", audit.Size, 67},
		"last digit":                 {"0.472", "0.479", "s", "-6", "ms", audit.Digit, -7},
		"percent":                    {"1240", "1078", "ms", "15", "%", audit.Follows, 15.0278},
		"percent, cut":               {"2121", "1967", "ms", "7", "%", audit.Cut, 7.8292},
		"percent of rounded numbers": {"124", "108", "ms", "14.9", "%", audit.Rounding, 14.8148},
		"difference of longer ones":  {"5", "4", "ms", "1.1", "ms", audit.Rounding, 1},
		"too few digits":             {"0.1", "0.1", "cores", "92", "%", audit.Coarse, 0},
		"other rows' numbers":        {"480.4", "480.0", "ms", "40.91", "%", audit.Size, 0.0833},
		"percent of the other side":  {"0.554", "1.041", "s", "-87", "%", audit.Base, -46.7819},
		"percent, sign":              {"0.554", "1.041", "s", "47", "%", audit.Sign, -46.7819},
		"percent, sign and base":     {"0.554", "1.041", "s", "88", "%", audit.SignAndBase, -46.7819},
		"points":                     {"32", "45", "%", "-13", "percentage points", audit.Follows, -13},
		"points of percent in words": {"32", "45", "percent", "-13", "percentage points", audit.Follows, -13},
		"points under percent":       {"32", "45", "%", "-13", "%", audit.Follows, -13},
		"percent of percent":         {"32", "45", "%", "-29", "%", audit.Follows, -28.8889},
		"points of a limit":          {"74.77", "74.61", "% of limit", "0.16", "percentage points", audit.Follows, 0.16},
		"trailing zeros are digits":  {"1.50", "1.00", "s", "0.54", "s", audit.Size, 0.5},
		"to zero":                    {"0", "1", "allocs", "-100", "%", audit.Follows, -100},
		"to zero, of another":        {"0", "12", "errors", "-50", "%", audit.Size, -100},
		"from zero":                  {"5", "0", "ms", "500", "%", audit.Size, math.Inf(1)},
		"from zero, of the other":    {"5", "0", "ms", "100", "%", audit.Base, math.Inf(1)},
		"below zero, of the other":   {"-5", "0", "ms", "-100", "%", audit.Base, math.Inf(-1)},
		"from zero to zero":          {"0", "0", "ms", "0", "%", audit.Follows, 0},
		"from zero, a difference":    {"5", "0", "ms", "5", "ms", audit.Follows, 5},
		"exponents":                  {"1.30e6", "1.25e6", "1/s", "4", "%", audit.Follows, 4},
		"exponents, a difference":    {"1.30E+06", "1.25E+06", "1/s", "5e4", "1/s", audit.Follows, 50000},
		"exponents, rounded":         {"1.3e6", "1.2e6", "1/s", "8.4", "%", audit.Rounding, 8.3333},
		"decimal commas":             {"\"1.300,5\"", "\"1.234,5\"", "ms", "66", "ms", audit.Follows, 66},
		"microseconds":               {"1200", "850", "\u00b5s", "0.35", "ms", audit.Follows, 0.35},
		"Greek microseconds":         {"1200", "850", "\u03bcs", "350", "us", audit.Follows, 350},
		"nanoseconds":                {"1800", "1500", "ns", "0.3", "us", audit.Follows, 0.3},
		"seconds in a word":          {"75", "90", "sec", "-15", "s", audit.Follows, -15},
		"memory":                     {"1.5", "2", "GiB", "-512", "MiB", audit.Follows, -512},
		"memory in powers of ten":    {"1.500", "2.000", "GB", "-512", "MB", audit.Size, -500},
		"ambiguous unit of memory":   {"1.5", "2", "KB", "-0.5", "B", audit.Unchecked, 0},
		"other units":                {"5", "4", "records/s", "1", "ms", audit.Unchecked, 0},
	}
	for name, tc := range cases {
		found := auditDelta(t, tc.a, tc.b, tc.unit, tc.delta, tc.deltaUnit)
		if found.Outcome != tc.want || found.Expected != tc.expected && !(math.Abs(found.Expected-tc.expected) <= 1e-4) {
			t.Errorf("%s: %s, expected value %v, want %s and %v", name, found.Outcome, found.Expected, tc.want, tc.expected)
		}
		if slip := found.Outcome.IsError(); slip && (found.Note == "" || found.Off != found.Delta.Value-found.Expected) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// The two sides may have different units.
func TestOperandsInOtherUnits(t *testing.T) {
	for _, tc := range []struct {
		delta, unit string
		want        audit.Outcome
		expected    float64
	}{{"-40", "%", audit.Follows, -40}, {"-0.6", "s", audit.Follows, -0.6}, {"-600", "msec", audit.Follows, -600}, {"-898.5", "ms", audit.Size, -600}} {
		found := check(t, "r,t,new,s,m,900,ms,measured\nr,t,old,s,m,1.5,sec,measured\nr,t,new minus old,s,m,"+tc.delta+","+tc.unit+",published_delta\n")[0]
		if found.Outcome != tc.want || math.Abs(found.Expected-tc.expected) > 1e-9 {
			t.Errorf("%s %s: %s, expected %g", tc.delta, tc.unit, found.Outcome, found.Expected)
		}
	}
}

// The column's name may omit words that both sides share.
func TestOperandsByWords(t *testing.T) {
	measured := ""
	for name, value := range map[string]string{"split on, 2 partitions": "110", "split on, 1 partition": "107", "split off, 2 partitions": "140", "split off, 1 partition": "121"} {
		measured += fmt.Sprintf("r,t,\"%s\",s,m,%s,ms,measured\n", name, value)
	}
	for words, want := range map[string]float64{
		"split on, 2 partitions minus 1 partition":  3,
		"split off, 2 partitions minus 1 partition": 19,
		"split on minus off, 2 partitions":          -30,
		"split on minus off, 1 partition":           -14,
		"split off vs on, 1 partition":              14,
	} {
		// Wrong on purpose: only the words identify the sides.
		found := check(t, measured+fmt.Sprintf("r,other,\"%s\",s,m,77,ms,published_delta\n", words))
		if found[0].Expected != want || found[0].Outcome != audit.Size {
			t.Errorf("%s: %v less %v", words, found[0].Minuend, found[0].Subtrahend)
		}
	}
}

// Without words, the pair that explains the column is used, and a delta that does not fit is an
// error.
func TestOperandsByNumbers(t *testing.T) {
	rows := ""
	for i, values := range [][3]int{{90, 62, 79}, {151, 94, 119}, {87, 54, 74}} {
		for arm, value := range values {
			rows += fmt.Sprintf("r,t,%c,s%d,m,%d,ms,measured\n", 'a'+arm, i, value)
		}
		printed := values[2] - values[1]
		if i == 1 {
			printed = -printed
		}
		rows += fmt.Sprintf("r,t,degradation,s%d,m,%d,ms,published_delta\n", i, printed)
	}
	found := check(t, rows)
	for i, want := range []audit.Outcome{audit.Follows, audit.Sign, audit.Follows} {
		if found[i].Outcome != want || found[i].Minuend.Configuration != "c" || found[i].Subtrahend.Configuration != "b" {
			t.Errorf("delta %d: %+v", i, found[i])
		}
	}
}

// A whole column may be percent of the wrong side, in any order of the sides. The numbers are from
// a published page.
func TestOperandsByNumbersOfWrongBase(t *testing.T) {
	type change struct{ now, before, printed string }
	changes := []change{{"0.467", "0.534", "-14"}, {"0.554", "1.041", "-87"}, {"0.735", "0.909", "-23"}, {"0.856", "1.462", "-70"}}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		rows := ""
		for i, change := range changes {
			sides := [2]string{
				fmt.Sprintf("r,t,now,s%d,m,%s,s,measured\n", i, change.now),
				fmt.Sprintf("r,t,before,s%d,m,%s,s,measured\n", i, change.before),
			}
			rows += sides[order[0]] + sides[order[1]] + fmt.Sprintf("r,t,change,s%d,m,%s,%%,published_delta\n", i, change.printed)
		}
		for _, found := range check(t, rows) {
			if found.Outcome != audit.Base || found.Minuend.Configuration != "now" {
				t.Errorf("%+v", found)
			}
		}
	}
}

func TestUnchecked(t *testing.T) {
	for name, rows := range map[string]string{
		"nothing measured": "r,t,new minus old,s,m,1,ms,published_delta\n",
		"one side":         "r,t,new,s,m,5,ms,measured\nr,t,new minus old,s,m,1,ms,published_delta\n",
		"other scenario":   "r,t,new,s1,m,5,ms,measured\nr,t,old,s1,m,4,ms,measured\nr,t,new minus old,s2,m,1,ms,published_delta\n",
		"other report":     "q,t,new,s,m,5,ms,measured\nq,t,old,s,m,4,ms,measured\nr,t,new minus old,s,m,1,ms,published_delta\n",
	} {
		if found := check(t, rows); found[0].Outcome != audit.Unchecked || found[0].Note == "" || found[0].Outcome.IsError() {
			t.Errorf("%s: %+v", name, found[0])
		}
	}
}

// Only the table of deltas may distinguish a metric in parentheses.
func TestParentheses(t *testing.T) {
	found := check(t, "r,t,new,s,m,5,ms,measured\nr,t,old,s,m,4,ms,measured\nr,d,new minus old,s,m (no import),1,ms,published_delta\n")
	if found[0].Outcome != audit.Follows {
		t.Errorf("got %+v", found[0])
	}
}

func TestReadCSV(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"nothing": {"", "the file is empty"},
		"column":  {"report,table\n", `lacks the column "configuration"`},
		"number":  {header + "r,t,c,s,m,fast,ms,measured\n", `line 2: the value "fast" is not a finite number`},
		"unit":    {header + "r,t,c,s,m,1.2x,%,published_delta\n", `line 2: the value "1.2x" is in x, but the column unit has "%": write only the number`},
		"fields":  {header + "r,t,c\n", "line 2: wrong number of fields"},
	}
	for name, tc := range cases {
		if _, err := audit.ReadCSV(strings.NewReader(tc.text)); !errors.Is(err, audit.ErrRows) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	more := "note," + strings.TrimSuffix(header, "\n") + ",line\nx,r,t,c,s,m,text,ms,prose,9\nx,r,t,c,s,m,4,ms,measured,9\n"
	if rows, err := audit.ReadCSV(strings.NewReader(more)); err != nil || len(rows) != 1 || rows[0].Line != 3 {
		t.Errorf("further columns and kinds: %v, %v", rows, err)
	}
	for text, want := range map[string]string{"20 %,": "%", "20%,%": "%", "20 msec,ms": "msec", "20,ms": "ms"} {
		rows, err := audit.ReadCSV(strings.NewReader(header + "r,t,c,s,m," + text + ",measured\n"))
		if err != nil || len(rows) != 1 || rows[0].Value != 20 || rows[0].Unit != want {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
	for _, nothing := range []string{"", "-", "–", "n/a", "N/A", "null", "NaN"} {
		text := header + "r,t,old,s,m," + nothing + ",ms,measured\nr,t,new,s,m,4,ms,measured\nr,t,new minus old,s,m,1,ms,published_delta\n"
		rows, err := audit.ReadCSV(strings.NewReader(text))
		expect.NoError(t, err, nothing)
		if found := audit.Check(rows); len(found) != 1 || found[0].Outcome != audit.Unchecked {
			t.Errorf("beside %q a delta is %v", nothing, found)
		}
	}
}
