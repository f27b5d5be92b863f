// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// What the schema says in its own words is said in a person's.
func TestFaultsAreToldInSentences(t *testing.T) {
	experiment, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	for name, tc := range map[string]struct{ old, changed, want string }{
		"a word for a number":    {"users: 8", "users: many", "\n  spec.scenarios[0].loads[0].checkInCheckOut.users: it is text, and must be a whole number\n"},
		"a part of one":          {"blocks: 6", "blocks: 6.5", "\n  spec.design.blocks: it is a number with a fraction, and must be a whole number\n"},
		"a number for text":      {"startAfter: 10m", "startAfter: 10", "loads[1].startAfter: it is a whole number, and must be text: put it in quotes\n"},
		"a number for an object": {"{blocks: 6, seed: 7}", "5", "spec.design: it is a whole number, and must be an object with fields of its own\n"},
		"nothing for a number":   {"users: 8", "users: null", "users: it is empty, and must be a whole number\n"},
		"too large":              {"{blocks: 6, seed: 7}", "{}\n  analysis: {marginPercent: 900}", "spec.analysis.marginPercent: it is 900, and must be at most 100\n"},
		"too long":               {"name: cico,", "name: cico-cico-cico-cico-cico-c,", "loads[0].name: too long: may not be more than 24 bytes\n"},
		"not given":              {"{users: 8}", "{}", "checkInCheckOut.users: it is not given, and there is no default: write it\n"},
		"none of a few":          {"seed: 7", "order: Fast", `spec.design.order: "Fast" is none of the values there are: write one of them ("Randomized", "Fixed")` + "\n"},
		"twice":                  {"name: xmx,", "name: maxram-66,", `spec.arms[1]: Duplicate value: {"name":"maxram-66"}: write each once` + "\n"},
		"unknown":                {"seed: 7", "sed: 7", "\n  spec.design.sed: unknown field: correct its spelling or its place, or take it away\n"},
		"a rule of its own":      {"blocks: 6", "blocks: 0", "spec.design.blocks: Invalid value: 0: design.blocks must be from 1 to 100\n"},
		"half a core":            {"until: create-5k", "until: create-5k, resources: {requests: {cpu: 0.5}}", "\n  spec.scenarios[0].loads[0].resources.requests.cpu: a quantity is a whole number or text: put a number with a fraction in quotes, or write thousandths, for example 500m for half a core; write bytes with Mi or Gi\n"},
		"another's unit":         {"until: create-5k", "until: create-5k, resources: {limits: {memory: 512MB}}", `resources.limits.memory: "512MB" is no quantity: write 512Mi` + "\n"},
		"another's unit, small":  {`maxRAMPercentage: "66"`, "max: 1.5 gb", `spec.arms[1].set.modules[0].jvm.heap.max: "1.5 gb" is no quantity: write 1.5Gi` + "\n"},
		"no amount":              {`maxRAMPercentage: "66"`, "max: half", `jvm.heap.max: "half" is no quantity: write a number with a unit, for example 500m for half a core or 512Mi for bytes` + "\n"},
		"of no field":            {"name: heaps", "name: Heaps_x", "\n  Invalid value: the experiment's name must be at most 32"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(experiment), tc.old, tc.changed, 1)
			got := perflab(t, text, "plan", "-f", "-", "-f", "testdata/system.yaml")
			got.ends(exitInvalid).warns(tc.want)
			for _, raw := range []string{"in body", "Checked value", "anyOf", "<nil>", "null"} {
				if strings.Contains(got.problems, raw) {
					t.Errorf("%q is the schema's own word:\n%s", raw, got.problems)
				}
			}
		})
	}
}
