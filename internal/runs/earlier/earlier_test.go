// SPDX-License-Identifier: Apache-2.0

package earlier_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/earlier"
	"perflab.dev/perflab/internal/testing/expect"
)

func run(status v1alpha1.PerfRunStatus) *v1alpha1.PerfRun {
	made := &v1alpha1.PerfRun{Status: status}
	made.Spec.Scenario.Loads = []v1alpha1.Load{{Name: "cico"}, {Name: "create-5k"}}
	return made
}

func warm(advised time.Duration) *metav1.Duration { return &metav1.Duration{Duration: advised} }

// Facts in the warnings of earlier versions become fields. Fields of today's version stay.
func TestRun(t *testing.T) {
	const (
		cold     = `load "cico": Check-In took 900 ms on average in the first 2m that count and 200 ms after them: the system was still warming up; set measurement.warmUp to 2m30s, and let the load last longer by as much`
		colder   = `load "more": Check-In took 900 ms on average in the first 3m that count and 200 ms after them: the system was still warming up; set measurement.warmUp to 4m, and let the load last longer by as much`
		unlike   = `not built as run "a" of the same arm was: PerfLab makes something else of Kafka (version v0.4.0 then, v0.5.0 now)`
		perhaps  = `perhaps not built as run "a" of the same arm was, by an earlier PerfLab that did not note what it made of the declaration`
		whole    = `left out over the whole run: load "cico": 4 of 34 transactions failed`
		window   = `left out during create-5k: load "cico": 9 of 60 transactions failed`
		alone    = `left out alone: load "cico": 9 of 60 transactions failed`
		busy     = "postgres/primary used 95 % of its CPU limit"
		longer   = "the node was busy before the loads began; a longer measurement.warmUp leaves more of it out"
		elsewhen = "left out during another: of no window"
	)
	evidence := &v1alpha1.RunEvidence{Rendered: []v1alpha1.RenderedDigest{{Of: "Kafka"}}}
	changed := evidence.DeepCopy()
	changed.RenderedChange = &v1alpha1.RenderedChange{Message: unlike}
	for name, test := range map[string]struct{ before, want v1alpha1.PerfRunStatus }{
		"nothing": {},
		"other warnings": {
			v1alpha1.PerfRunStatus{Warnings: []string{busy, longer, elsewhen}},
			v1alpha1.PerfRunStatus{Warnings: []string{busy, longer, elsewhen}},
		},
		"the longest warm-up": {
			v1alpha1.PerfRunStatus{Warnings: []string{cold, colder, cold}},
			v1alpha1.PerfRunStatus{Warnings: []string{cold, colder, cold}, AdvisedWarmUp: warm(4 * time.Minute)},
		},
		"what does not count": {
			v1alpha1.PerfRunStatus{Warnings: []string{whole, window, alone}},
			v1alpha1.PerfRunStatus{Warnings: []string{whole, window, alone}, LeftOut: []v1alpha1.LeftOut{
				{Message: `load "cico": 4 of 34 transactions failed`},
				{Window: "during-create-5k", Message: `load "cico": 9 of 60 transactions failed`},
				{Window: "alone", Message: `load "cico": 9 of 60 transactions failed`},
			}},
		},
		"another rendering": {
			v1alpha1.PerfRunStatus{Warnings: []string{unlike}, Evidence: evidence},
			v1alpha1.PerfRunStatus{Warnings: []string{unlike}, Evidence: changed},
		},
		"perhaps another rendering": {
			v1alpha1.PerfRunStatus{Warnings: []string{perhaps}},
			v1alpha1.PerfRunStatus{Warnings: []string{perhaps}, Evidence: &v1alpha1.RunEvidence{RenderedChange: &v1alpha1.RenderedChange{Message: perhaps}}},
		},
		"fields of today": {
			v1alpha1.PerfRunStatus{Warnings: []string{cold, whole, perhaps}, AdvisedWarmUp: warm(time.Minute), LeftOut: []v1alpha1.LeftOut{{Load: "cico", Message: "m"}}, Evidence: changed},
			v1alpha1.PerfRunStatus{Warnings: []string{cold, whole, perhaps}, AdvisedWarmUp: warm(time.Minute), LeftOut: []v1alpha1.LeftOut{{Load: "cico", Message: "m"}}, Evidence: changed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := run(test.before)
			earlier.Run(made)
			expect.Equal(t, test.want, made.Status)
		})
	}
	if evidence.RenderedChange != nil {
		t.Error("the evidence of the original changed")
	}
}

func TestExperiment(t *testing.T) {
	const (
		few     = "2 blocks give numbers, but no verdict: raise design.blocks to 6, also later"
		fixed   = "in a fixed order of runs, whatever changes over time looks like an effect of the arms: leave design.order at Randomized to compare them"
		oneArm  = "there is no arm beside the baseline: its runs are summed up, and nothing is compared"
		another = "keepWarm has no effect, because every run rebuilds everything: remove keepWarm, or reset: Recreate"
	)
	for name, test := range map[string]struct{ before, want v1alpha1.PerfExperimentStatus }{
		"about the design": {
			v1alpha1.PerfExperimentStatus{Warnings: []string{few, another, fixed, oneArm}},
			v1alpha1.PerfExperimentStatus{Warnings: []string{few, another, fixed, oneArm}, DesignWarnings: []string{few, fixed, oneArm}},
		},
		"the field of today": {
			v1alpha1.PerfExperimentStatus{Warnings: []string{few, fixed}, DesignWarnings: []string{fixed}},
			v1alpha1.PerfExperimentStatus{Warnings: []string{few, fixed}, DesignWarnings: []string{fixed}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			earlier.Experiment(&test.before)
			expect.Equal(t, test.want, test.before)
		})
	}
}
