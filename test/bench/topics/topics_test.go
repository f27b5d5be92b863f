// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestTopicsMatchPublishedCounts(t *testing.T) {
	names, partitions := map[string]bool{}, int32(0)
	for _, topic := range topics() {
		names[topic.Name] = true
		partitions += topic.Partitions
	}
	if len(names) != 1474 || partitions != 11909 {
		t.Errorf("%d topics with %d partitions, want 1474 with 11909", len(names), partitions)
	}
}
