// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"strings"
	"testing"
)

// Different names stay different, even if a metric's name can't contain the difference, or if it
// comes late.
func TestDistinctNames(t *testing.T) {
	long := "http://shop/" + strings.Repeat("items/", 50)
	for name, pair := range map[string][2]string{
		"late":                  {long + "a", long + "b"},
		"late, and of a length": {long + "a", long + "ab"},
		"control characters":    {"a\x01b", "a\x02b"},
		"spaces":                {"a", " a"},
		"none":                  {" ", "(no name)"},
	} {
		t.Run(name, func(t *testing.T) {
			var jtl, k6 strings.Builder
			jtl.WriteString(header)
			for i, label := range pair {
				fmt.Fprintf(&jtl, "1735900000000,%d,%q,200,OK,a,true\n", 100*(i+1), label)
				k6.WriteString(point("http_req_duration", 1, float64(100*(i+1)), fmt.Sprintf(`"name":%s`, quoted(label))))
			}
			for format, text := range map[string]string{"jmeter": strings.ReplaceAll(strings.ReplaceAll(jtl.String(), `\x01`, "\x01"), `\x02`, "\x02"), "k6": k6.String()} {
				got := must(t, format, text)
				averages := map[string]bool{}
				for metric, value := range told(got) {
					if strings.HasSuffix(metric, "/average") {
						averages[value] = true
					}
				}
				if len(averages) != 2 {
					t.Errorf("%s: it holds %v", format, told(got))
				}
			}
		})
	}
}

// A long name is cut to the same name in every file, which is unique.
func TestLongNamesAreStable(t *testing.T) {
	nameIn := func(label string) string {
		got := must(t, "jmeter", header+fmt.Sprintf("1735900000000,100,%s,200,OK,a,true\n", label))
		for _, one := range got.Observations {
			if name, isAverage := strings.CutSuffix(one.Metric, "/average"); isAverage {
				return name
			}
		}
		return ""
	}
	long := strings.Repeat("é", 150)
	if one, again, other := nameIn(long+"a"), nameIn(long+"a"), nameIn(long+"b"); one != again || one == other || len(one) > 220 {
		t.Errorf("the names are %q, %q and %q", one, again, other)
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\x01", `\u0001`, "\x02", `\u0002`).Replace(text) + `"`
}

// Groups and requests have different names, whatever these contain.
func TestGatlingNamesAreDistinct(t *testing.T) {
	got := must(t, "gatling", "RUN\tshop.Checkout\tcheckout\t1735900000000\t \t3.9.5\n"+
		"REQUEST\ta,b\tc\t1735900000000\t1735900000100\tOK\t \nREQUEST\ta\tb/c\t1735900000000\t1735900000200\tOK\t \nGROUP\ta\t1735900000000\t1735900000300\t200\tOK\nREQUEST\t\ta\t1735900000000\t1735900000400\tOK\t \n")
	if found := told(got); strings.Count(fmt.Sprint(found), "/average") != 4 {
		t.Errorf("it holds %v", found)
	}
}
