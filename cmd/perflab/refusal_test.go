// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// Schema messages are replaced by readable ones.
func TestFaultMessages(t *testing.T) {
	experiment, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	for name, tc := range map[string]struct{ old, changed, want string }{
		"a word for a number":    {"users: 8", "users: many", "\n  spec.scenarios[0].loads[0].checkInCheckOut.users: it is text, and must be a whole number\n"},
		"a part of one":          {"blocks: 6", "blocks: 6.5", "\n  spec.design.blocks: it is a number with a fraction, and must be a whole number\n"},
		"a number for text":      {"startAfter: 10m", "startAfter: 10", "loads[1].startAfter: 10 is not a duration: write 10s\n"},
		"a number for an object": {"{blocks: 6, seed: 7}", "5", "spec.design: it is a whole number, and must be an object with fields\n"},
		"nothing for a number":   {"users: 8", "users: null", "users: it is empty, and must be a whole number\n"},
		"too large":              {"{blocks: 6, seed: 7}", "{}\n  analysis: {marginPercent: 900}", "spec.analysis.marginPercent: it is 900, and must be at most 100\n"},
		"too long":               {"name: cico,", "name: cico-cico-cico-cico-cico-c,", "loads[0].name: too long: may not be more than 24 bytes\n"},
		"not given":              {"{users: 8}", "{}", "checkInCheckOut.users: required value without a default: set it\n"},
		"none of a few":          {"seed: 7", "order: Fast", `spec.design.order: unsupported value "Fast": use one of "Randomized", "Fixed"` + "\n"},
		"twice":                  {"name: xmx,", "name: maxram-66,", `spec.arms[1]: Duplicate value: {"name":"maxram-66"}: remove one` + "\n"},
		"unknown":                {"seed: 7", "sed: 7", "\n  spec.design.sed: unknown field: correct its spelling or its place, or remove it\n"},
		"misspelt":               {"blocks: 6", "block: 6", "\n  spec.design.block: unknown field: did you mean blocks?\n"},
		"misspelt in a list":     {"users: 8", "user: 8", "\n  spec.scenarios[0].loads[0].checkInCheckOut.user: unknown field: did you mean users?\n"},
		"a rule of its own":      {"blocks: 6", "blocks: 0", "spec.design.blocks: Invalid value: 0: design.blocks must be from 1 to 100\n"},
		"half a core":            {"until: create-5k", "until: create-5k, resources: {requests: {cpu: 0.5}}", "\n  spec.scenarios[0].loads[0].resources.requests.cpu: 0.5 is not a quantity: write 500m\n"},
		"another's unit":         {"until: create-5k", "until: create-5k, resources: {limits: {memory: 512MB}}", `resources.limits.memory: "512MB" is not a quantity: write 512Mi` + "\n"},
		"another's unit, small":  {`maxRAMPercentage: "66"`, "max: 1.5 gb", `spec.arms[1].set.modules[0].jvm.heap.max: "1.5 gb" is not a quantity: write 1.5Gi` + "\n"},
		"no amount":              {`maxRAMPercentage: "66"`, "max: half", `jvm.heap.max: "half" is not a quantity: write a number with a unit, for example 500m for half a core or 512Mi for bytes` + "\n"},
		"of no field":            {"name: heaps", "name: Heaps_x", "\n  Invalid value: the experiment's name must be at most 32"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(experiment), tc.old, tc.changed, 1)
			got := perflab(t, text, "plan", "-f", "-", "-f", "testdata/system.yaml")
			got.ends(exit.Invalid).warns(tc.want)
			for _, raw := range []string{"in body", "Checked value", "anyOf", "<nil>", "null"} {
				if strings.Contains(got.problems, raw) {
					t.Errorf("%q is the schema's own word:\n%s", raw, got.problems)
				}
			}
		})
	}
}

