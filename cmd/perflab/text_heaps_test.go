// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// plannedWith plans the test's experiment over its system with words exchanged.
func plannedWith(t *testing.T, words *strings.Replacer) answer {
	t.Helper()
	text := ""
	for _, path := range []string{"testdata/experiment.yaml", "testdata/system.yaml"} {
		read, err := os.ReadFile(path)
		expect.NoError(t, err)
		text += string(read) + "---\n"
	}
	changed := words.Replace(text)
	if changed == text {
		t.Fatal("no word was exchanged")
	}
	return perflab(t, changed, "plan", "-f", "-")
}

func TestPlanSaysWhatIsKnownOfHeaps(t *testing.T) {
	const limit, percent = "resources: {limits: {memory: 1Gi}}\n    jvm: {heap: {max: 768Mi}}", `{maxRAMPercentage: "66"}`
	cases := map[string]struct {
		reason string
		words  []string
		want   []string
		never  string
	}{
		"in MiB": {
			reason: "nobody reads bytes",
			words:  []string{percent, "{max: 384Mi}"},
			want: []string{
				"  gateway  1024 MiB      512 MiB  384 MiB", "  storage  1024 MiB      768 MiB  384 MiB",
				"maxram-66 against the baseline: larger in 0 modules, smaller in 2, the same in 0 (-50.0 % to -25.0 %)",
			},
			never: "not declared",
		},
		"no limit": {
			reason: "a share of what is not known is said as a share, and not passed over",
			words:  []string{limit, "jvm: {heap: {max: 768Mi}}"},
			want: []string{
				"  gateway  1024 MiB      512 MiB  676 MiB", "  storage  not declared  768 MiB  66 % of the limit",
				"larger in 1 module, smaller in 0, the same in 0, not known in 1 (+32.0 %)\n",
				"not known in MiB: the memory limit of storage is not declared; declare resources.limits.memory",
			},
		},
		"no limit at all": {
			reason: "the baseline's sizes are not those of every arm",
			words:  []string{"resources: {limits: {memory: 1Gi}}", "replicas: 1"},
			want: []string{
				"module   memory limit  xmx      maxram-66", "  storage  not declared  768 MiB  66 % of the limit",
				"the memory limits of gateway, storage are not declared; declare resources.limits.memory",
			},
			never: "every arm",
		},
		"the same in every arm": {
			reason: "one column says it all",
			words:  []string{percent, `{max: 400Mi}`, "max: 512Mi", "max: 400Mi", "max: 768Mi", "max: 400Mi"},
			want:   []string{"module   memory limit  every arm", "  gateway  1024 MiB      400 MiB\n"},
			never:  "against the baseline",
		},
		"some unchanged": {
			reason: "a heap that stays is not the least of those that change",
			words:  []string{percent, "{max: 512Mi}", "max: 768Mi", "max: 480Mi"},
			want:   []string{"larger in 1 module, smaller in 0, the same in 1 (+6.7 %)\n"},
		},
		"another limit": {
			reason: "the limit may be what the arms differ in",
			words:  []string{`jvm: {heap: ` + percent + `}`, `resources: {limits: {memory: 2Gi}}, jvm: {heap: ` + percent + `}`},
			want:   []string{"  gateway  1024 MiB, 2048 MiB  512 MiB  1352 MiB"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := plannedWith(t, strings.NewReplacer(tc.words...))
			for _, want := range tc.want {
				if got.code != 0 || !strings.Contains(got.out, want) {
					t.Errorf("%s: the plan does not say %q:\n%s%s", tc.reason, want, got.out, got.problems)
				}
			}
			if tc.never != "" && strings.Contains(got.out, tc.never) {
				t.Errorf("%s: the plan says %q:\n%s", tc.reason, tc.never, got.out)
			}
		})
	}
}
