// SPDX-License-Identifier: Apache-2.0

package steps_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/steps"
)

func duration(of time.Duration) *metav1.Duration { return &metav1.Duration{Duration: of} }

func scenario(capacity v1alpha1.Capacity, load v1alpha1.Load) v1alpha1.Scenario {
	return v1alpha1.Scenario{Loads: []v1alpha1.Load{load}, Capacity: &capacity}
}

func TestStepsDivideTheDuration(t *testing.T) {
	levels := int32(3)
	users := v1alpha1.Load{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 40}, Duration: duration(10 * time.Minute)}
	load, timetable, found := steps.FromScenario(scenario(v1alpha1.Capacity{Min: 10, Levels: &levels}, users),
		v1alpha1.Measurement{WarmUp: duration(time.Minute)}, []int32{10, 20, 40})
	if !found || load.Name != "cico" || timetable.Step != 3*time.Minute || timetable.Settle != time.Minute {
		t.Fatalf("load %q, %+v", load.Name, timetable)
	}
	want := []steps.Span{{2 * time.Minute, 4 * time.Minute}, {5 * time.Minute, 7 * time.Minute}, {8 * time.Minute, 10 * time.Minute}}
	if got := timetable.Measured(); !slices.Equal(got, want) {
		t.Errorf("measured %v, want %v", got, want)
	}
	stages := `[{"duration":"0ms","target":20},{"duration":"60000ms","target":20},` +
		`{"duration":"30000ms","target":10},{"duration":"150000ms","target":10},` +
		`{"duration":"30000ms","target":20},{"duration":"150000ms","target":20},` +
		`{"duration":"30000ms","target":40},{"duration":"150000ms","target":40}]`
	if got := timetable.Stages(); got != stages {
		t.Errorf("stages\n%s, want\n%s", got, stages)
	}
}

func TestRunWithoutLevelsHasNoStages(t *testing.T) {
	if got := (steps.Steps{Step: time.Minute}).Stages(); got != "[]" {
		t.Errorf("stages %s", got)
	}
}

func TestScriptsLastAsLongAsTheirSteps(t *testing.T) {
	script := v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{}}
	timed := steps.WithDurations([]v1alpha1.Scenario{scenario(v1alpha1.Capacity{Min: 1, Step: duration(time.Minute), Settle: duration(10 * time.Second)}, script)},
		v1alpha1.Measurement{WarmUp: duration(30 * time.Second)})
	if got := timed[0].Loads[0].Duration; got == nil || got.Duration != 6*time.Minute+30*time.Second {
		t.Errorf("duration %v, want 6m30s", got)
	}
}

// Imports are as many as the levels and have their mean size. The range stays as declared.
func TestImportsHaveMeanSize(t *testing.T) {
	imports := v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 1000}}
	timed := steps.WithDurations([]v1alpha1.Scenario{scenario(v1alpha1.Capacity{Min: 10, Levels: ptr.To[int32](3)}, imports)}, v1alpha1.Measurement{})[0]
	if made := timed.Loads[0].DataImport; made.Imports != 3 || made.Records != 370 {
		t.Errorf("%d imports of %d records, want 3 of 370", made.Imports, made.Records)
	}
	if most := timed.Capacity.MaxOrDefault(timed.Loads[0]); most != 1000 {
		t.Errorf("the highest level is %d, want 1000", most)
	}
}

func TestScenarioWithoutCapacityHasNoSteps(t *testing.T) {
	if _, _, found := steps.FromScenario(v1alpha1.Scenario{Loads: []v1alpha1.Load{{Name: "cico"}}}, v1alpha1.Measurement{}, nil); found {
		t.Error("it has steps")
	}
	if _, _, found := steps.FromScenario(scenario(v1alpha1.Capacity{Load: "other"}, v1alpha1.Load{Name: "cico"}), v1alpha1.Measurement{}, nil); found {
		t.Error("a load of another name has steps")
	}
}

// The levels of parallel imports are a mean number of imports each, of the declared size.
func TestParallelImportsHaveMeanNumber(t *testing.T) {
	imports := v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 600, Parallel: 8}}
	timed := steps.WithDurations([]v1alpha1.Scenario{scenario(v1alpha1.Capacity{Min: 1, Levels: ptr.To[int32](4)}, imports)}, v1alpha1.Measurement{WarmUp: duration(time.Minute)})[0]
	if made := timed.Loads[0].DataImport; made.Imports != 20 || made.Records != 600 {
		t.Errorf("%d imports of %d records, want 5 times 4 of 600", made.Imports, made.Records)
	}
}
