// SPDX-License-Identifier: Apache-2.0

package expect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// told is a test that records its failures.
type told struct {
	testing.TB
	failures []string
}

func (t *told) Helper() {}

func (t *told) Errorf(format string, values ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, values...))
}

func (t *told) Fatalf(format string, values ...any) { t.Errorf(format, values...) }

func TestFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		check func(testing.TB)
		// want are parts of the only failure; none: there is none.
		want []string
	}{
		"no error":         {check: func(t testing.TB) { expect.NoError(t, nil, "reading %s", "x") }},
		"an error":         {func(t testing.TB) { expect.NoError(t, errors.New("away")) }, []string{"away"}},
		"an error of what": {func(t testing.TB) { expect.NoError(t, errors.New("away"), "reading %s", "x") }, []string{"reading x: away"}},
		"equal":            {check: func(t testing.TB) { expect.Equal(t, []int{1}, []int{1}) }},
		"different":        {func(t testing.TB) { expect.Equal(t, 17, 42, "run %d", 3) }, []string{"run 3: (-want +got)", "17", "42"}},
		"all parts":        {check: func(t testing.TB) { expect.Contains(t, "a text", []string{"a", "text"}) }},
		"a part is missing": {
			func(t testing.TB) { expect.Contains(t, "a text", []string{"a", "book"}, "the page") },
			[]string{`the page: it does not contain "book"`, "a text"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			noted := &told{}
			tc.check(noted)
			if len(noted.failures) != min(len(tc.want), 1) {
				t.Fatalf("it fails with %q", noted.failures)
			}
			for _, part := range tc.want {
				if !strings.Contains(noted.failures[0], part) {
					t.Errorf("it fails with %q, want %q in it", noted.failures[0], part)
				}
			}
		})
	}
}
