// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// Every command that reads files enforces the memory limit while reading, and
// names the flag that raises it.
func TestInputLimitsMemory(t *testing.T) {
	tooLong := func(begin, part string) string { return begin + strings.Repeat(part, 1<<20/len(part)) }
	observations := []string{"block,arm,scenario,metric,unit,value"}
	for n := range 5_000 {
		observations = append(observations, fmt.Sprintf("1,a,s,m%d,ms,1", n))
	}
	files := map[string]string{
		"a.csv":     strings.Join(observations, "\n"),
		"b.csv":     tooLong("report,table,configuration,scenario,metric,value,unit,kind\n", "r,t,c,s,m,1,ms,measured\n"),
		"a.yaml":    tooLong("apiVersion: perflab.dev/v1alpha1\nkind: PerfRun\nspec: {a: [", "{}, "),
		"b.yaml":    tooLong("apiVersion: perflab.dev/v1alpha1\nkind: PerfRun\nspec:\n", "- a\n"),
		"a.json":    tooLong(`{"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfRun", "spec": {"a": [0`, ",0"),
		"small.csv": "block,arm,scenario,metric,unit,value\n1,a,s,m,ms,1\n1,b,s,m,ms,1\n",
	}
	folder := t.TempDir()
	for name, text := range files {
		expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for name, arguments := range map[string][]string{
		"analyze":                   {"analyze", "--baseline", "a", "a.csv"},
		"audit":                     {"audit", "b.csv"},
		"report":                    {"report", "-f", "a.yaml"},
		"report of a block of YAML": {"report", "-f", "b.yaml"},
		"import":                    {"import", "-f", "a.json"},
		"compare":                   {"compare", "a.yaml", "a.json"},
		"plan":                      {"plan", "-f", "a.yaml"},
		"run":                       {"run", "-f", "a.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, argument := range arguments {
				if _, isFile := files[argument]; isFile {
					arguments[i] = filepath.Join(folder, argument)
				}
			}
			var out, problems bytes.Buffer
			code := execute(t.Context(), append(arguments, "--max-memory", "1Mi"), nil, &out, &problems)
			if said := problems.String(); code == 0 || !strings.Contains(said, "reading it takes more than 1Mi of memory") || !strings.Contains(said, "--max-memory") {
				t.Errorf("exit %d, %s%s", code, out.String(), said)
			}
		})
	}
	t.Run("enough", func(t *testing.T) {
		var out, problems bytes.Buffer
		if code := execute(t.Context(), []string{"analyze", "--baseline", "a", "--max-memory", "1Mi", filepath.Join(folder, "small.csv")}, nil, &out, &problems); code != 0 {
			t.Errorf("exit %d: %s", code, problems.String())
		}
	})
	t.Run("no amount", func(t *testing.T) {
		var out, problems bytes.Buffer
		if code := execute(t.Context(), []string{"audit", "--max-memory", "much", filepath.Join(folder, "b.csv")}, nil, &out, &problems); code != 1 || !strings.Contains(problems.String(), `--max-memory "much" must be an amount of memory above 0, for example 4Gi`) {
			t.Errorf("exit %d: %s", code, problems.String())
		}
	})
}

// YAML aliases can't bypass the limit.
func TestInputLimitsAliases(t *testing.T) {
	text := "apiVersion: perflab.dev/v1alpha1\nkind: PerfRun\nspec:\n  a: &a [x, x, x, x, x, x, x, x, x]\n"
	for _, level := range []string{"b a", "c b", "d c", "e d", "f e", "g f", "h g", "i h", "j i"} {
		name, of, _ := strings.Cut(level, " ")
		text += "  " + name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+of+", ", 9), ", ") + "]\n"
	}
	var out, problems bytes.Buffer
	if code := execute(t.Context(), []string{"report", "-f", "-"}, strings.NewReader(text), &out, &problems); code != 2 || !strings.Contains(problems.String(), "excessive aliasing") {
		t.Errorf("exit %d: %s", code, problems.String())
	}
}
