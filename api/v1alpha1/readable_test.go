// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// If the API server stored a duration that overflows, no client could decode the object.
func TestRulesRefuseOverflowingDurations(t *testing.T) {
	kinds := map[string]func(*testing.T) *unstructured.Unstructured{
		"run": aRun, "experiment": func(t *testing.T) *unstructured.Unstructured { t.Helper(); return experiment(t) },
	}
	const inRuns, inExperiments = "run", "experiment"
	for path, in := range map[string][]string{
		"spec.measurement.warmUp":                            {inRuns, inExperiments},
		"spec.measurement.tail":                              {inRuns, inExperiments},
		"spec.deadlines.environment":                         {inRuns, inExperiments},
		"spec.deadlines.loadStart":                           {inRuns, inExperiments},
		"spec.deadlines.load":                                {inRuns, inExperiments},
		"spec.history.rawResults":                            {inExperiments},
		"spec.history.runs":                                  {inExperiments},
		"spec.retention.runs":                                {inExperiments},
		"spec.scenario.loads.0.duration":                     {inRuns},
		"spec.scenario.loads.0.checkInCheckOut.thinkTime":    {inRuns},
		"spec.scenarios.0.loads.0.duration":                  {inExperiments},
		"spec.scenarios.0.loads.0.checkInCheckOut.thinkTime": {inExperiments},
	} {
		for _, kind := range in {
			for _, value := range []string{"9999999999h", "2562047h59m", "99999999999999999999h"} {
				t.Run(kind+" "+path+" "+value, func(t *testing.T) {
					made := kinds[kind](t)
					apply(t, made, change{path, value})
					verdict(t, create(t, made), path[len("spec."):len("spec.")+5], "write a duration with its unit")
				})
			}
		}
	}
}
