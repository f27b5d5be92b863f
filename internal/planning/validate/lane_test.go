// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// A lane of nodes requires a node selector for every pod.
func TestNodesLaneNeedsNodeSelectors(t *testing.T) {
	bound := &v1alpha1.Placement{NodeSelector: map[string]string{"pool": "m5"}}
	made := experiment()
	made.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneNodes}
	system := &made.Spec.System
	system.Kafka.Brokers.Placement, system.Postgres.Placement = bound, bound
	if system.Kafka.Controllers != nil {
		system.Kafka.Controllers.Placement = bound
	}
	for i := range system.Modules {
		system.Modules[i].Placement = bound
	}
	if faults, _ := validate.Experiment(made, validate.Known{}); len(faults) > 0 {
		t.Fatalf("with all bound: %v", faults)
	}
	system.Modules[0].Placement, system.Postgres.Placement = nil, nil
	faults, _ := validate.Experiment(made, validate.Known{})
	if len(faults) != 1 || faults[0].Field != "spec.lane.type" {
		t.Fatalf("faults are %v", faults)
	}
	for _, word := range []string{"PostgreSQL", "module " + system.Modules[0].Name, "type: Cluster"} {
		if !strings.Contains(faults[0].Detail, word) {
			t.Errorf("%q does not speak of %s", faults[0].Detail, word)
		}
	}
}
