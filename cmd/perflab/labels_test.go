// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// labels are arbitrary names of transactions: the second begins like the first.
var labels = [][2]string{
	{"orders", "order items"},
	{"GET /orders", "GET /orders/items"},
	{"/orders", "/orders/items"},
	{"orders", "orders/items"},
	{"https://shop.example/orders", "https://shop.example/orders/items?size=5"},
	{"orders", "orders@alone"},
	{`C:\orders`, `C:\orders\items`},
	{"Ä/Ö", "Ä/Ö/average"},
}

// jtl is JMeter's output for an arm in a block. Arm b is slower by a fifth, twice that
// in the slowest tenth, and its first label fails.
func jtl(t *testing.T, folder, arm string, block int, labels [2]string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("timeStamp,elapsed,label,responseCode,threadName,success\n")
	for sample := range 100 {
		for i, label := range labels {
			took := 100 + block + sample%10
			if arm == "b" {
				took = took * 12 / 10
			}
			if arm == "b" && sample%10 == 0 {
				took *= 2
			}
			fmt.Fprintf(&text, "%d,%d,%s,200,t,%t\n", 1735900000000+1000*(100*block+sample)+i, took, csvCell(label), arm != "b" || i > 0 || sample%5 > 0)
		}
	}
	path := filepath.Join(folder, fmt.Sprintf("%s%d.jtl", arm, block))
	expect.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

func csvCell(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// A transaction's name does not affect its window, statistic or unit: errors of one
// don't prevent the comparison of another, and each is a guardrail.
func TestConvertKeepsLabels(t *testing.T) {
	for _, pair := range labels {
		t.Run(pair[1], func(t *testing.T) {
			folder := t.TempDir()
			arguments := []string{"convert", "--from", "jmeter", "--name", "o", "--load", "shop"}
			for block := range 6 {
				arguments = append(arguments, "--arm", "a="+jtl(t, folder, "a", block, pair), "--arm", "b="+jtl(t, folder, "b", block, pair))
			}
			made := perflab(t, "", arguments...).ends(0).out
			page := strings.ReplaceAll(perflab(t, made, "report", "-f", "-", "-o", "md").ends(0).out, `\\`, `\`)
			read, declared, _ := strings.Cut(page, "kind: PerfExperiment")
			_, guarded, _ := strings.Cut(read, "Guardrail metrics (")
			expect.Contains(t, read, []string{"the error shares (shop/" + pair[0] + "/errors: "}, "the page")
			expect.Contains(t, guarded, []string{"shop/" + pair[0] + "/errors", "shop/" + pair[1] + "/p95"}, "what is guarded")
			if strings.Contains(read, `\/`) || declared == "" {
				t.Errorf("the page shows a backslash that no label has")
			}
			rows := perflab(t, made, "report", "-f", "-", "-o", "csv").ends(0).out
			written := map[string]string{"page.md": page, "rows.csv": rows}
			for name, text := range written {
				expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
			}
			perflab(t, "", "audit", "--fail", filepath.Join(folder, "page.md"), filepath.Join(folder, "rows.csv")).ends(0).shows(" 0 unchecked")
			verdicts := verdictsOf(t, rows)
			for i, want := range []string{"", "Worse"} {
				expect.Equal(t, want, verdicts["shop/"+pair[i]+"/average"], "the verdict on %q", pair[i])
			}
		})
	}
}

// verdictsOf returns the verdicts of analyze, by metric, with the original labels.
func verdictsOf(t *testing.T, rows string) map[string]string {
	t.Helper()
	var answer struct {
		Comparisons []struct {
			Metric, Verdict, Of, Statistic, Window string
			Transaction                            []string
		}
	}
	got := perflab(t, rows, "analyze", "--baseline", "a", "-o", "json").ends(0)
	expect.NoError(t, json.Unmarshal([]byte(got.out), &answer))
	verdicts := map[string]string{}
	for _, one := range answer.Comparisons {
		whole := slices.Concat([]string{one.Of}, one.Transaction, []string{one.Statistic})
		expect.Equal(t, one.Metric, strings.Join(whole, "/"), "the identity")
		if len(one.Transaction) > 1 || one.Window != "" {
			t.Errorf("%s is within %q in the window %q", one.Metric, one.Transaction, one.Window)
		}
		verdicts[one.Metric] = one.Verdict
	}
	return verdicts
}
