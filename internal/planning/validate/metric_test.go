// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// measured has a load of each kind.
func measured() []v1alpha1.Scenario {
	return []v1alpha1.Scenario{
		{Name: "mixed", Loads: []v1alpha1.Load{
			{Name: "cico", Until: "create", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}},
			{Name: "create", DataImport: &v1alpha1.DataImport{Records: 5}},
			{Name: "both", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}},
		}},
		{Name: "scripts", Loads: []v1alpha1.Load{
			{Name: "search", Script: &v1alpha1.Script{Path: "/a.js"}},
			{Name: "plain", Script: &v1alpha1.Script{Path: "/a.js", Image: "grafana/k6:2.2.0"}},
			{Name: "both", Script: &v1alpha1.Script{Path: "/a.js"}},
		}},
		{Name: "returns", Loads: []v1alpha1.Load{{Name: "returns", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8, CheckInPercent: ptr.To[int32](100)}}}},
	}
}

func TestImpossibleMetricsAreRejected(t *testing.T) {
	const statistics = "average, p50, p75, p95, p99, max, samples, errors"
	cases := map[string]string{
		"cico/Check-In/p95":                        "",
		"cico/requestsPerSecond":                   "",
		"search/iterationsPerSecond@alone":         "",
		"plain/requestsPerSecond":                  "",
		"cico/Check-Out/errors@alone":              "",
		"cico/Check-In/p99@during-create":          "",
		"cico/Check-In/GET /inventory/items/p95":   "",
		"create/duration":                          "",
		"create/failedChildJobs":                   "",
		"search/anything/p95":                      "",
		"search/outer / inner/max@after":           "",
		"plain/http_req_duration/p95":              "",
		"plain/iterations/count":                   "",
		"both/anything/p95":                        "",
		"returns/Check-In/p95":                     "",
		"module/gateway/cpu/average":               "",
		"module/gateway/memory/slopeHigh":          "",
		"module/gateway/restarts":                  "",
		"postgres/primary/connections/total/max":   "",
		"postgres/replica-1/lag/average@after":     "",
		"kafka/consumerLag/DI_a/b/average":         "",
		"custom/hits/a@b/c/max":                    "",
		"system/cost/perHour":                      "",
		"cico/Chekc-In/p95":                        `load "cico" has no transaction "Chekc-In": did you mean Check-In? Write one of its transactions (Check-In, Check-Out), for example cico/Check-In/average`,
		"cico/check-out/p95":                       `did you mean Check-Out? Write one of its transactions (Check-In, Check-Out), for example cico/Check-Out/average`,
		"create/duratoin":                          `load "create" imports, and has no metric "duratoin": did you mean duration? Write create/ and one of duration, clientDuration`,
		"cico/Check-In/p94":                        `"p94" is not a statistic of a transaction: end with one of these (` + statistics + `)`,
		"cico/Check-In":                            `"Check-In" is not a statistic of a transaction`,
		"cico/duration":                            `load "cico" has no transaction "duration"`,
		"cico/Check-In/p95@before":                 `"before" is not a window: write alone, after, during- and the name of an import, or fault- and the name of a fault`,
		"returns/Check-Out/p95":                    `write one of its transactions (Check-In), for example returns/Check-In/average`,
		"create/p95":                               `load "create" imports, and has no metric "p95": write create/ and one of duration, clientDuration, recordsPerSecond, imports, failedImports, records, failedRecords, childJobs, failedChildJobs`,
		"create/import-1/duration":                 `load "create" imports, and has no metric "import-1/duration": write create/ and one of duration, clientDuration, recordsPerSecond, imports, failedImports, records, failedRecords, childJobs, failedChildJobs`,
		"create/duration@alone":                    `load "create" imports, and is measured from its start to its end: remove the window "alone"`,
		"search/anything/p94":                      `"p94" is not a statistic of a transaction: end with one of these (` + statistics + `)`,
		"search/p95":                               `the metric does not name a transaction of load "search": write search/<transaction>/p95`,
		"search/iterations/count":                  `"count" is not a statistic of a transaction`,
		"plain/http_req_duration/p90":              `end with one of these (` + statistics + `, count)`,
		"both/anything/median":                     `load "both" has no transaction "anything"`,
		"module/gateway/cpu":                       `"cpu" is not a statistic of servers: end with one of these (average, max, percentOfRequest, percentOfLimit, slope, slopeLow, slopeHigh, restarts, oomKills), for example module/gateway/cpu/average`,
		"postgres/primary/connections/total":       `for example postgres/primary/connections/total/average`,
		"system/cost/perDay":                       `the system as a whole has no such metric: write system/cost/perHour`,
		"cico/Check-In/average@during-create-1000": `the window refers to load "create-1000", and no scenario has a load of this name`,
	}
	for metric, want := range cases {
		t.Run(metric, func(t *testing.T) {
			for _, guards := range []bool{false, true} {
				made := experiment()
				made.Spec.Scenarios = measured()
				place := "spec.analysis.primary[0]"
				if made.Spec.Analysis.Primary = []string{metric}; guards {
					made.Spec.Analysis = v1alpha1.Analysis{Guards: []string{metric}}
					place = "spec.analysis.guards[0]"
				}
				faults, _ := validate.Experiment(made, validate.Known{})
				if want == "" && len(faults) == 0 {
					continue
				}
				if want == "" || len(faults) != 1 || faults[0].Field != place || !strings.Contains(faults[0].Detail, want) {
					t.Errorf("faults %v, want %q at %s", faults, want, place)
				}
			}
		})
	}
}

