// SPDX-License-Identifier: Apache-2.0

package component_test

import (
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/testing/expect"
)

// The documentation of conditions lists those of all components.
func TestConditionsOfComponentsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reasons.md")
	expect.NoError(t, err)
	for _, one := range component.All {
		if condition := one.Describe().Condition; !strings.Contains(string(page), "`"+condition+"`") {
			t.Errorf("docs/reasons.md lacks the condition %s", condition)
		}
	}
}

// Each condition belongs to one component.
func TestComponentsAreToldApart(t *testing.T) {
	known := map[string]bool{}
	for _, one := range component.All {
		about := one.Describe()
		if known[about.Condition] || known[about.Name] {
			t.Errorf("%q and %s are not told apart from others", about.Name, about.Condition)
		}
		known[about.Condition], known[about.Name] = true, true
	}
}
