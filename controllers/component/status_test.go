// SPDX-License-Identifier: Apache-2.0

package component

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// A status has one warning of what was left out of it, whatever its wording was before.
func TestRecordTruncation(t *testing.T) {
	full := strings.Split(strings.Repeat("w", MaxWarnings), "")
	for name, test := range map[string]struct {
		warnings  []string
		truncated string
		leftOut   string
		want      []string
		then      string
	}{
		"all fits":             {warnings: []string{"a"}, want: []string{"a"}},
		"the first time":       {warnings: []string{"a"}, leftOut: "2 nodes", want: []string{"a", "2 nodes"}, then: "2 nodes"},
		"again":                {warnings: []string{"a", "two nodes", "b"}, truncated: "two nodes", leftOut: "3 nodes", want: []string{"a", "b", "3 nodes"}, then: "3 nodes"},
		"it fits once cut":     {warnings: []string{"a", "2 nodes"}, truncated: "2 nodes", want: []string{"a", "2 nodes"}, then: "2 nodes"},
		"of an earlier status": {warnings: []string{"a", "2 nodes"}, leftOut: "2 nodes", want: []string{"a", "2 nodes"}, then: "2 nodes"},
		"a full list":          {warnings: full, leftOut: "2 nodes", want: append(full[:MaxWarnings-1:MaxWarnings-1], "2 nodes"), then: "2 nodes"},
	} {
		recordTruncation(&test.warnings, &test.truncated, test.leftOut)
		expect.Equal(t, test.want, test.warnings, "warnings: %s", name)
		expect.Equal(t, test.then, test.truncated, "field: %s", name)
	}
}
