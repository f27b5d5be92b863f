// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		annotation string
		want       Faults
		wantErr    bool
	}{
		"nothing asked":        {"", Faults{}, false},
		"one without argument": {"never-ready", Faults{NeverReady: ""}, false},
		"several, with spaces": {" runner-exit=2:99 , starter-misses=1", Faults{RunnerExit: "2:99", StarterMisses: "1"}, false},
		"a misspelt one":       {"never-redy", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(map[string]string{Annotation: tc.annotation})
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %t", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
