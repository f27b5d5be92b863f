// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"fmt"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// Each exit code has one meaning.
func TestExitCodesAreUnique(t *testing.T) {
	help := Help()
	for code, one := range exits {
		if one.code != code {
			t.Errorf("code %d stands at place %d", one.code, code)
		}
		if !strings.Contains(help, fmt.Sprintf("  %d  %s\n", one.code, one.meaning)) {
			t.Errorf("the help lacks code %d", code)
		}
		for _, err := range one.errors {
			expect.Equal(t, code, Code(fmt.Errorf("about it: %w", err)), "%v ends with", err)
		}
	}
}
