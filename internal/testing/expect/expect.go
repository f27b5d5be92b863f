// SPDX-License-Identifier: Apache-2.0

// Package expect fails a test if a value is not the expected one. The optional last
// arguments of each function describe the value: a format and its values.
package expect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// NoError ends the test if there is an error.
func NoError(tb testing.TB, err error, what ...any) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("%s%v", prefix(what), err)
	}
}

// Equal fails the test with the difference between two values, if there is one.
func Equal[V any](tb testing.TB, want, got V, what ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s(-want +got)\n%s", prefix(what), diff)
	}
}

// Contains fails the test for each part that a text lacks.
func Contains(tb testing.TB, text string, parts []string, what ...any) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%sit does not contain %q:\n%.4000s", prefix(what), part, text)
		}
	}
}

func prefix(what []any) string {
	if len(what) == 0 {
		return ""
	}
	return fmt.Sprintf(fmt.Sprint(what[0]), what[1:]...) + ": "
}
