// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"testing"

	"perflab.dev/perflab/internal/environment"
)

func TestNumbersInSentences(t *testing.T) {
	for want, got := range map[string]string{
		"1 broker":         environment.Counted(1, "broker"),
		"0 brokers":        environment.Counted(int32(0), "broker"),
		"2 brokers":        environment.Counted(int64(2), "broker"),
		"is":               environment.Verb(1, "is", "are"),
		"are":              environment.Verb(0, "is", "are"),
		"0 of 1 node is":   environment.Partly(0, 1, "node"),
		"1 of 1 node is":   environment.Partly(1, 1, "node"),
		"1 of 2 nodes is":  environment.Partly(1, 2, "node"),
		"0 of 2 nodes are": environment.Partly(0, 2, "node"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
