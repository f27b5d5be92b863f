// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
)

func TestRunFromRefusesOthers(t *testing.T) {
	for _, from := range []string{"nightly", "schedule/", "cronjob/nightly"} {
		perflab(t, "", "run", "--from", from).ends(exit.Failed).warns("must be schedule/NAME, for example schedule/nightly")
	}
}
