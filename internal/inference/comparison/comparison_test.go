// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/testing/expect"
)

var options = comparison.Options{Baseline: "a", MarginPercent: 5, ConfidencePercent: 95, Seed: 1}

// rows returns blocks of values per arm; "" omits a run.
func rows(metric, unit string, arms map[string][]string) string {
	var text strings.Builder
	for arm, values := range arms {
		for block, value := range values {
			if value != "" {
				fmt.Fprintf(&text, "%d,%s,s,%s,%s,%s\n", block+1, arm, metric, unit, value)
			}
		}
	}
	return text.String()
}

func compare(t *testing.T, options comparison.Options, text ...string) []comparison.Comparison {
	t.Helper()
	table, err := comparison.ReadCSV(strings.NewReader(comparison.Header + "\n" + strings.Join(text, "")))
	expect.NoError(t, err)
	found, err := table.Compare(options)
	expect.NoError(t, err)
	return found
}

func warned(c comparison.Comparison, part string) bool {
	return slices.ContainsFunc(c.Warnings, func(warning comparison.Warning) bool { return strings.Contains(warning.Message, part) })
}

// Six runs of two arms: b is 10 % slower, up to half a percent.
var (
	base   = []string{"400", "410", "405", "395", "402", "399"}
	slower = []string{"441", "450", "446", "433", "443", "438"}
)

func has(c comparison.Comparison, code comparison.Code) bool {
	return slices.ContainsFunc(c.Warnings, func(warning comparison.Warning) bool { return warning.Code == code })
}

