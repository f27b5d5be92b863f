// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/decimal"
)

// The metrics of a Truth, both in ms.
const (
	CheckIn  = "cico/Check-In/average"
	CheckOut = "cico/Check-Out/average"
)

// Base is the baseline of a Truth.
const Base = "base"

// Truth is a small experiment with known true values.
type Truth struct {
	Seed   uint64
	Blocks int
	// Baseline in ms, Spread of a run as a share.
	Baseline, Spread float64
	// Arms and their true ratios to the baseline; the one named twin is the A/A control.
	Arms map[string]float64
	// Users of the scenario's load.
	Users int32
	// Image of its module.
	Image string
	// Began is the start of its first load.
	Began time.Time
}

// Draw generates the experiment and its runs, deterministic for a seed.
func (t Truth) Draw() (*v1alpha1.PerfExperiment, []v1alpha1.PerfRun) {
	random := rand.New(rand.NewPCG(t.Seed, 7))
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Name = fmt.Sprintf("experiment-%d", t.Seed)
	scenario := v1alpha1.Scenario{Name: "cico", Loads: []v1alpha1.Load{{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: t.Users}}}}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{scenario}
	seed := int64(t.Seed)
	experiment.Status.Seed = &seed
	experiment.Status.Arms = []v1alpha1.ArmStatus{{Name: Base, Baseline: true}}
	ratios := map[string]float64{Base: 1}
	for _, name := range slices.Sorted(maps.Keys(t.Arms)) {
		experiment.Status.Arms = append(experiment.Status.Arms, v1alpha1.ArmStatus{Name: name, Twin: name == "twin"})
		ratios[name] = t.Arms[name]
	}
	var runs []v1alpha1.PerfRun
	for block := range t.Blocks {
		shift := math.Exp(t.Spread * random.NormFloat64())
		for _, arm := range experiment.Status.Arms {
			run := v1alpha1.PerfRun{}
			run.Name = fmt.Sprintf("%s-%d-%s", experiment.Name, block, arm.Name)
			run.Spec.Block, run.Spec.Position, run.Spec.Attempt = int32(block+1), int32(len(runs)+1), 1
			run.Spec.Arm, run.Spec.Scenario = arm.Name, scenario
			run.Spec.System.Modules = []v1alpha1.Module{{Name: "mod-users", Image: t.Image}}
			run.Status.Phase = v1alpha1.RunSucceeded
			began := metav1.NewTime(t.Began.Add(time.Duration(len(runs)) * 30 * time.Minute))
			run.Status.Timings.LoadStart = &began
			for _, metric := range []string{CheckIn, CheckOut} {
				value := t.Baseline * ratios[arm.Name] * shift * math.Exp(t.Spread*random.NormFloat64())
				run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: metric, Unit: "ms", Value: decimal.Format(value)})
			}
			runs = append(runs, run)
		}
	}
	return experiment, runs
}
