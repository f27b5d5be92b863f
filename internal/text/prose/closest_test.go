// SPDX-License-Identifier: Apache-2.0

package prose_test

import (
	"testing"

	"perflab.dev/perflab/internal/text/prose"
)

func TestClosest(t *testing.T) {
	names := []string{"UseG1GC", "UseZGC", "max_connections", "work_mem"}
	for written, want := range map[string]string{
		"UseG1Gc": "UseG1GC", "useg1gc": "UseG1GC", "max_connection": "max_connections", "work_men": "work_mem",
		"max_conections": "max_connections", "UseGC": "UseZGC", "Use": "", "": "", "shared_buffers": "", "work_memory": "",
	} {
		if got := prose.Closest(written, names); got != want {
			t.Errorf("%s is taken for %q, want %q", written, got, want)
		}
	}
}
