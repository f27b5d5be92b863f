// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// The list equals that of k6 run, which a test in k6/ verifies.
func TestFlagsMatchK6(t *testing.T) {
	text, err := os.ReadFile("../../../k6/internal/options/testdata/flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	newFlags().VisitAll(func(flag *pflag.Flag) {
		line := flag.Name
		if flag.Shorthand != "" {
			line += " -" + flag.Shorthand
		}
		if flag.Value.Type() == "bool" {
			line += " switch"
		}
		known = append(known, line)
	})
	slices.Sort(known)
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(text)), "\n"), known); diff != "" {
		t.Errorf("flags (-k6 +known):\n%s", diff)
	}
}