// A transaction that the current script lacks causes a warning only, because the script may change
// before the load runs.
func TestUnknownScriptTransactionsWarn(t *testing.T) {
	scripts := map[string]map[string]string{"scripts": {
		"shop.js": "import { group } from 'k6'; export default function () { group('Log in', () => {}); group('Check-In', () => { group('Scan', () => {}); }); group('GET /items', () => {}); }",
		"tags.js": "import http from 'k6/http'; export default function () { http.get('a', {tags: {step: 'Pay'}}); }",
		"loop.js": "import { group } from 'k6'; export default function () { for (const name of ['a', 'b']) group(name, () => {}); }",
		"none.js": "export default function () {}",
	}}
	load := func(name, key, transactions string) v1alpha1.Load {
		made := v1alpha1.Load{Name: name, Script: &v1alpha1.Script{ConfigMap: &v1alpha1.ConfigMapKey{Name: "scripts", Key: key}}}
		if transactions != "" {
			made.Script.Transactions = &v1alpha1.ScriptTransactions{By: "Tag", Tag: transactions}
		}
		return made
	}
	const has = "Write one of its transactions (Check-In, GET /items, Log in, Scan)"
	for metric, want := range map[string]string{
		"shop/Log in/p95":                   "",
		"shop/Log in/GET https://a.b/c/p95": "",
		"shop/Check-In / Scan/average":      "",
		"shop/GET /items/average@alone":     "",
		"shop/requestsPerSecond":            "",
		"loop/anything/p95":                 "",
		"absent/anything/p95":               "",
		"none/anything/p95":                 "",
		"both/anything/p95":                 "",
		"tags/Pay/p95":                      "",
		"shop/Check-Inn/p95":                "shop/Check-Inn/p95: the script has no transaction Check-Inn: did you mean Check-In? " + has,
		"shop/log in/p95@after":             "the script has no transaction log in: did you mean Log in? " + has,
		"shop/Lo in/POST x/p95":             "the script has no transaction Lo in: did you mean Log in? " + has,
		"shop/Check-In / Scna/p95":          "the script has no transaction Scna: w" + has[1:],
		"shop/Check-In / Scans/p95":         "the script has no transaction Scans: did you mean Scan? " + has,
		"shop/GET /item/p95":                "did you mean GET /items? " + has,
		"shop/Return/p95":                   "the script has no transaction Return: write one of its transactions",
		"tags/Pya/p95":                      "the script has no transaction Pya: write one of its transactions (Pay)",
		"tags/Payy/p95":                     "the script has no transaction Payy: did you mean Pay?",
	} {
		t.Run(metric, func(t *testing.T) {
			for place, analysis := range map[string]v1alpha1.Analysis{
				" (spec.analysis.primary[0])": {Primary: []string{metric}}, " (spec.analysis.guards[0])": {Guards: []string{metric}},
			} {
				made := experiment()
				made.Spec.Scenarios = []v1alpha1.Scenario{
					{Name: "a", Loads: []v1alpha1.Load{load("shop", "shop.js", ""), load("tags", "tags.js", "step"), load("loop", "loop.js", ""), load("absent", "absent.js", ""), load("both", "shop.js", "")}},
					{Name: "b", Loads: []v1alpha1.Load{load("both", "loop.js", ""), load("none", "none.js", "")}},
				}
				made.Spec.Analysis = analysis
				faults, found := validate.Experiment(made, validate.Known{ConfigMaps: scripts})
				warnings := found.Sentences()
				if none := slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, `the script of load "none" (none.js) has no group`) }); !none {
					t.Errorf("it does not warn of the script without groups: %q", warnings)
				}
				told := strings.Join(slices.DeleteFunc(warnings, func(w string) bool { return !strings.HasPrefix(w, metric+": ") }), "\n")
				if len(faults) > 0 || (told == "") != (want == "") || !strings.Contains(told, want) || told != "" && !strings.HasSuffix(told, place) {
					t.Errorf("faults %v; it warns\n%s\nwant\n%s%s", faults, told, want, place)
				}
			}
		})
	}
}
