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

// The levels of parallel imports last from the start of the first one to the end of the last.
func TestParallelImportsAreLevels(t *testing.T) {
	start := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	imports := kinds.ForLoad(v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 600, Parallel: 4}}).(kind.SteppedBatch)
	expect.Equal(t, "parallel imports", imports.LevelUnit(), "unit")
	levels := steps.Steps{Levels: []int32{2, 4}}
	expect.Equal(t, "2,4", imports.LevelVariables(levels)[0].Value, "levels")
	measured := payload.New("create", "run", "1", start)
	measured.Record("Import job 1", payload.OK, start.Add(30*time.Second), 20*time.Second)
	measured.Record("Import job 1", payload.OK, start.Add(40*time.Second), 28*time.Second)
	measured.Record("Import batch 1", payload.OK, start.Add(40*time.Second), 30*time.Second)
	measured.Record("Import job 2", payload.OK, start.Add(90*time.Second), 40*time.Second)
	measured.Record("Import batch 2", "error", start.Add(90*time.Second), 45*time.Second)
	held := imports.ObserveLevel(measured, levels, 0)
	expect.Equal(t, "24 40", held.Observations[0].Value+" "+held.Observations[1].Value, "duration and rate of two imports of 600 records in 30 s")
	expect.Equal(t, 30*time.Second, held.To.Sub(held.From), "window")
	if broken := imports.ObserveLevel(measured, levels, 1); len(broken.Observations) > 0 || broken.To.IsZero() {
		t.Errorf("a level with a failed import has %v until %s", broken.Observations, broken.To)
	}
}

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
