// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/payload"
)

func TestReadLogFindsLines(t *testing.T) {
	told := []payload.LogLine{
		payload.NewLogLine("info", "hello"),
		payload.NewLogLine("error", "Error: \"no\" <item>\n\tat file:///test.js:2\n"),
	}
	var log strings.Builder
	log.WriteString("time=\"2026-03-01T12:00:00Z\" level=info msg=\"perflab-log {\\\"level\\\":\\\"error\\\"}\"\n")
	for _, one := range told {
		line, err := one.Line()
		if err != nil || strings.Count(line, "\n") != 1 || !payload.IsLog(line) {
			t.Fatalf("line %q, error %v, want one line", line, err)
		}
		log.WriteString("2026-03-01T12:00:00Z stdout F " + line)
	}
	log.WriteString("perflab-log {half\n")
	if got := payload.ReadLog(strings.NewReader(log.String())); !slices.Equal(got, told) {
		t.Errorf("read %+v, want %+v", got, told)
	}
	if got := told[1].Text; got != `Error: "no" <item> at file:///test.js:2` {
		t.Errorf("%q is not one line", got)
	}
}

func TestLogLinesAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 2000)
	lines := []payload.LogLine{payload.NewLogLine("error", "the cause "+long)}
	for n := range 100 {
		lines = append(lines, payload.NewLogLine("info", fmt.Sprintf("%d %s", n, long[:n*5])))
	}
	for name, all := range map[string][]payload.LogLine{
		"many":           lines,
		"long ones":      slices.Repeat([]payload.LogLine{payload.NewLogLine("info", long)}, 30),
		"long, an error": append(lines[:1:1], slices.Repeat([]payload.LogLine{payload.NewLogLine("info", long)}, 30)...),
	} {
		kept, size := payload.Bounded(all), 0
		for _, line := range kept {
			size += len(line.Text)
		}
		if len(kept) == 0 || len(kept) > payload.MaxLogLines || size > payload.MaxLogBytes {
			t.Errorf("%s: %d lines of %d bytes are kept", name, len(kept), size)
		}
		if all[0].IsError() && kept[0] != all[0] {
			t.Errorf("%s: the only error is lost", name)
		}
		if kept[len(kept)-1] != all[len(all)-1] {
			t.Errorf("%s: the last line is lost", name)
		}
	}
}