// Values of a wrong form get a suggestion, for each kind.
func TestFaultSuggestions(t *testing.T) {
	experiment, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	fields := map[string]struct{ old, changed, place string }{
		"duration": {"seed: 7}", "seed: 7}\n  measurement: {warmUp: @}", "spec.measurement.warmUp"},
		"nested":   {"startAfter: 10m", "startAfter: @", "spec.scenarios[0].loads[1].startAfter"},
		"memory":   {"until: create-5k", "until: create-5k, resources: {limits: {memory: @}}", "spec.scenarios[0].loads[0].resources.limits.memory"},
		"heap":     {`maxRAMPercentage: "66"`, "max: @", "spec.arms[1].set.modules[0].jvm.heap.max"},
		"cpu":      {"until: create-5k", "until: create-5k, resources: {requests: {cpu: @}}", "spec.scenarios[0].loads[0].resources.requests.cpu"},
		"percent":  {"seed: 7}", "seed: 7}\n  analysis: {marginPercent: @}", "spec.analysis.marginPercent"},
		"number":   {"users: 8", "users: @", "spec.scenarios[0].loads[0].checkInCheckOut.users"},
		"records":  {"records: 5000", "records: @", "spec.scenarios[0].loads[1].dataImport.records"},
		"switch":   {"seed: 7", "seed: 7, calibrate: @", "spec.design.calibrate"},
		"text":     {`maxRAMPercentage: "66"`, "maxRAMPercentage: @", "spec.arms[1].set.modules[0].jvm.heap.maxRAMPercentage"},
	}
	for name, cases := range map[string]map[string]string{
		"duration": {"15": "15s", `"15"`: "15s", "1.5": "1.5s", "15sec": "15s", `"15 s"`: "15s", "15S": "15s", "5min": "5m", "1d": "24h", "1h30": "1h30m", "PT5M": "5m", "0": "0s"},
		"nested":   {"10": "10s", `"10"`: "10s", "10min": "10m"},
		"memory":   {"512MB": "512Mi", `"512 Mi"`: "512Mi", "512MiB": "512Mi", "512mb": "512Mi", `"1,5Gi"`: "1.5Gi", "4gb": "4Gi", "1.5": "1.5Gi"},
		"heap":     {"256MB": "256Mi", "1.5 gb": "1.5Gi"},
		"cpu":      {"0.5": "500m", `"1,5"`: "1500m", "50%": "500m", "2 cores": "2", "500milli": "500m"},
		"percent":  {"5%": "5", `"5"`: "5", `"5 %"`: "5", "0.05": "5"},
		"number":   {"8.0 percent": "8", `"8"`: "8", `"1,000"`: "1000"},
		"switch":   {`"yes"`: "true", `"true"`: "true", "0": "false"},
		"text":     {"66": `"66"`, "66%": `"66"`, `"66 %"`: `"66"`},
		"records":  {"5k": "5000"},
	} {
		for written, want := range cases {
			t.Run(name+" "+written, func(t *testing.T) {
				field := fields[name]
				text := strings.Replace(string(experiment), field.old, strings.Replace(field.changed, "@", written, 1), 1)
				got := perflab(t, text, "plan", "-f", "-", "-f", "testdata/system.yaml").ends(exit.Invalid)
				got.warns("\n  "+field.place+": ", strings.Trim(written, `"`), " is not a ", ": write "+want+"\n")
				expect.Equal(t, 2, strings.Count(got.problems, "\n"), "lines, the first of which says that the manifest is invalid:\n%s", got.problems)
			})
		}
	}
}

// So do flags.
func TestFlagSuggestions(t *testing.T) {
	for want, arguments := range map[string][]string{
		`missing unit in duration "15": write 15s`:        {"status", "heap", "--timeout", "15"},
		`unknown unit "min" in duration "5min": write 5m`: {"run", "-f", "x.yaml", "--interval", "5min"},
		`"30d": write 720h`:                               {"archive", "gc", "--runs-age", "30d"},
		`: write 5` + "\n":                                {"plan", "-f", "x.yaml", "--cv", "5%"},
		`: write 2.5`:                                     {"analyze", "--baseline", "a", "--margin", "2,5"},
		`: write 20` + "\n":                               {"history", "x.yaml", "--analyses", "20.0"},
		`: write true`:                                    {"status", "heap", "--watch=yes"},
		`--max-memory "4GB" must be an amount of memory above 0, for example 4Gi: write 4Gi`: {"plan", "-f", "x.yaml", "--max-memory", "4GB"},
		"--max-memory 512 is 512 bytes: write 512Mi":                                         {"plan", "-f", "x.yaml", "--max-memory", "512"},
		"--max-memory 512m is 1 byte: write 512Mi":                                           {"plan", "-f", "x.yaml", "--max-memory", "512m"},
	} {
		perflab(t, "", arguments...).ends(exit.Failed).warns(want)
	}
}

// run shows the same errors as plan.
func TestRunSuggestions(t *testing.T) {
	home := measured(t).other(t)
	experiment, err := os.ReadFile("testdata/experiment.yaml")
	expect.NoError(t, err)
	for written, want := range map[string]string{"15": "15 is not a duration: write 15s", `"5min"`: `"5min" is not a duration: write 5m`} {
		text := strings.Replace(string(experiment), "startAfter: 10m", "startAfter: "+written, 1)
		home.perflab(t, text, "run", "-f", "-", "--no-follow").ends(exit.Invalid).warns("spec.scenarios[0].loads[1].startAfter: " + want)
	}
}
