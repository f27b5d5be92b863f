// SPDX-License-Identifier: Apache-2.0

package preview_test

import (
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/planning/generator"
	"perflab.dev/perflab/internal/planning/preview"
)

func TestCapacityIsDescribed(t *testing.T) {
	const end = "; the first run of an arm spans the range, later runs concentrate around its capacity"
	need := generator.Need{Users: 60, Runners: 1, MemoryBytes: 168 << 20, MemoryLimitBytes: 128 << 20}
	withNeed := preview.Capacity{Scenario: "desk", Load: "cico", Unit: "users", Min: 5, Max: 60, Levels: 6, Generator: &need}
	if got, want := withNeed.String(), end+". At the highest level, 60 users need about 168 MiB of memory; the k6 runner may use 128 MiB"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at the end", got, want)
	}
	for want, capacity := range map[string]preview.Capacity{
		"desk: each run visits 6 levels of cico from 5 to 60 users, for 3m each, of which 2m are measured": {
			Scenario: "desk", Load: "cico", Unit: "users", Min: 5, Max: 60, Levels: 6, Step: preview.Duration(3 * time.Minute), Measured: preview.Duration(2 * time.Minute),
		},
		"imports: each run visits 4 levels of create from 100 to 5000 records, each until its imports are finished": {
			Scenario: "imports", Load: "create", Unit: "records", Min: 100, Max: 5000, Levels: 4,
		},
	} {
		if got := capacity.String(); got != want+end {
			t.Errorf("%q, want %q", got, want+end)
		}
	}
}
