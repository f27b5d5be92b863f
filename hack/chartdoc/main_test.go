// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/testing/expect"
)

// The README has the values and their comments.
func TestChartReadme(t *testing.T) {
	want, err := readme("../../charts/perflab")
	expect.NoError(t, err)
	page, err := os.ReadFile("../../charts/perflab/README.md")
	expect.NoError(t, err)
	if difference := cmp.Diff(want, string(page)); difference != "" {
		t.Errorf("charts/perflab/README.md is not current (- lacks, + has too much): run make generate\n%s", difference)
	}
}

func TestValues(t *testing.T) {
	got, err := values([]byte(`
# The file.

# A plain value
# in two lines.
plain: ""
# A group.
group:
  # Inside.
  inner: [1]
# Without comments inside, a value.
whole:
  a: {b: 1}
`))
	expect.NoError(t, err)
	expect.Equal(t, []value{
		{"plain", "A plain value in two lines.", `""`},
		{"group", "A group.", ""},
		{"group.inner", "Inside.", "[1]"},
		{"whole", "Without comments inside, a value.", `{"a":{"b":1}}`},
	}, got, "values")
}

func TestValuesNeedComments(t *testing.T) {
	_, err := values([]byte("a: 1\nb:\n  # Has one.\n  c: 1\n  d: 1\n"))
	for _, want := range []string{"values.yaml:1: a has no comment", "values.yaml:5: b.d has no comment"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
