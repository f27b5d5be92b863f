// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// failing returns check-ins that fail in these seconds, next to successful ones.
func failing(t *testing.T, seconds ...int) *payload.Payload {
	t.Helper()
	p := cico(t)
	for _, second := range seconds {
		p.Record("Check-In", "error", at(second), 1)
	}
	return p
}

func TestJudge(t *testing.T) {
	allowed := int32(10)
	leftOut := v1alpha1.Validity{MaxErrorPercent: &allowed, Unsound: v1alpha1.UnsoundIsLeftOut}
	small, _ := importFrom("create-1k", 8, 12)
	large, largeMeasured := importFrom("create-5k", 20, 24)
	complete := func(p *payload.Payload) *payload.Payload {
		p.Count("perflab_imports", p.Start, 1)
		p.Count("perflab_records", p.Start, 1)
		return p
	}
	complete(largeMeasured)
	fresh := func() *payload.Payload {
		_, p := importFrom("create-1k", 8, 12)
		return p
	}
	for name, tc := range map[string]struct {
		users    *payload.Payload
		small    *payload.Payload
		validity v1alpha1.Validity
		// fault is a part of the fault of the whole run, warnings those of invalid windows.
		fault    string
		warnings []string
		// kept are valid metrics, dropped invalid ones.
		kept, dropped []string
	}{
		"all is sound": {
			users: cico(t), small: complete(fresh()), validity: leftOut,
			kept: []string{"cico/Check-In/average", "cico/Check-In/average@during-create-1k", "create-1k/imports"},
		},
		"a window fails, the whole does not": {
			users: failing(t, 9, 10), small: complete(fresh()), validity: leftOut,
			warnings: []string{"during create-1k: load \"cico\": 2 of 6 transactions failed"},
			kept:     []string{"cico/Check-In/average", "cico/Check-In/average@alone", "create-1k/imports", "module/m/cpu/average", "module/m/cpu/average@alone"},
			dropped:  []string{"cico/Check-In/average@during-create-1k", "module/m/cpu/average@during-create-1k"},
		},
		"the same where a run counts as a whole": {
			users: failing(t, 9, 10), small: complete(fresh()), validity: v1alpha1.Validity{MaxErrorPercent: &allowed},
			kept: []string{"cico/Check-In/average@during-create-1k"},
		},
		"the whole fails because of a window": {
			users: failing(t, 8, 9, 10, 11), small: complete(fresh()), validity: leftOut,
			warnings: []string{"over the whole run: load \"cico\": 4 of 34", "during create-1k: load \"cico\": 4 of 8"},
			kept:     []string{"cico/Check-In/average@alone", "cico/Check-In/average@after", "module/m/cpu/average"},
			dropped:  []string{"cico/Check-In/average", "cico/errors"},
		},
		"the same, where a run counts as a whole": {
			users: failing(t, 8, 9, 10, 11), small: complete(fresh()), validity: v1alpha1.Validity{MaxErrorPercent: &allowed},
			fault: "4 of 34 transactions failed",
		},
		"an import fails": {
			users: cico(t), small: fresh(), validity: leftOut,
			warnings: []string{"over the whole run: load \"create-1k\": 0 of 1 import ended"},
			kept:     []string{"cico/Check-In/average", "cico/Check-In/average@alone", "cico/Check-In/average@during-create-5k", "create-1k/import-2/duration"},
			dropped:  []string{"create-1k/imports", "cico/Check-In/average@during-create-1k"},
		},
		"nothing is sound": {
			users: failing(t, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13, 14, 20, 21, 22, 23, 25, 26, 27, 28), small: complete(fresh()), validity: leftOut,
			warnings: []string{},
			dropped:  []string{"cico/Check-In/average", "cico/Check-In/average@alone"},
			kept:     []string{"create-1k/imports"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := loads(users(""), small, large)
			judged := results.Judge(all, measurements(tc.users, tc.small, largeMeasured), v1alpha1.Measurement{}, tc.validity)
			if message := messageOf(judged.Fault); !strings.Contains(message, tc.fault) || (tc.fault == "") != (message == "") {
				t.Errorf("fault %q, want %q", message, tc.fault)
			}
			var warnings []string
			for _, part := range judged.LeftOut() {
				warnings = append(warnings, results.DescribeLeftOut(part))
			}
			if len(tc.warnings) > 0 && len(warnings) != len(tc.warnings) {
				t.Errorf("warnings %q, want %d", warnings, len(tc.warnings))
			}
			for i := range min(len(warnings), len(tc.warnings)) {
				if !strings.HasPrefix(warnings[i], tc.warnings[i]) {
					t.Errorf("warning %q, want one that begins with %q", warnings[i], tc.warnings[i])
				}
			}
			for _, metric := range tc.kept {
				if !counts(judged, metric) {
					t.Errorf("%s is left out", metric)
				}
			}
			for _, metric := range tc.dropped {
				if counts(judged, metric) {
					t.Errorf("%s counts", metric)
				}
			}
		})
	}
}

// A run without a valid window in any load is invalid, with its first fault.
func TestJudgeOfNothingSound(t *testing.T) {
	only := failing(t, 1, 2, 3, 4, 5, 6)
	judged := results.Judge(loads(users("")), measurements(only), v1alpha1.Measurement{}, v1alpha1.Validity{Unsound: v1alpha1.UnsoundIsLeftOut})
	if message := messageOf(judged.Fault); !strings.Contains(message, "6 of 36 transactions failed") {
		t.Errorf("fault %q", message)
	}
	checkpoint := cico(t)
	checkpoint.Final = false
	judged = results.Judge(loads(users("")), measurements(checkpoint), v1alpha1.Measurement{}, v1alpha1.Validity{Unsound: v1alpha1.UnsoundIsLeftOut})
	if judged.Fault == nil || judged.Fault.Reason != v1alpha1.ReasonResultsMissing {
		t.Errorf("a checkpoint alone counts: %+v", judged.Fault)
	}
}

func messageOf(fault *results.Fault) string {
	if fault == nil {
		return ""
	}
	return fault.Message
}

func counts(judged results.Judgement, name string) bool {
	return len(judged.Counting([]v1alpha1.Observation{{Metric: name}})) == 1
}
