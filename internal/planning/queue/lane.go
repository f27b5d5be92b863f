// SPDX-License-Identifier: Apache-2.0

// Package queue decides which experiment may measure next, so that experiments on the same
// nodes don't disturb each other. It is pure: no client, no clock.
package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/podrequests"
	"perflab.dev/perflab/internal/text/prose"
)

// Lane is the part of the cluster that an experiment occupies while it measures. Without a
// name and without nodes it is the whole cluster.
type Lane struct {
	// Name of a lane that users have defined.
	Name string `json:"name,omitempty"`
	// Nodes are the node selectors of the experiment's pods.
	Nodes []map[string]string `json:"nodes,omitempty"`
}

// NewLane returns the lane that an experiment occupies, for the lane it declares and the
// systems it compares.
func NewLane(lane *v1alpha1.Lane, systems []v1alpha1.System) Lane {
	switch {
	case lane == nil:
		return Lane{}
	case lane.Type == v1alpha1.LaneNamed:
		return Lane{Name: lane.Name}
	case lane.Type == v1alpha1.LaneNodes && len(Unbound(systems)) == 0:
		return Lane{Nodes: nodeSelectors(systems)}
	default:
		return Lane{}
	}
}

// Unbound returns the sorted names of components that may run on any node.
func Unbound(systems []v1alpha1.System) []string {
	free := map[string]bool{}
	eachSelector(systems, func(who string, selector map[string]string) {
		if len(selector) == 0 {
			free[who] = true
		}
	})
	return slices.Sorted(maps.Keys(free))
}

func nodeSelectors(systems []v1alpha1.System) []map[string]string {
	known := map[string]map[string]string{}
	eachSelector(systems, func(_ string, selector map[string]string) { known[formatSelector(selector)] = selector })
	var distinct []map[string]string
	for _, sentence := range slices.Sorted(maps.Keys(known)) {
		distinct = append(distinct, known[sentence])
	}
	return distinct
}

// eachSelector calls show with the node selector of each component.
func eachSelector(systems []v1alpha1.System, show func(who string, selector map[string]string)) {
	for i := range systems {
		for _, pods := range podrequests.ForSystem(systems[i]) {
			if pods.Count > 0 {
				show(pods.Title, pods.NodeSelector())
			}
		}
	}
}

// Overlaps reports whether both lanes may share a node.
func (l Lane) Overlaps(other Lane) bool {
	if l.isWholeCluster() || other.isWholeCluster() {
		return true
	}
	if l.Name != "" || other.Name != "" {
		// The nodes of a named lane are unknown here.
		return l.Name == "" || other.Name == "" || l.Name == other.Name
	}
	for _, one := range l.Nodes {
		for _, another := range other.Nodes {
			if !disjoint(one, another) {
				return true
			}
		}
	}
	return false
}

// Equal reports whether both are the same part of the cluster.
func (l Lane) Equal(other Lane) bool { return l.String() == other.String() }

func (l Lane) isWholeCluster() bool { return l.Name == "" && len(l.Nodes) == 0 }

// disjoint reports whether no node can match both selectors.
func disjoint(one, another map[string]string) bool {
	for key, value := range one {
		if different, has := another[key]; has && different != value {
			return true
		}
	}
	return false
}

// String describes the lane in a sentence.
func (l Lane) String() string {
	switch {
	case l.Name != "":
		return "lane " + l.Name
	case l.isWholeCluster():
		return "the cluster"
	}
	pools := make([]string, 0, len(l.Nodes))
	for _, selector := range l.Nodes {
		pools = append(pools, formatSelector(selector))
	}
	return "nodes " + prose.Enumerate(pools)
}

func formatSelector(selector map[string]string) string {
	parts := make([]string, 0, len(selector))
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		parts = append(parts, fmt.Sprintf("%s=%s", key, selector[key]))
	}
	return strings.Join(parts, ",")
}
