// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/planning/arms"
)

// A matrix makes many arms, each of which may differ in everything.
func TestDifferencesOfManyArmsHaveRoom(t *testing.T) {
	var all []arms.Arm
	for n := range 65 {
		system := v1alpha1.System{}
		for m := range 90 {
			value := strings.Repeat(fmt.Sprint(n%10), 300)
			system.Modules = append(system.Modules, v1alpha1.Module{Name: fmt.Sprintf("mod-%d", m), Image: "example.org/" + value})
		}
		all = append(all, arms.Arm{Name: fmt.Sprintf("arm-%d", n), Baseline: n == 0, System: system})
	}
	listed := armsStatus(all)
	text, err := json.Marshal(listed)
	if err != nil || len(text) > sizelimit.Differences+65*100 {
		t.Errorf("they take %d bytes (%v), want about %d", len(text), err, sizelimit.Differences)
	}
	if last := listed[64]; len(last.Differences) == 0 || int(last.MoreDifferences)+len(last.Differences) != 90 {
		t.Errorf("of an arm %d differences are listed and %d more counted, want 90 in all", len(last.Differences), last.MoreDifferences)
	}
}
