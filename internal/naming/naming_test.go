// SPDX-License-Identifier: Apache-2.0

package naming_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// The longest names that admission accepts.
var (
	experiment = "e" + strings.Repeat("x", 31)
	longArm    = strings.Repeat("a", 40)
	scenario   = strings.Repeat("s", 40)
	loadName   = strings.Repeat("l", 24)
)

func TestNamesFitTheirLimits(t *testing.T) {
	run := naming.Long.Run(experiment, 100, longArm, scenario, 10)
	testRun := naming.Long.TestRun(run, loadName)
	service, label, subdomain := validation.IsDNS1035Label, validation.IsValidLabelValue, validation.IsDNS1123Subdomain
	shape := strings.Repeat("f", 16)
	kafka := naming.Long.Kafka(experiment, shape)
	for name, use := range map[string]struct {
		name  string
		valid func(string) []string
	}{
		"run as a label":        {run, label},
		"TestRun as a label":    {testRun, label},
		"Service of a runner":   {testRun + "-service-64", service},
		"initializer":           {testRun + "-initializer", label},
		"pod of a runner's Job": {naming.RunnerJob(testRun, 64) + "-abcde", label},
		"raw results":           {naming.RawResults(run), subdomain},
		"broker's pod":          {kafka + "-" + naming.Long.BrokerPool(kafka) + "-100", label},
		"controller's pod":      {kafka + "-" + naming.Long.ControllerPool(kafka) + "-100", label},
		"Kafka's Service":       {kafka + "-kafka-bootstrap", service},
		"topic ledger":          {naming.Long.TopicLedger(experiment, shape), subdomain},
		"PostgreSQL's Service":  {naming.Long.Postgres(experiment, shape) + "-rw", service},
		"module's Service":      {naming.Module(experiment, strings.Repeat("m", 30)), service},
		"image check":           {naming.ImageCheck(experiment, strings.Repeat("f", 16)), subdomain},
	} {
		if problems := use.valid(use.name); len(problems) > 0 {
			t.Errorf("%s %q of %d characters: %v", name, use.name, len(use.name), problems)
		}
	}
}

func TestNamesDoNotCollide(t *testing.T) {
	seen := map[string]string{}
	note := func(what, name string) {
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s are both called %q", what, other, name)
		}
		seen[name] = what
	}
	for _, place := range []struct{ experiment, arm, scenario string }{
		{"a", "b-c", "d"},
		{"a", "b", "c-d"},
		{"a-1", "b", "c"},
		{experiment, longArm, scenario},
		{experiment, longArm + "b", scenario},
		{experiment, longArm, scenario + "t"},
	} {
		for block := int32(1); block <= 12; block++ {
			for attempt := int32(1); attempt <= 3; attempt++ {
				note(fmt.Sprint(place, block, attempt), naming.Long.Run(place.experiment, block, place.arm, place.scenario, attempt))
			}
		}
	}
	for _, pair := range [][2]string{{"run-a", "b"}, {"run", "a-b"}, {strings.Repeat("r", 36), loadName}, {strings.Repeat("r", 36), loadName + "m"}} {
		note(fmt.Sprint("load ", pair), naming.Long.TestRun(pair[0], pair[1]))
	}
}

// A new operator finds the objects of an earlier one by name, so names must not change from version
// to version.
func TestNamesAreStable(t *testing.T) {
	for got, want := range map[string]string{
		naming.Long.Run("demo", 1, "one-partition", "cico", 1):              "demo-1-one-partition-cico-85f6005f0c",
		naming.Long.Run("demo", 1, "one-partition", "cico", 2):              "demo-1-one-partition-cico-96aff07120",
		naming.Long.Run("demo", 1, "one-partition", "import-under-cico", 1): "demo-1-one-partition-impo-d15d95903e",
		naming.Long.TestRun("demo-1-a-b-abcdef", "cico"):                    "demo-1-a-b-abcdef-cico-d9ebb13b47",
		naming.Long.Postgres("demo", ""):                                    "demo-pg",
		naming.Module("demo", "gateway"):                                    "demo-gateway",
		naming.Long.BrokerPool("demo"):                                      "broker-uqnlkapi",

		naming.Short.Run("demo", 1, "one-partition", "import-under-cico", 1): "demo-1-one-partition-import-u-d15d95",
		naming.Short.TestRun("demo-1-a-b-abcdef", "cico"):                    "demo-1-a-b-abcdef-cico-d9eb",
		naming.Short.BrokerPool("demo"):                                      "broker-e4ec08",
		naming.Short.ControllerPool("demo"):                                  "controller-e4ec08",
		naming.Short.Kafka("demo", "0123456789abcdef"):                       "demo-0123",
		naming.Short.Postgres("demo", "0123456789abcdef"):                    "demo-pg-0123",
		naming.Short.Prefix("0123456789abcdef"):                              "012345",
	} {
		expect.Equal(t, want, got, "name")
	}
}

