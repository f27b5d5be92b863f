// SPDX-License-Identifier: Apache-2.0

package dataimport_test

import (
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// A first import at the middle level warms up, and no level is measured by it.
func TestImportsWarmUp(t *testing.T) {
	start := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	imports := kinds.ForLoad(v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 600}}).(kind.SteppedBatch)
	measured := payload.New("create", "run", "1", start)
	for i, took := range []time.Duration{40 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second} {
		measured.Record([]string{"Import job 1", "Import job 2", "Import job 3", "Import job 4"}[i], payload.OK, start.Add(time.Duration(i+1)*time.Minute), took)
	}
	for warmUp, want := range map[time.Duration]struct{ variable, first string }{0: {"300,400,600", "40"}, time.Minute: {"400,300,400,600", "10"}} {
		levels := steps.Steps{Levels: []int32{300, 400, 600}, WarmUp: warmUp}
		expect.Equal(t, want.variable, imports.LevelVariables(levels)[0].Value, "records with a warm-up of %s", warmUp)
		expect.Equal(t, want.first, imports.ObserveLevel(measured, levels, 0).Observations[0].Value, "duration of the first level with a warm-up of %s", warmUp)
	}
}
