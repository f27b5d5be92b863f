// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
)

func TestRunNeedsOneExperiment(t *testing.T) {
	const two = "apiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: a}\n---\napiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: b}\n"
	for _, test := range map[string]struct {
		files, says string
		code        int
	}{
		"none": {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "the files have no PerfExperiment", exit.Invalid},
		"two":  {two, `the files have "a" and "b"`, exit.Failed},
	} {
		perflab(t, test.files, "run", "-f", "-").ends(test.code).warns(test.says)
	}
}

func TestFailOnAcceptsOnlyWorse(t *testing.T) {
	perflab(t, "", "status", "a", "--fail-on", "better").ends(exit.Failed).warns(`use "worse"`)
}