// A run's name identifies its scheme, even if truncated.
func TestRunSchemeFromName(t *testing.T) {
	for _, scheme := range []naming.Scheme{naming.Long, naming.Short} {
		for _, arm := range []string{"a", longArm} {
			for attempt := int32(1); attempt <= 2; attempt++ {
				run := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Experiment: experiment, Block: 3, Arm: arm, Attempt: attempt}}
				run.Spec.Scenario.Name = scenario
				run.Name = scheme.Run(experiment, 3, arm, scenario, attempt)
				expect.Equal(t, scheme, naming.RunScheme(run), "run %s is of scheme", run.Name)
			}
		}
	}
}

// The names of as many runs as a namespace may hold, and of their loads, are distinct.
func TestManyNamesDoNotCollide(t *testing.T) {
	seen := map[string]bool{}
	for experiment := range 50 {
		name := fmt.Sprintf("a-long-name-of-an-experiment-%d", experiment)
		for block := range int32(100) {
			for arm := range 16 {
				for _, scenario := range []string{"users", "users-with-imports"} {
					run := naming.Long.Run(name, block, fmt.Sprintf("partitions-%d", arm), scenario, 1)
					if testRun := naming.Long.TestRun(run, "cico"); seen[run] || seen[testRun] {
						t.Fatalf("%s or %s is there twice", run, testRun)
					} else {
						seen[run], seen[testRun] = true, true
					}
				}
			}
		}
	}
}

func TestRunLabelsAreUnique(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	run.Name = "demo-1-a-b"
	run.Spec = v1alpha1.PerfRunSpec{Experiment: "demo", Arm: "a", Scenario: v1alpha1.Scenario{Name: "b"}}
	labels := naming.RunLabels(run)
	for key, want := range map[string]string{
		v1alpha1.LabelExperiment: "demo", v1alpha1.LabelRun: "demo-1-a-b", v1alpha1.LabelArm: "a", v1alpha1.LabelScenario: "b",
	} {
		expect.Equal(t, want, labels[key], "label %s", key)
	}
}

func TestHashDoesNotDependOnTheOrderOfAMap(t *testing.T) {
	first := naming.Hash(map[string]int{"a": 1, "b": 2, "c": 3})
	for range 20 {
		if naming.Hash(map[string]int{"c": 3, "b": 2, "a": 1}) != first {
			t.Fatal("the same map gave another hash")
		}
	}
	if naming.Hash("ab", "c") == naming.Hash("a", "bc") {
		t.Error("values that join to the same text have the same hash")
	}
}

func TestRawNamesAreUnique(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	if names := naming.RawNames(run); len(names) != 0 {
		t.Errorf("a run that has not begun names %q", names)
	}
	run.Status.RawResults = "run-raw"
	run.Status.Servers = &v1alpha1.ServersStatus{RawSamples: "run-samples"}
	run.Status.Loads = []v1alpha1.LoadStatus{
		{Name: "cico"},
		{Name: "search", Script: &v1alpha1.ScriptStatus{Record: "run-scripts"}},
		{Name: "summary", Script: &v1alpha1.ScriptStatus{Record: "run-scripts"}},
	}
	if names, want := naming.RawNames(run), []string{"run-raw", "run-samples", "run-scripts"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
