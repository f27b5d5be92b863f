// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// row returns a row of a JTL, with its start and duration in milliseconds.
func row(thread, label string, start, took int) string {
	return fmt.Sprintf("%d,%d,%s,200,OK,%s,true\n", 1735900000000+start, took, label, thread)
}

// Sub-results in rows of their own are part of the sample's time and don't count. Rows with only a
// similar name count.
func TestSubResults(t *testing.T) {
	redirect := []string{row("U 1-1", "login", 0, 100), row("U 1-1", "login-0", 0, 40), row("U 1-1", "login-1", 40, 60)}
	reversed := slices.Clone(redirect)
	slices.Reverse(reversed)
	for name, tc := range map[string]struct {
		rows []string
		want map[string]string
	}{
		"redirect":            {redirect, map[string]string{"cico/login/samples": "1 1 of 0", "cico/login-0/samples": "", "cico/login-1/samples": "", "cico/requestsPerSecond": "10 1/s of 1"}},
		"in another order":    {reversed, map[string]string{"cico/login/samples": "1 1 of 0", "cico/login-0/samples": "", "cico/requestsPerSecond": "10 1/s of 1"}},
		"one after the other": {append(slices.Clone(redirect), row("U 1-1", "login", 100, 50), row("U 1-1", "login-0", 100, 50)), map[string]string{"cico/login/samples": "2 1 of 0", "cico/login-0/samples": ""}},
		"of two users": {
			[]string{redirect[0], row("U 1-2", "login", 10, 100), redirect[1], row("U 1-2", "login-0", 10, 30), redirect[2], row("U 1-2", "login-1", 40, 70)},
			map[string]string{"cico/login/samples": "2 1 of 0", "cico/login-0/samples": "", "cico/login-1/samples": ""},
		},
		"of a sub-result":         {append(slices.Clone(redirect), row("U 1-1", "login-1-0", 40, 20), row("U 1-1", "login-1-1", 60, 40)), map[string]string{"cico/login/samples": "1 1 of 0", "cico/login-1-0/samples": ""}},
		"that took no time":       {append(slices.Clone(redirect), row("U 1-1", "login-2", 100, 0)), map[string]string{"cico/login-2/samples": ""}},
		"a step of its own":       {[]string{row("U 1-1", "login", 0, 100), row("U 1-1", "login-0", 100, 40)}, map[string]string{"cico/login-0/samples": "1 1 of 0"}},
		"of another user":         {[]string{row("U 1-1", "login", 0, 100), row("U 1-2", "login-0", 10, 40)}, map[string]string{"cico/login-0/samples": "1 1 of 0"}},
		"numbered by a recorder":  {[]string{row("U 1-1", "/", 0, 100), row("U 1-1", "/-308", 10, 20), row("U 1-1", "/orders-817", 100, 50)}, map[string]string{"cico//-308/samples": "1 1 of 0", "cico//orders-817/samples": "1 1 of 0"}},
		"numbered from elsewhere": {[]string{row("U 1-1", "item", 0, 100), row("U 1-1", "item-2", 0, 50)}, map[string]string{"cico/item-2/samples": "1 1 of 0"}},
		"without the sample":      {[]string{row("U 1-1", "login-0", 0, 40), row("U 1-1", "login-1", 40, 60)}, map[string]string{"cico/login-0/samples": "1 1 of 0", "cico/login-1/samples": "1 1 of 0"}},
		"without a name":          {[]string{row("U 1-1", "", 0, 40), row("U 1-1", "-0", 0, 40)}, map[string]string{"cico/-0/samples": "1 1 of 0"}},
	} {
		t.Run(name, func(t *testing.T) { wantValues(t, must(t, "jmeter", header+strings.Join(tc.rows, "")), tc.want) })
	}
	wantNote(t, must(t, "jmeter", header+strings.Join(redirect, "")), "2 sub-results omitted, such as login-0 of login")
}

// A sub-result with its own name looks like another user's request with the same thread name,
// so it counts, with a note.
func TestSubResultsWithOtherNames(t *testing.T) {
	got := must(t, "jmeter", header+row("U 1-1", "login", 0, 100)+row("U 1-1", "http://shop/a", 0, 40)+row("U 1-1", "http://shop/b", 40, 60))
	wantValues(t, got, map[string]string{"cico/login/samples": "1 1 of 0", "cico/http://shop/a/samples": "1 1 of 0"})
	wantNote(t, got, "http://shop/a is within the time of login on the same thread, and both are counted: if it is a sub-result, set jmeter.save.saveservice.subresults=false in JMeter")
	// The parts of a transaction are within its time, in any order.
	if got := must(t, "jmeter", jtl); len(got.Notes) > 0 {
		t.Errorf("the notes are %q", got.Notes)
	}
}

// Rows without threads are parts of the previous sample.
func TestSubResultsWithoutThreads(t *testing.T) {
	text := "timeStamp,elapsed,label,success\n1735900000000,100,login,true\n1735900000000,40,login-0,true\n1735900000040,60,login-1,true\n1735900000050,100,login,true\n1735900000050,100,login-0,true\n"
	wantValues(t, must(t, "jmeter", text), map[string]string{"cico/login/samples": "2 1 of 0", "cico/login-0/samples": "", "cico/login-1/samples": ""})
}

// With any number of concurrent users, a sample is held back only until the next one of its thread.
func TestSubResultsUseLittleMemory(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("timeStamp,elapsed,label,success\n")
	for i := range 20_000 {
		fmt.Fprintf(&rows, "%d,1000,item-%d,true\n", 1735900000000+i, i%50)
	}
	if got, err := measure("jmeter", rows.String(), ""); err != nil || got.Samples != 20_000 {
		t.Errorf("%v: %d samples", err, got.Samples)
	}
}

// Servers' responses contain characters that XML does not allow.
func TestHeadersAreCaseInsensitive(t *testing.T) {
	text := strings.ToUpper("timeStamp,elapsed,label,success\n") + "1735900000000,10,a,true\n"
	wantValues(t, must(t, "jmeter", text), map[string]string{"cico/a/average": "10 ms of 1"})
}

func TestIllegalCharactersInXML(t *testing.T) {
	const sample = `<testResults><httpSample t="10" ts="1735900000000" s="true" lb="a%s" rm="%s"><responseData>%s</responseData></httpSample></testResults>`
	for _, illegal := range []string{"&#x1;", "&#0;", "&#x1F;", "&#xFFFE;", "&#xD800;", "&#00000000000001;", "\x01", "\x00", "\ufffe", strings.Repeat("&#x2;", 2000)} {
		wantValues(t, must(t, "jmeter", fmt.Sprintf(sample, "", illegal, illegal)), map[string]string{"cico/a/average": "10 ms of 1"})
	}
	wantValues(t, must(t, "jmeter", fmt.Sprintf(sample, "&#xe9;&amp;&#233;", "", "")), map[string]string{"cico/aé&é/average": "10 ms of 1"})
	for _, written := range []string{"&", "&&", "& ", "&b;", "&amp", "&#x26"} {
		wantValues(t, must(t, "jmeter", fmt.Sprintf(sample, written+"é", written, "<![CDATA["+written+"]]>")), map[string]string{"cico/a" + written + "é/average": "10 ms of 1"})
	}
}
