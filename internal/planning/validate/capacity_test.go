// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// libraryCapacity is a valid capacity of users, importCapacity one of records, and searchCapacity
// one of a script. Tests change a line.
const (
	libraryCapacity = `
loads: [{name: cico, duration: 12m, checkInCheckOut: {users: 60}}]
capacity:
  min: 5
  objectives:
  - {metric: cico/Check-In/p95, max: 1s}
  - {metric: postgres/primary/cpu/percentOfLimit, max: 80%}
  - {metric: kafka/consumerLag/slopeLow, max: "0"}
`
	importCapacity = `
loads: [{name: create, dataImport: {records: 5000}}]
capacity:
  min: 100
  objectives: [{metric: create/duration, max: 10min}]
`
	searchCapacity = `
loads: [{name: search, script: {configMap: {name: scripts, key: search.js}}}]
capacity:
  min: 5
  max: 60
  step: 2m
  objectives: [{metric: search/Search/p95, max: 1s}]
`
)

func TestCapacitiesAreValidated(t *testing.T) {
	scripts := validate.Known{ConfigMaps: map[string]map[string]string{"scripts": {
		"search.js": "import { group } from 'k6';\nexport const options = { scenarios: { s: { executor: 'ramping-vus', stages: JSON.parse(__ENV.PERFLAB_STAGES) } } };\nexport default function () { group('Search', () => {}) }",
		"fixed.js":  "import { group } from 'k6';\nexport const options = { vus: 8 };\nexport default function () { group('Search', () => {}) }",
	}}}
	cases := map[string]struct{ base, line, by, want string }{
		"users":                    {libraryCapacity, "min: 5", "min: 5", ""},
		"a script":                 {searchCapacity, "min: 5", "min: 5", ""},
		"which load":               {libraryCapacity, "min: 5", "min: 5\n  load: other", "name the load whose level changes: cico"},
		"imports":                  {importCapacity, "min: 100", "min: 100", ""},
		"more than the records":    {importCapacity, "min: 100", "min: 100\n  max: 6000", `load "create" has 5000 records: raise dataImport.records, or lower max`},
		"steps of imports":         {importCapacity, "min: 100", "min: 100\n  step: 3m", `each level of load "create" is an import, which has no fixed duration: remove step`},
		"parallel imports":         {importCapacity, "records: 5000}}]", "records: 5000, parallel: 8}}]", "the range is empty"},
		"a series of imports":      {importCapacity, "records: 5000", "records: 5000, imports: 3", "remove dataImport.imports"},
		"a server beside imports":  {importCapacity, "create/duration, max: 10min", "postgres/primary/cpu/percentOfLimit, max: 80%", ""},
		"a count of imports":       {importCapacity, "create/duration, max: 10min", "create/failedImports, max: 0", "the levels of an import do not have this metric: write create/duration, create/recordsPerSecond, or a metric of a server"},
		"another tool":             {libraryCapacity, "{name: cico, duration: 12m, checkInCheckOut: {users: 60}}", "{name: cico, elsewhere: {tool: JMeter}}", "results of another tool have no levels"},
		"more than the users":      {libraryCapacity, "min: 5", "min: 5\n  max: 61", `load "cico" has 60 users: raise checkInCheckOut.users, or lower max`},
		"required":                 {libraryCapacity, "min: 5", "min: 5\n  required: 60", ""},
		"more required than max":   {libraryCapacity, "min: 5", "min: 5\n  required: 61", "the search for the capacity covers only 5 to 60: write a load in this range, or widen the range"},
		"less required than min":   {libraryCapacity, "min: 5", "min: 5\n  required: 4", "the search for the capacity covers only 5 to 60"},
		"arrivals":                 {libraryCapacity, "{users: 60}", "{users: 60, arrivals: {perMinute: 400}}", ""},
		"more than the arrivals":   {libraryCapacity, "{users: 60}}]\ncapacity:", "{users: 60, arrivals: {perMinute: 400}}}]\ncapacity:\n  max: 500", `load "cico" has 400 arrivals a minute`},
		"too few users":            {libraryCapacity, "{users: 60}", "{users: 60, arrivals: {perMinute: 1000}}", "1000 transactions a minute with pauses of 4 s each keep 67 users busy even if the system responds at once: raise users to about 134"},
		"empty range":              {libraryCapacity, "min: 5", "min: 60", "the range is empty: write a min below max, which is 60"},
		"too few levels":           {libraryCapacity, "min: 5", "min: 57", "from 57 to 60 there are only 4 levels"},
		"a step beside a duration": {libraryCapacity, "min: 5", "min: 5\n  step: 2m", `the duration of load "cico" determines the step: remove step`},
		"until":                    {libraryCapacity, "duration: 12m, ", "", "its levels need a duration: write duration instead of until"},
		"too short":                {libraryCapacity, "12m", "36s", "a level is measured for 4s: lengthen the load, so that this is 5s or more"},
		"nothing but settling":     {libraryCapacity, "min: 5", "min: 5\n  settle: 2m", "a step of 2m leaves no measured time after settling for 2m"},
		"a script without a step":  {searchCapacity, "  step: 2m\n", "", "a script has no declared duration: write the time at each level"},
		"a script without a max":   {searchCapacity, "  max: 60\n", "", "the highest level of a script is unknown"},
		"a script of one level":    {searchCapacity, "search.js", "fixed.js", "fixed.js of ConfigMap scripts does not use the variable PERFLAB_STAGES, so all levels would be the same"},
		"a script with a summary":  {searchCapacity, "key: search.js}", "key: search.js}, results: Summary", "set script.results to Histograms"},
		"unknown transaction":      {libraryCapacity, "cico/Check-In/p95", "cico/Renew/p95", `load "cico" has no transaction "Renew"`},
		"unknown load":             {libraryCapacity, "cico/Check-In/p95", "cicco/Check-In/p95", `the metric refers to load "cicco"`},
		"window":                   {libraryCapacity, "cico/Check-In/p95", `"cico/Check-In/p95@alone"`, "scenario"},
		"limit in another unit":    {libraryCapacity, "max: 1s", "max: 1%", `the limit "1%" has another unit than the metric, which is in "ms"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			made := experiment()
			made.Spec.Analysis.Primary = nil
			var scenario v1alpha1.Scenario
			if err := yaml.UnmarshalStrict([]byte(strings.Replace(tc.base, tc.line, tc.by, 1)), &scenario); err != nil {
				t.Fatal(err)
			}
			scenario.Name = "capacity"
			made.Spec.Scenarios = []v1alpha1.Scenario{scenario}
			made.Spec.System.Target.CredentialsSecret.Name = "login"
			faults, warnings := validate.Experiment(made, scripts)
			text := fmt.Sprint(faults)
			if (tc.want == "") != (len(faults) == 0) || !strings.Contains(text, tc.want) {
				t.Errorf("faults %s (warnings %q), want %q", text, warnings, tc.want)
			}
		})
	}
}

// A warning names limits that are too low for the highest level, with the setting to raise.
func TestSmallGeneratorsAreWarnedOf(t *testing.T) {
	for resources, want := range map[string]string{
		"": "",
		", resources: {limits: {memory: 2Gi, cpu: 1}}": "",
		", resources: {limits: {memory: 100Mi}}":       `scenario "capacity", level 60 of load "cico": the k6 runner may use 100 MiB of memory, and 60 users need about`,
		", resources: {limits: {cpu: 10m}}":            `raise resources.limits.cpu or parallelism, or lower capacity.max`,
	} {
		made := experiment()
		var scenario v1alpha1.Scenario
		if err := yaml.UnmarshalStrict([]byte(strings.Replace(libraryCapacity, "{users: 60}", "{users: 60}"+resources, 1)), &scenario); err != nil {
			t.Fatal(err)
		}
		scenario.Name = "capacity"
		made.Spec.Scenarios = []v1alpha1.Scenario{scenario}
		_, warnings := validate.Experiment(made, validate.Known{})
		text := strings.Join(warnings.Sentences(), "\n")
		if !strings.Contains(text, want) || want == "" && strings.Contains(text, "k6 runner") {
			t.Errorf("%s: warnings %q, want %q", resources, text, want)
		}
	}
}

// Response times of different levels can't be compared.
func TestCapacityIsTheOnlyMetric(t *testing.T) {
	for primary, want := range map[string]string{
		"cico/capacity":     "",
		"cico/Check-In/p95": `scenario "capacity" searches for a capacity, and response times at different levels can't be compared: write cico/capacity`,
	} {
		made := experiment()
		var scenario v1alpha1.Scenario
		if err := yaml.UnmarshalStrict([]byte(libraryCapacity), &scenario); err != nil {
			t.Fatal(err)
		}
		scenario.Name = "capacity"
		made.Spec.Scenarios, made.Spec.Analysis.Primary = []v1alpha1.Scenario{scenario}, []string{primary}
		made.Spec.System.Target.CredentialsSecret.Name = "login"
		faults, _ := validate.Experiment(made, validate.Known{})
		if (want == "") != (len(faults) == 0) || !strings.Contains(fmt.Sprint(faults), want) {
			t.Errorf("%s: faults %v, want %q", primary, faults, want)
		}
	}
}