func TestRatio(t *testing.T) {
	got := compare(t, options, rows("m", "ms", map[string][]string{"a": base, "b": slower}))[0]
	if got.Scale != comparison.Ratio || got.Blocks != 6 || got.Verdict != verdict.Worse || got.Permutation != 0.03125 {
		t.Errorf("got %+v", got)
	}
	// The delta of complete blocks is the ratio of the geometric means.
	if want := 100 * (got.ArmCenter/got.BaselineCenter - 1); math.Abs(got.Delta-want) > 1e-9 || math.Abs(want-9.97) > 0.1 {
		t.Errorf("delta %v, want %v", got.Delta, want)
	}
	inside := got.Low < got.EquivalenceLow && got.EquivalenceLow < got.Delta && got.Delta < got.EquivalenceHigh && got.EquivalenceHigh < got.High
	if !inside || got.Adjusted != got.P || len(got.Warnings) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestDirection(t *testing.T) {
	higher := options
	higher.Direction = func(metric, unit string) verdict.Direction {
		return map[string]verdict.Direction{"rate 1/s": verdict.HigherIsBetter, "skew s": verdict.UnknownDirection}[metric+" "+unit]
	}
	arms := map[string][]string{"a": base, "b": slower}
	got := compare(t, higher, rows("rate", "1/s", arms), rows("time", "s", arms), rows("skew", "s", arms))
	if got[0].Verdict != verdict.Better || got[1].Verdict != verdict.None || got[2].Verdict != verdict.Worse {
		t.Errorf("rate is %q, skew %q, time %q", got[0].Verdict, got[1].Verdict, got[2].Verdict)
	}
	if !has(got[1], comparison.CodeDirectionUnknown) || has(got[0], comparison.CodeDirectionUnknown) || got[1].Withheld.Code != comparison.CodeDirectionUnknown {
		t.Errorf("the warnings are %q and %q", got[1].Warnings, got[0].Warnings)
	}
	same := map[string][]string{"a": base, "b": base}
	if got := compare(t, higher, rows("skew", "s", same))[0]; got.Verdict != verdict.Equivalent {
		t.Errorf("what is the same is %q", got.Verdict)
	}
}

func TestPercentIsADifference(t *testing.T) {
	got := compare(t, options, rows("cpu", "%", map[string][]string{"a": {"50", "51", "49", "50", "52", "50"}, "b": {"60", "61.5", "59", "60", "62", "59.5"}}))[0]
	if got.Scale != comparison.Difference || math.Abs(got.Delta-10) > 1e-9 || math.Abs(got.BaselineCenter-302.0/6) > 1e-9 || got.Verdict != verdict.Worse || len(got.Warnings) != 0 {
		t.Errorf("got %+v", got)
	}
}

// The margin is percent of the baseline's center: 5 % of 50 is 2.5.
func TestMarginOfDifferences(t *testing.T) {
	arms := map[string][]string{"a": {"50", "51", "49", "50", "52", "50"}, "b": {"52", "53.1", "51", "52.1", "54", "51.9"}}
	if got := compare(t, options, rows("cpu", "%", arms))[0]; got.Verdict != verdict.Equivalent {
		t.Errorf("2 of 50 within 5 %%: %+v", got)
	}
	strict := options
	strict.MarginPercent = 3
	if got := compare(t, strict, rows("cpu", "%", arms))[0]; got.Verdict != verdict.Worse {
		t.Errorf("2 of 50 beyond 3 %%: %+v", got)
	}
}

func TestZerosAreDifferences(t *testing.T) {
	got := compare(t, options, rows("lag", "records", map[string][]string{"a": {"0", "3", "1", "0", "2", "1"}, "b": {"1", "2", "1", "0", "3", "1"}}))[0]
	if got.Scale != comparison.Difference || !warned(got, "at or below zero") {
		t.Errorf("got %+v", got)
	}
	none := compare(t, options, rows("dropped", "%", map[string][]string{"a": {"0", "0", "0", "0", "0", "0"}, "b": {"0", "0", "0", "0", "0", "0"}}))[0]
	if none.Verdict != verdict.Equivalent || none.P != 1 {
		t.Errorf("zeros against zeros: %+v", none)
	}
}

func TestFewBlocks(t *testing.T) {
	got := compare(t, options, rows("m", "ms", map[string][]string{"a": base[:5], "b": slower[:5]}))[0]
	if got.Verdict != verdict.None || !warned(got, "descriptive only: 5 blocks") || math.IsNaN(got.Low) {
		t.Errorf("five blocks: %+v", got)
	}
	one := compare(t, options, rows("m", "ms", map[string][]string{"a": base[:1], "b": slower[:1]}))[0]
	if !math.IsNaN(one.Low) || !math.IsNaN(one.P) || math.Abs(one.Delta-10.25) > 1e-9 || one.Permutation != 1 || !warned(one, "too few runs") {
		t.Errorf("one block: %+v", one)
	}
}

func TestMissingRuns(t *testing.T) {
	arms := map[string][]string{
		"a": {"400", "", "405", "395", "402", "399", "404"},
		"b": {"441", "450", "", "433", "443", "438", "445"},
		"c": {"400", "410", "405", "395", "402", "399", "404"},
	}
	got := compare(t, options, rows("m", "ms", arms))
	if got[0].Blocks != 5 || got[1].Blocks != 6 || !warned(got[0], "2 of 7 blocks") || !warned(got[1], "1 of 7 blocks") {
		t.Errorf("got %+v", got)
	}
	apart := compare(t, options, rows("m", "ms", map[string][]string{"a": {"400", ""}, "b": {"", "441"}}))[0]
	if apart.Blocks != 0 || !math.IsNaN(apart.Delta) || !math.IsNaN(apart.Permutation) || !warned(apart, "shares no block") {
		t.Errorf("arms that never met: %+v", apart)
	}
	absent := compare(t, options, rows("m", "ms", map[string][]string{"a": base, "b": slower}), rows("n", "ms", map[string][]string{"b": slower}))[1]
	if absent.Metric != "n" || !warned(absent, "the baseline has no run") || !math.IsNaN(absent.Delta) {
		t.Errorf("a metric without baseline: %+v", absent)
	}
}

// Three primary comparisons share alpha by Holm, the others by
// Benjamini-Hochberg.
func TestFamilies(t *testing.T) {
	chosen := options
	chosen.Primary = func(metric string) bool { return strings.HasPrefix(metric, "p") }
	var text []string
	for i, name := range []string{"p1", "p2", "p3", "x1", "x2"} {
		slow := slices.Clone(slower)
		slow[0] = fmt.Sprint(400 + 30*i)
		text = append(text, rows(name, "ms", map[string][]string{"a": base, "b": slow}))
	}
	got := compare(t, chosen, text...)
	p := func(i int) float64 { return got[i].P }
	smallest := min(p(0), p(1), p(2))
	for i := range 3 {
		if got[i].P == smallest && math.Abs(got[i].Adjusted-3*smallest) > 1e-12 {
			t.Errorf("%s: %v adjusted to %v", got[i].Metric, p(i), got[i].Adjusted)
		}
		if got[i].Adjusted < p(i) || warned(got[i], "exploratory") {
			t.Errorf("got %+v", got[i])
		}
	}
	if largest := max(p(3), p(4)); got[3].Adjusted > 2*p(3) || max(got[3].Adjusted, got[4].Adjusted) != largest || !warned(got[3], "exploratory") {
		t.Errorf("got %+v and %+v", got[3], got[4])
	}
}

func TestDifferentErrorShares(t *testing.T) {
	arms := map[string][]string{"a": base, "b": slower}
	none := []string{"0", "0", "0", "0", "0", "0"}
	some := []string{"2", "3", "2.5", "2", "3", "2"}
	got := compare(t, options,
		rows("cico/Check-In/p95", "ms", arms), rows("cico/errors", "%", map[string][]string{"a": none, "b": some}),
		rows("other/p95", "ms", arms), rows("other/errors", "%", map[string][]string{"a": none, "b": none}))
	verdicts := map[string]verdict.Verdict{}
	for _, c := range got {
		verdicts[c.Metric] = c.Verdict
		if c.Metric == "cico/Check-In/p95" && c.Withheld.Code != comparison.CodeErrorRatesDiffer {
			t.Errorf("it is withheld because of %+v", c.Withheld)
		}
		if c.Metric == "cico/Check-In/p95" && !warned(c, "not compared: the error shares (cico/errors: 2.42 % and 0 %) differ") {
			t.Errorf("got %q", c.Warnings)
		}
	}
	want := map[string]verdict.Verdict{"cico/Check-In/p95": verdict.None, "cico/errors": verdict.Worse, "other/p95": verdict.Worse, "other/errors": verdict.Equivalent}
	expect.Equal(t, want, verdicts)
}

// A difference in one window does not affect another.
func TestDifferentErrorSharesInAWindow(t *testing.T) {
	arms := map[string][]string{"a": base, "b": slower}
	none := []string{"0", "0", "0", "0", "0", "0"}
	some := []string{"2", "3", "2.5", "2", "3", "2"}
	got := compare(t, options,
		rows("cico/Check-In/p95", "ms", arms), rows("cico/Check-In/p95@alone", "ms", arms), rows("cico/Check-In/p95@during-create-5k", "ms", arms),
		rows("cico/Check-In/errors@alone", "%", map[string][]string{"a": none, "b": none}),
		rows("cico/Check-In/errors@during-create-5k", "%", map[string][]string{"a": none, "b": some}))
	for _, c := range got {
		want := verdict.Worse
		if c.Metric == "cico/Check-In/p95@during-create-5k" {
			want = verdict.None
		}
		if strings.Contains(c.Metric, "p95") && c.Verdict != want {
			t.Errorf("%s is %q, want %q", c.Metric, c.Verdict, want)
		}
	}
}

// Arms with constant runs do not differ, whatever a third arm does; and if they differ, a warning
// reports the missing spread.
func TestConstants(t *testing.T) {
	for _, value := range []string{"10", "253.4", "0.1", "0", "1e-9", "123456789.123"} {
		constant := slices.Repeat([]string{value}, 7)
		got := compare(t, options, rows("m", "ms", map[string][]string{"a": constant, "b": slices.Repeat([]string{"12"}, 7), "c": constant}))
		if c := got[1]; c.Delta != 0 || c.Low != 0 || c.High != 0 || c.P != 1 || c.Adjusted != 1 || c.Verdict != verdict.Equivalent {
			t.Errorf("two constants of %s: %+v", value, c)
		}
		if c := got[0]; !c.Differs(0.05) || !warned(c, "no spread") {
			t.Errorf("12 and a constant of %s: %+v", value, c)
		}
	}
}

// With many primary metrics an interval of the A/A control may exclude 0 by chance; adjusted, that
// is no difference.
func TestControlMayDifferByChance(t *testing.T) {
	calibrated := options
	calibrated.Twin = "same"
	alike := map[string][]string{"a": base, "same": {"401", "409", "405", "396", "401", "400"}}
	chance := map[string][]string{"a": base, "same": {"403", "414", "408", "395.3", "408", "399.2"}}
	alone := compare(t, calibrated, rows("m", "ms", chance))
	if c := alone[0]; !(c.Low > 0) || len(comparison.Uncalibrated(alone, 0.05)) != 1 {
		t.Fatalf("by itself it is a difference: %+v", c)
	}
	many := compare(t, calibrated, rows("m", "ms", chance), rows("n", "ms", alike), rows("o", "ms", alike), rows("p", "ms", alike))
	if found := comparison.Uncalibrated(many, 0.05); len(found) != 0 {
		t.Errorf("among four: %+v", found)
	}
}

func TestControlArm(t *testing.T) {
	arms := map[string][]string{"a": base, "b": slower, "same": {"401", "409", "405", "396", "401", "400"}}
	calibrated := options
	calibrated.Twin = "same"
	got := compare(t, calibrated, rows("m", "ms", arms))
	if got[0].Verdict != verdict.Worse || got[0].Adjusted != got[0].P || got[1].Verdict != verdict.Equivalent || len(comparison.Uncalibrated(got, 0.05)) != 0 {
		t.Errorf("a twin that is alike: %+v", got)
	}
	if without := compare(t, options, rows("m", "ms", arms)); without[0].Adjusted != 2*without[0].P {
		t.Errorf("two arms that count: p %v adjusted to %v", without[0].P, without[0].Adjusted)
	}
	arms["same"] = slower
	got = compare(t, calibrated, rows("m", "ms", arms), rows("n", "ms", map[string][]string{"a": base[:5], "b": slower[:5]}))
	for _, c := range got[:2] {
		if c.Verdict != verdict.None || c.Withheld != comparison.TwinDiffers || !warned(c, `not calibrated: "same" is configured as the baseline, yet differs in m of s (+`) {
			t.Errorf("a twin that differs: %+v", c)
		}
	}
	if got[2].Verdict != verdict.None {
		t.Errorf("five blocks got a verdict: %+v", got[2])
	}
	if found := comparison.Uncalibrated(got, 0.05); len(found) != 1 || found[0].Metric != "m" {
		t.Errorf("uncalibrated: %+v", found)
	}
}

func TestOutliersAreListed(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	made := func(center float64) []string {
		values := make([]string, 10)
		for i := range values {
			values[i] = fmt.Sprint(center * math.Exp(0.01*random.NormFloat64()))
		}
		return values
	}
	arms := map[string][]string{"a": made(400), "b": made(400), "c": made(400)}
	arms["b"][3] = "900"
	got := compare(t, options, rows("m", "ms", arms))
	if !warned(got[0], `outlier: the run of the arm in block "4"`) || warned(got[1], "outlier") {
		t.Errorf("got %q and %q", got[0].Warnings, got[1].Warnings)
	}
}

// A warning names an arm that spreads more than the others, with the result of its own runs: the
// paired t interval, here of differences -3, -2, -1, 1, 2, 3, 4 and 4 ten times over.
func TestUnevenSpreadWarning(t *testing.T) {
	arms := map[string][]string{}
	for block, off := range []int{-30, -20, -10, 10, 20, 30, 40, 40} {
		calm := 100 + block%2
		arms["a"] = append(arms["a"], "100")
		arms["b"] = append(arms["b"], fmt.Sprint(100+off))
		arms["c"] = append(arms["c"], fmt.Sprint(calm))
		arms["d"] = append(arms["d"], fmt.Sprint(201-calm))
	}
	got := compare(t, options, rows("m", "%", arms))
	if !warned(got[0], "the spread of the arm") || !warned(got[0], "the two arms alone give -12.8 to +32.8") || warned(got[1], "spread") || warned(got[2], "spread") {
		t.Errorf("got %q, %q and %q", got[0].Warnings, got[1].Warnings, got[2].Warnings)
	}
}

// The results do not depend on the order of rows, nor on other metrics.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	var lines []string
	for block := range 25 {
		for _, arm := range []string{"a", "b", "arm-10", "arm-2"} {
			lines = append(lines, fmt.Sprintf("%d,%s,s,m,ms,%g\n", block, arm, 400*math.Exp(0.05*random.NormFloat64())))
		}
	}
	before := compare(t, options, lines...)
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	after := compare(t, options, append(lines, rows("z", "ms", map[string][]string{"a": base, "b": slower}))...)[:3]
	unlike := cmpopts.IgnoreFields(comparison.Comparison{}, "Adjusted", "Low", "High", "Confidence", "Verdict", "FurtherBlocks", "Warnings")
	if diff := cmp.Diff(before, after, cmpopts.IgnoreUnexported(comparison.Comparison{}), unlike); diff != "" {
		t.Error(diff)
	}
	if before[0].Arm != "arm-2" || before[1].Arm != "arm-10" {
		t.Errorf("arms are in the order %s, %s", before[0].Arm, before[1].Arm)
	}
}

