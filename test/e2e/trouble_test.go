//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// patience is how soon a person is to be told what is wrong.
const patience = 30 * time.Second

// TestTrouble makes the mistakes people make and looks for the sentence.
func TestTrouble(t *testing.T) {
	cases := map[string]struct {
		edit      func(*v1alpha1.PerfExperiment)
		condition string
		reason    string
		says      string
	}{
		"an image that is not there": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Modules[1].Image = "localhost/perflab/no-such-module:1"
			},
			condition: v1alpha1.ConditionImagesAvailable, reason: v1alpha1.ReasonImagePull, says: "localhost/perflab/no-such-module:1",
		},
		"a target outside that does not answer": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Target.Module = ""
				e.Spec.System.Target.URL = "http://okapi.nowhere.svc:9130"
			},
			condition: v1alpha1.ConditionTargetReachable, reason: v1alpha1.ReasonUnreachable, says: "okapi.nowhere.svc:9130",
		},
		"a module without its Secret": {
			edit: func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Kafka, e.Spec.System.Postgres, e.Spec.Arms[1].Set = nil, nil, nil
				e.Spec.System.Modules[0].Env = append(e.Spec.System.Modules[0].Env, secretVariable("TOKEN", "no-such-secret"))
			},
			condition: v1alpha1.ConditionModulesReady, reason: v1alpha1.ReasonConfiguration, says: "no-such-secret",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			experiment := apply(t, namespace(t), "testdata/experiment.yaml", test.edit)
			eventually(ctx, t, patience, fmt.Sprintf("%s=False", test.condition), func() (bool, string) {
				current := get(ctx, t, experiment)
				found := meta.FindStatusCondition(current.Status.Conditions, test.condition)
				if found == nil {
					return false, "no such condition; waiting for " + current.Status.WaitingFor
				}
				told := found.Status == metav1.ConditionFalse && found.Reason == test.reason && strings.Contains(found.Message, test.says)
				return told && strings.Contains(current.Status.WaitingFor, test.says), fmt.Sprintf("%+v", *found)
			})
		})
	}
}
