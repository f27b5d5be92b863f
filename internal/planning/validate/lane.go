// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/text/prose"
)

// judgeLane rejects a lane of nodes if some pods have no node selector, because they could
// run on the nodes of another experiment.
func judgeLane(found *judgement, lane *v1alpha1.Lane, systems []*v1alpha1.System) {
	if lane == nil || lane.Type != v1alpha1.LaneNodes {
		return
	}
	compared := make([]v1alpha1.System, 0, len(systems))
	for _, system := range systems {
		compared = append(compared, *system)
	}
	free := queue.Unbound(compared)
	if len(free) == 0 {
		return
	}
	named := free[:min(len(free), maxNamed)]
	if more := len(free) - len(named); more > 0 {
		named = append(named, prose.Counted(more, "other"))
	}
	found.refuse(field.Invalid(field.NewPath("spec", "lane", "type"), lane.Type,
		fmt.Sprintf("a lane of nodes needs a placement.nodeSelector for every component with pods, and there is none for %s: add it, or write type: Cluster", prose.Enumerate(named))))
}

// maxNamed is the number of components that a message lists.
const maxNamed = 5