func TestCompareRejectsInvalidTables(t *testing.T) {
	table, err := comparison.ReadCSV(strings.NewReader(comparison.Header + "\n1,b,s,m,ms,1\n1,c,s,m,ms,2\n"))
	expect.NoError(t, err)
	if _, err := table.Compare(options); err == nil || !strings.Contains(err.Error(), `baseline "a": no such arm; the arms are "b", "c"`) {
		t.Errorf("got %v", err)
	}
	for _, twin := range []string{"b", "x"} {
		with := comparison.Options{Baseline: "b", Twin: twin, ConfidencePercent: 95}
		if _, err := table.Compare(with); err == nil || !strings.Contains(err.Error(), "besides the baseline") {
			t.Errorf("twin %s: %v", twin, err)
		}
	}
}

func TestReadCSVRejectsInvalidInput(t *testing.T) {
	good := "1,a,s,m,ms,400\n"
	cases := map[string]struct{ text, want string }{
		"nothing":          {"", "the file is empty"},
		"no rows":          {comparison.Header + "\n", "no row follows the header"},
		"header":           {"arm,block,scenario,metric,unit,value\n", `line 1 is "arm,block,scenario,metric,unit,value"`},
		"more columns":     {"release," + comparison.Header + "\nr1," + good, "the header must be \"" + comparison.Header + "\"; use perflab convert --from table for other columns"},
		"few fields":       {comparison.Header + "\n" + good + "2,a,s,m,400\n", "line 3: 5 fields instead of 6"},
		"no number":        {comparison.Header + "\n" + good + "2,a,s,m,ms,fast\n", `line 3: the value "fast" is not a finite number`},
		"empty value":      {comparison.Header + "\n2,a,s,m,ms,\n", "line 2: the value is empty"},
		"not finite":       {comparison.Header + "\n2,a,s,m,ms,NaN\n", `line 2: the value "NaN" is not a finite number`},
		"infinite":         {comparison.Header + "\n2,a,s,m,ms,-Inf\n", "is not a finite number"},
		"too large":        {comparison.Header + "\n2,a,s,m,ms,1e999\n", "is not a finite number"},
		"no arm":           {comparison.Header + "\n2,,s,m,ms,1\n", "line 2: the arm is empty"},
		"twice":            {comparison.Header + "\n" + good + "2,a,s,m,ms,1\n" + good, "line 4: metric \"m\" of scenario \"s\" in block \"1\" and arm \"a\" is given twice, here and on line 2"},
		"units":            {comparison.Header + "\n" + good + "2,a,s,m,s,1\n", `has different units: "s" here, but "ms" before on line 2`},
		"ambiguous":        {comparison.Header + "\n2,a,s,m,ms,\"1,234\"\n", `line 2: the value "1,234" is ambiguous: it can be 1234 or 1.234`},
		"stray quote":      {comparison.Header + "\n" + good + "2,\"a,s,m,s,1\n", "line 3"},
		"all are told":     {comparison.Header + "\n,a,s,m,ms,1\n" + good + "2,a,s,m,ms,x\n", "line 4"},
		"a column shifted": {comparison.Header + "\n" + shifted(), "check the order of the columns"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := comparison.ReadCSV(strings.NewReader(tc.text))
			if !errors.Is(err, comparison.ErrRows) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// shifted has a value in the column of the block.
func shifted() string {
	var text strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&text, "%d.5,a,s,m,ms,1\n", i)
	}
	return text.String()
}

// Spreadsheets' formats of a table yield the same result.
func TestReadCSVAcceptsSpreadsheets(t *testing.T) {
	plain := comparison.Header + "\n1,a,\"s, t\",m,ms,1400.5\n1,b,\"s, t\",m,ms,1600\n"
	read := func(text string) comparison.Comparison {
		table, err := comparison.ReadCSV(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		compared, err := table.Compare(options)
		if err != nil || len(compared) != 1 {
			t.Fatalf("%d comparisons: %v", len(compared), err)
		}
		return compared[0]
	}
	want := read(plain)
	for name, text := range map[string]string{
		"header by hand":     strings.Replace(plain, comparison.Header, "Block, Arm, Scenario, Metric, Unit, Value", 1),
		"spaces":             strings.ReplaceAll(strings.ReplaceAll(plain, "\n", "\r\n"), "1600", " 1600 "),
		"semicolons":         strings.ReplaceAll(comparison.Header, ",", ";") + "\n1;a;s, t;m;ms;1400,5\n1;b;s, t;m;ms;1600\n",
		"tabs":               strings.ReplaceAll(comparison.Header, ",", "\t") + "\n1\ta\ts, t\tm\tms\t1’400.5\n1\tb\ts, t\tm\tms\t1’600\n",
		"thousands":          strings.ReplaceAll(strings.ReplaceAll(plain, "1400.5", `"1,400.5"`), "1600", "1 600"),
		"exponents":          strings.ReplaceAll(strings.ReplaceAll(plain, "1400.5", "1.4005E+03"), "1600", "1.6E+03"),
		"another name of ms": strings.ReplaceAll(plain, ",ms,1600", ",msec,1600"),
	} {
		if got := read(text); got.Unit != "ms" || got.BaselineCenter != want.BaselineCenter || got.ArmCenter != want.ArmCenter {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A pair equals the comparison with its second arm as the baseline, except for the p-value, which
// is adjusted for all primary comparisons.
func TestPairIsComparisonWithOtherBaseline(t *testing.T) {
	arms := map[string][]string{
		"a": base, "b": slower,
		"c": {"500", "511", "506", "495", "502", "499"}, "d": {"402", "409", "404", "397", "401", "400"},
	}
	text := rows("m", "ms", arms) + rows("other", "ms", arms)
	asked := options
	asked.Primary = func(metric string) bool { return metric == "m" }
	plain := compare(t, asked, text)
	asked.Pairs = []comparison.Pair{{Arm: "c", Against: "b"}, {Arm: "nobody", Against: "b"}}
	both := compare(t, asked, text)
	if len(both) != len(plain)+1 {
		t.Fatalf("%d comparisons, want one beside %d", len(both), len(plain))
	}
	pair := both[len(both)-1]
	asked.Pairs, asked.Baseline = nil, "b"
	all := compare(t, asked, text)
	at := slices.IndexFunc(all, func(c comparison.Comparison) bool { return c.Metric == "m" && c.Arm == "c" })
	same := cmp.Diff(all[at], pair, cmpopts.IgnoreUnexported(comparison.Comparison{}), cmpopts.IgnoreFields(comparison.Comparison{}, "Adjusted", "Low", "High", "Confidence", "Verdict", "Warnings", "FurtherBlocks"))
	if same != "" || pair.Verdict != verdict.Worse || pair.Baseline != "b" {
		t.Errorf("(-with another baseline +as a pair):\n%s", same)
	}
	if pair.Adjusted < pair.P {
		t.Errorf("p %v is adjusted to %v", pair.P, pair.Adjusted)
	}
	for i := range plain {
		alone, beside := plain[i], both[i]
		if beside.Primary && beside.Adjusted < alone.Adjusted || !beside.Primary && beside.Adjusted != alone.Adjusted {
			t.Errorf("%s of %s: adjusted p is %v beside a pair and %v without", alone.Metric, alone.Arm, beside.Adjusted, alone.Adjusted)
		}
	}
	// The most significant one is adjusted for all four instead of three.
	surest := slices.IndexFunc(plain, func(c comparison.Comparison) bool { return c.Primary && c.Arm == "c" })
	if got, want := both[surest].Adjusted, 4*plain[surest].P; math.Abs(got-want) > 1e-9*want {
		t.Errorf("adjusted p is %v beside a pair, want %v", got, want)
	}
}

// A pair of arms with different error rates has no verdict.
func TestPairWithDifferentErrorRatesHasNoVerdict(t *testing.T) {
	arms := map[string][]string{"a": base, "b": slower, "c": {"460", "471", "466", "455", "462", "459"}}
	errors := map[string][]string{"a": {"0", "0", "0", "0", "0", "0"}, "b": {"0", "0", "0", "0", "0", "0"}, "c": {"9", "9", "8", "9", "9", "9"}}
	asked := options
	asked.Primary = func(metric string) bool { return metric == "cico/Check-In/average" }
	asked.Pairs = []comparison.Pair{{Arm: "c", Against: "b"}}
	found := compare(t, asked, rows("cico/Check-In/average", "ms", arms), rows("cico/Check-In/errors", "%", errors))
	pair := found[len(found)-1]
	if pair.Baseline != "b" || pair.Verdict != verdict.None || !warned(pair, "the error shares") {
		t.Errorf("the pair is %+v", pair)
	}
	for _, c := range found {
		if c.Baseline != "a" && !c.Primary {
			t.Errorf("%s of %s against %s is told, and decides nothing", c.Metric, c.Arm, c.Baseline)
		}
	}
}
