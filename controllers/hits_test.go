// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// hits are the writes that faults have disturbed, by fault: "apply Kafka".
type hits struct {
	mutex sync.Mutex
	by    map[string]map[string]bool
	// played is how many scenes there were with how many faults.
	played int
}

func (h *hits) add(fault string, disturbed map[string]bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.by[fault] == nil {
		h.by[fault] = map[string]bool{}
	}
	maps.Copy(h.by[fault], disturbed)
	h.played++
}

// notObjects are what the role may write and no object of an experiment is.
var notObjects = map[string]string{
	"events":                     "they go out over a connection of their own, and are told again by nobody",
	"localsubjectaccessreviews":  "they are questions",
	"perfexperiments/finalizers": "it is the right to name the experiment as an owner",
	"perfruns/finalizers":        "it is the right to name the run as an owner",
	"perfschedules/finalizers":   "it is the right to name the schedule as an owner",
}

// writesOfSchedules are those of the role that only schedules take: faults meet them in
// a test of their own.
var writesOfSchedules = []string{"apply perfexperiments", "apply perfschedules/status", "delete perfexperiments"}

// coverTheRole fails the test for each kind of write that the operator's role
// allows and a fault of writes has not disturbed.
func (h *hits) coverTheRole(t *testing.T) {
	t.Helper()
	if h.played < len(scenes)*len(faults) {
		t.Log("some scenes were left out, or did not come to their end")
		return
	}
	for fault, disturbed := range h.by {
		missed := slices.DeleteFunc(allowed(t), func(write string) bool { return disturbed[write] || slices.Contains(writesOfSchedules[1:], write) })
		if len(disturbed) > 0 && len(missed) > 0 {
			t.Errorf("in no scene %q meets: %s", fault, strings.Join(missed, ", "))
		}
	}
}

// allowed are the writes that the role allows.
func allowed(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, rule := range apiserver.ClusterRole(t, "role.yaml").Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if write := writeOf(verb, resource); write != "" && notObjects[resource] == "" {
					found[write] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// writeOf tells the writes that differ in what they need: to make or to change an
// object, to write over it as it was seen, and to delete it.
func writeOf(verb, resource string) string {
	switch verb {
	case "delete", "update":
		return verb + " " + resource
	case "create", "patch", "apply":
		return "apply " + resource
	default:
		return ""
	}
}
