// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"errors"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/inference/audit"
)

const (
	pageHead = "# heap\n\n## Summary\n\n%SENTENCE%\n\n## Comparison\n\n### Scenario cico-8\n\n**Primary metrics**\n\n| Metric | Arm | xmx (baseline) | This arm | Unit | Delta | Interval |\n| --- | --- | ---: | ---: | --- | ---: | --- |\n"
	pageRow  = "| `cico/Check-In/average` | `maxram` | 425.2 | 455.8 | ms | +7.2\u00a0% | +5.5 to +8.9 |\n"
	sentence = "- **Worse:** Duration of import create under cico-8: xmx has 61.8\u00a0s (00:01:02), maxram has 29.3\u00a0s (00:00:29): −53\u00a0% of xmx (95\u00a0% interval −60 to −46)."
)

func readPage(t *testing.T, said, rows string) []audit.Row {
	t.Helper()
	read, err := audit.ReadMarkdown(strings.NewReader(strings.Replace(pageHead, "%SENTENCE%", said, 1) + rows))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestMarkdown(t *testing.T) {
	for name, tc := range map[string]struct {
		sentence, rows string
		want           []audit.Outcome
	}{
		"both":             {sentence, pageRow, []audit.Outcome{audit.Follows, audit.Follows}},
		"sentence":         {strings.Replace(sentence, "−53", "+53", 1), "", []audit.Outcome{audit.Sign}},
		"row":              {"", strings.Replace(pageRow, "+7.2", "+6.7", 1), []audit.Outcome{audit.Base}},
		"too few digits":   {"", strings.NewReplacer("425.2", "0.1", "455.8", "0.1").Replace(pageRow), []audit.Outcome{audit.Coarse}},
		"own digits":       {"", pageRow + strings.NewReplacer("425.2", "4.25", "455.8", "4.36", "+7.2", "+3", "maxram", "small").Replace(pageRow), []audit.Outcome{audit.Follows, audit.Follows}},
		"points":           {"", "| `cico/errors` | `maxram` | 0.5 | 0.7 | % | +0.2\u00a0points | – |\n", []audit.Outcome{audit.Follows}},
		"adjusted":         {"", strings.Replace(pageRow, "+7.2\u00a0%", "+40\u00a0%\u00a0†", 1), []audit.Outcome{audit.Adjusted}},
		"adjusted, told":   {strings.Replace(sentence, "−53\u00a0% of xmx", "−50\u00a0% of xmx, allowing for blocks that lack a run", 1), "", []audit.Outcome{audit.Adjusted}},
		"no run":           {"", strings.Replace(pageRow, "425.2", "–", 1), nil},
		"no delta":         {"", strings.Replace(pageRow, "+7.2\u00a0%", "–", 1), nil},
		"letters of names": {"", strings.Replace(pageRow, "`maxram`", "max\\_ram \\| 1", 1), []audit.Outcome{audit.Follows}},
	} {
		found := audit.Check(readPage(t, tc.sentence, tc.rows))
		if len(found) != len(tc.want) {
			t.Errorf("%s: %d findings, want %d", name, len(found), len(tc.want))
			continue
		}
		for i, want := range tc.want {
			if found[i].Outcome != want {
				t.Errorf("%s: %s, want %s: %+v", name, found[i].Outcome, want, found[i])
			}
		}
	}
	if _, err := audit.ReadMarkdown(strings.NewReader("no title\n")); !errors.Is(err, audit.ErrRows) {
		t.Errorf("a text without a title: %v", err)
	}
}

// The values next to the delta are those of the runs in complete blocks.
func TestRuns(t *testing.T) {
	const head = "block,arm,scenario,metric,unit,value\n"
	runs := func(metric, unit string, values ...string) string {
		text := ""
		for i, value := range values {
			text += "12"[i/2:i/2+1] + "," + []string{"xmx", "maxram"}[i%2] + ",cico-8," + metric + "," + unit + "," + value + "\n"
		}
		return text
	}
	of := func(metric, values, delta string) string {
		return "| `" + metric + "` | `maxram` | " + values + " | " + delta + " | – |\n"
	}
	for name, tc := range map[string]struct {
		row, runs string
		want      []audit.Outcome
	}{
		"geometric":        {of("a", "6.0 | 12.0 | ms", "+100\u00a0%"), runs("a", "ms", "4", "8", "9", "18"), []audit.Outcome{audit.Follows, audit.Follows}},
		"arithmetic":       {of("a", "6.5 | 13.0 | ms", "+100\u00a0%"), runs("a", "ms", "4", "8", "9", "18"), []audit.Outcome{audit.Runs, audit.Runs}},
		"shares":           {of("a", "6.5 | 13.0 | %", "+6.5\u00a0points"), runs("a", "%", "4", "8", "9", "18"), []audit.Outcome{audit.Follows, audit.Follows}},
		"zeros":            {of("a", "4.5 | 13.0 | ms", "+8.5\u00a0ms"), runs("a", "ms", "0", "8", "9", "18"), []audit.Outcome{audit.Follows, audit.Follows}},
		"incomplete block": {of("a", "4 | 8 | ms", "+100\u00a0%"), runs("a", "ms", "4", "8", "9"), []audit.Outcome{audit.Follows, audit.Follows}},
		"none":             {of("a", "4 | 8 | ms", "+100\u00a0%"), runs("b", "ms", "4", "8"), []audit.Outcome{audit.Unchecked, audit.Unchecked}},
	} {
		measured, err := audit.ReadRuns(strings.NewReader(head + tc.runs))
		if err != nil {
			t.Fatal(err)
		}
		found := audit.CheckRuns(readPage(t, "", tc.row), measured)
		if len(found) != 2 || found[0].Outcome != tc.want[0] || found[1].Outcome != tc.want[1] {
			t.Errorf("%s: %+v, want %v", name, found, tc.want)
		}
	}
	for _, broken := range []string{"block,arm\n", head + "1,xmx,s,m,ms,fast\n", head + "1\n"} {
		if _, err := audit.ReadRuns(strings.NewReader(broken)); !errors.Is(err, audit.ErrRows) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

func FuzzReadMarkdown(f *testing.F) {
	f.Add(strings.Replace(pageHead, "%SENTENCE%", sentence, 1) + pageRow)
	f.Add("# a\n| (baseline) | b | Delta |\n| 1 | 2 | +100 % † |\n")
	f.Fuzz(func(_ *testing.T, text string) {
		if rows, err := audit.ReadMarkdown(strings.NewReader(text)); err == nil {
			audit.Check(rows)
		}
	})
}
