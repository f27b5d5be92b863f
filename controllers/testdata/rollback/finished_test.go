// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"os"
	"path/filepath"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
)

// This file is put among the tests of an earlier commit, whose operator finishes what
// that of a later one has left half done (TestRollbackDuringExperiments). It uses only what
// that commit has.

func TestExperimentsAreFinished(t *testing.T) {
	newLabAlone(t, complete) // It brings this commit's kinds.
	for _, name := range []string{"Building", "Loading", "Warm", "Shared", "Outside", "Borrowed", "Restoring", "Complete"} {
		t.Run(name, func(t *testing.T) {
			b := takeOver(t, filepath.Join(os.Getenv("PERFLAB_HALF_DONE"), name+".json"))
			b.eachRound = b.buildsNothingAnew
			b.outside.held["cico"] = name == "Loading"
			b.until("a complete experiment", func() bool {
				return b.lab.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
			})
			b.keepsThePlan()
			b.doesEachPlaceOnce()
			b.remove(b.lab.experiment("small"))
			b.until("the end of the experiment", func() bool { return len(b.experiments()) == 0 })
			b.leavesNothing()
		})
	}
}
