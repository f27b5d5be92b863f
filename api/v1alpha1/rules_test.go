// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// rule is a request to the API server and the expected answer.
type rule struct {
	changes []change
	// place and sentence are the expected refusal; empty: the request is accepted.
	place, sentence string
}

func accept(changes ...change) rule { return rule{changes: changes} }

func refuse(place, sentence string, changes ...change) rule {
	return rule{changes: changes, place: place, sentence: sentence}
}

func judge(t *testing.T, rules map[string]rule) {
	t.Helper()
	server.Config(t)
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			verdict(t, create(t, experiment(t, rule.changes...)), rule.place, rule.sentence)
		})
	}
}

func TestServiceAccountNames(t *testing.T) {
	const place, sentence = "spec.serviceAccountName", "should match"
	judge(t, map[string]rule{
		"a name":               accept(change{place, "perflab-author"}),
		"with dots":            accept(change{place, "team-a.author.2"}),
		"a user":               refuse(place, sentence, change{place, "system:serviceaccount:lab:author"}),
		"in another namespace": refuse(place, sentence, change{place, "other/author"}),
		"upper case":           refuse(place, sentence, change{place, "Author"}),
		"with a space":         refuse(place, sentence, change{place, "author admin"}),
		"ends in a hyphen":     refuse(place, sentence, change{place, "author-"}),
		"an empty label":       refuse(place, sentence, change{place, "author..two"}),
	})
}

func TestSamplesAreAccepted(t *testing.T) {
	entries, err := os.ReadDir(apiserver.Root("config", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".yaml") {
			continue
		}
		content, err := os.ReadFile(apiserver.Root("config", "samples", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, document := range strings.Split(string(content), "\n---\n") {
			t.Run(fmt.Sprintf("%s/%d", entry.Name(), i), func(t *testing.T) {
				sample := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(document), &sample.Object); err != nil {
					t.Fatal(err)
				}
				sample.SetNamespace("default")
				verdict(t, create(t, sample), "", "")
			})
		}
	}
}

func TestExperimentRules(t *testing.T) {
	const nameTooLong = "the experiment's name must be at most 32 lower-case letters, digits and '-' and start with a letter"
	judge(t, map[string]rule{
		"as it is":                      accept(),
		"name of 32 characters":         accept(change{"metadata.name", strings.Repeat("a", 32)}),
		"name of 33 characters":         refuse("", nameTooLong, change{"metadata.name", strings.Repeat("a", 33)}),
		"name that ends in a dot":       refuse("", nameTooLong, change{"metadata.name", "a.b"}),
		"name that begins with a digit": refuse("", nameTooLong, change{"metadata.name", "1a"}),
		"a question":                    accept(change{"spec.question", `"Do two partitions make imports faster?"`}),
		"a long question":               accept(change{"spec.question", strings.Repeat("w", 160)}),
		"a question too long":           refuse("spec.question", "may not be more than 160", change{"spec.question", strings.Repeat("w", 161)}),
		"no question":                   refuse("spec.question", "should be at least 8 chars long", change{"spec.question", `"Faster?"`}),
		"a question of two lines":       refuse("spec.question", "should match", change{"spec.question", `"two\nlines, one question"`}),
		"no blocks":                     refuse("spec.design.blocks", "design.blocks must be from 1 to 100", change{"spec.design.blocks", "0"}),
		"one block":                     accept(change{"spec.design.blocks", "1"}),
		"101 blocks":                    refuse("spec.design.blocks", "design.blocks must be from 1 to 100", change{"spec.design.blocks", "101"}),
		"unknown order":                 refuse("spec.design.order", `supported values: "Randomized", "Fixed"`, change{"spec.design.order", "Random"}),
		"unknown reset":                 refuse("spec.reset", `supported values: "None", "RestartModules", "RestoreData", "Reschedule", "Recreate"`, change{"spec.reset", "Restart"}),
		"unknown clean-up":              refuse("spec.cleanup.policy", `supported values: "Delete", "Retain"`, change{"spec.cleanup.policy", "Keep"}),
		"no attempts":                   refuse("spec.validity.maxAttempts", "greater than or equal to 1", change{"spec.validity.maxAttempts", "0"}),
		"errors beyond 100":             refuse("spec.validity.maxErrorPercent", "less than or equal to 100", change{"spec.validity.maxErrorPercent", "101"}),
		"others beyond the node":        refuse("spec.validity.maxOtherCPUPercent", "less than or equal to 100", change{"spec.validity.maxOtherCPUPercent", "101"}),
		"any use by others":             accept(change{"spec.validity.maxOtherCPUPercent", "100"}),
		"gaps of most of the time":      refuse("spec.validity.maxGapPercent", "less than or equal to 50", change{"spec.validity.maxGapPercent", "51"}),
		"gaps of half of the time":      accept(change{"spec.validity.maxGapPercent", "50"}),
		"what is sound counts":          accept(change{"spec.validity.unsound", "LeftOut"}),
		"unknown unsound":               refuse("spec.validity.unsound", `supported values: "InvalidRun", "LeftOut"`, change{"spec.validity.unsound", "Keep"}),
		"no errors allowed":             accept(change{"spec.validity.maxErrorPercent", "0"}),
		"failed requests beyond 100":    refuse("spec.validity.maxFailedRequestsPercent", "less than or equal to 100", change{"spec.validity.maxFailedRequestsPercent", "101"}),
		"any requests may fail":         accept(change{"spec.validity.maxFailedRequestsPercent", "100"}),
		"failed checks below 0":         refuse("spec.validity.maxFailedChecksPercent", "greater than or equal to 0", change{"spec.validity.maxFailedChecksPercent", "-1"}),
		"any checks may fail":           accept(change{"spec.validity.maxFailedChecksPercent", "100"}),
	})
}

func TestLaneRules(t *testing.T) {
	const nameless = "a lane needs a name with type: Named or Kueue, and only then"
	judge(t, map[string]rule{
		"the cluster":            accept(change{"spec.lane", "{type: Cluster}"}),
		"without a type":         accept(change{"spec.lane", "{}"}),
		"a named one":            accept(change{"spec.lane", "{type: Named, name: m5-large}"}),
		"Kueue's queue":          accept(change{"spec.lane", "{type: Kueue, name: team-a}"}),
		"Kueue without a queue":  refuse("spec.lane", nameless, change{"spec.lane", "{type: Kueue}"}),
		"a named one, nameless":  refuse("spec.lane", nameless, change{"spec.lane", "{type: Named}"}),
		"a name for the cluster": refuse("spec.lane", nameless, change{"spec.lane", "{name: m5}"}),
		"a name of other signs":  refuse("spec.lane.name", "should match", change{"spec.lane", "{type: Named, name: M5}"}),
		"another type":           refuse("spec.lane.type", "supported values", change{"spec.lane", "{type: Motorway}"}),
	})
}

func TestArmRules(t *testing.T) {
	const oneBaseline = "exactly one arm must have baseline: true"
	judge(t, map[string]rule{
		"two baselines":      refuse("spec", oneBaseline, change{"spec.arms.1.baseline", "true"}),
		"no baseline":        refuse("spec", oneBaseline, change{"spec.arms.0.baseline", "false"}),
		"the other baseline": accept(change{"spec.arms.0.baseline", "false"}, change{"spec.arms.1.baseline", "true"}),
		"one arm":            accept(change{"spec.arms", "[{name: only, baseline: true}]"}),
		"no arms":            refuse("spec.arms", "should have at least 1 items", change{"spec.arms", "[]"}),
		"17 arms":            refuse("spec.arms", "must have at most 16 items", change{"spec.arms", manyArms(17)}),
		"16 arms":            accept(change{"spec.arms", manyArms(16)}),
		"duplicate arms":     refuse("spec.arms[1]", `Duplicate value: {"name":"as-is"}`, change{"spec.arms.1.name", "as-is"}),
		"arm with a capital": refuse("spec.arms[1].name", "an arm's name may have lower-case letters, digits and '-'", change{"spec.arms.1.name", "Changed"}),
		"arm without a name": refuse("spec.arms[1].name", "an arm's name may have lower-case letters, digits and '-'", change{"spec.arms.1.name", `""`}),

		"unknown field":        refuse("", `unknown field "spec.arms[1].set.kafka.partitions"`, change{"spec.arms.1.set.kafka.partitions", "2"}),
		"unknown component":    refuse("", `unknown field "spec.arms[1].set.redis"`, change{"spec.arms.1.set.redis", "{}"}),
		"neither has kafka":    accept(change{"spec.system.kafka", ""}, change{"spec.arms.1.set.kafka", ""}),
		"neither has postgres": accept(change{"spec.system.postgres", ""}, change{"spec.arms.1.set.postgres", ""}),
		"no partitions":        refuse("spec.arms[1].set.kafka.topics[0].partitions", "partitions must be from 1 to 10000", change{"spec.arms.1.set.kafka.topics.0.partitions", "0"}),
		"no brokers":           refuse("spec.arms[1].set.kafka.brokers.replicas", "must be from 1 to 100: a Kafka without nodes cannot serve", change{"spec.arms.1.set.kafka.brokers", "{replicas: 0}"}),
		"101 replicas":         refuse("spec.arms[1].set.modules[1].replicas", "replicas of a module must be from 0 to 100", change{"spec.arms.1.set.modules.1.replicas", "101"}),
		"heap by both": refuse("spec.arms[1].set.modules[0].jvm.heap", "jvm.heap has both max and maxRAMPercentage: the JVM would ignore the percentage; write only one of them",
			change{"spec.arms.1.set.modules.0.jvm.heap.max", "64Mi"}),
	})
}

func TestMatrixRules(t *testing.T) {
	matrix := func(text string) []change { return []change{{"spec.arms", ""}, {"spec.matrix", text}} }
	const two = "{name: partitions, levels: [{name: one}, {name: two}]}"
	judge(t, map[string]rule{
		"arms and matrix": refuse("spec", "an experiment needs exactly one of arms (a list of configurations) and matrix (factors with levels)",
			change{"spec.matrix", "{factors: [" + two + "]}"}),
		"neither":           refuse("spec", "an experiment needs exactly one of arms", change{"spec.arms", ""}),
		"matrix":            accept(matrix("{factors: [" + two + "]}")...),
		"no factors":        refuse("spec.matrix.factors", "should have at least 1 items", matrix("{factors: []}")...),
		"a factor of one":   refuse("spec.matrix.factors[0].levels", "a factor needs two levels or more: with one level nothing varies; write it into the system instead", matrix("{factors: [{name: a, levels: [{name: b}]}]}")...),
		"a factor twice":    refuse("spec.matrix.factors[1]", "Duplicate value", matrix("{factors: ["+two+", "+two+"]}")...),
		"a level twice":     refuse("spec.matrix.factors[0].levels[1]", "Duplicate value", matrix("{factors: [{name: a, levels: [{name: b}, {name: b}]}]}")...),
		"a level's capital": refuse("spec.matrix.factors[0].levels[0].name", "a level's name may have lower-case letters, digits and '-'", matrix("{factors: [{name: a, levels: [{name: B}, {name: c}]}]}")...),
	})
}

func TestSystemRefRules(t *testing.T) {
	const one = "an experiment needs exactly one of system (written here) and systemRef (the name of a PerfSystem)"
	judge(t, map[string]rule{
		"both":          refuse("spec", one, change{"spec.systemRef", "{name: folio}"}),
		"neither":       refuse("spec", one, change{"spec.system", ""}),
		"a reference":   accept(change{"spec.system", ""}, change{"spec.systemRef", "{name: folio}"}),
		"without names": refuse("spec.systemRef.name", "should be at least 1 chars long", change{"spec.system", ""}, change{"spec.systemRef", `{name: ""}`}),
	})
}

func manyArms(count int) string {
	arms := []string{"{name: arm-0, baseline: true}"}
	for n := 1; n < count; n++ {
		arms = append(arms, fmt.Sprintf("{name: arm-%d}", n))
	}
	return "[" + strings.Join(arms, ", ") + "]"
}

func TestReadWriteSplitRules(t *testing.T) {
	const system = "postgres.readWriteSplit.enabled needs postgres.instances of 2 or more: with one instance there is no replica to read from"
	one := []change{{"spec.system.postgres.instances", "1"}, {"spec.system.postgres.readWriteSplit", "{enabled: false}"}}
	judge(t, map[string]rule{
		"on with one instance":         refuse("spec.system.postgres", system, change{"spec.system.postgres.instances", "1"}),
		"on with the default instance": refuse("spec.system.postgres", system, change{"spec.system.postgres.instances", ""}),
		"off with one instance":        accept(one...),
		"arm turns it on with two instances": accept(append(one,
			change{"spec.arms.1.set.postgres", "{instances: 2, readWriteSplit: {enabled: true}}"})...),
		"arm lowers instances and turns it off": accept(
			change{"spec.arms.1.set.postgres", "{instances: 1, readWriteSplit: {enabled: false}}"}),
		"arm excludes a module": accept(
			change{"spec.arms.1.set.postgres", "{readWriteSplit: {enabled: true, exclude: [circulation]}}"}),
		"no instances": refuse("spec.system.postgres.instances", "postgres.instances must be from 1 to 16: one primary and up to 15 replicas",
			change{"spec.system.postgres.instances", "0"}),
		"17 instances": refuse("spec.system.postgres.instances", "postgres.instances must be from 1 to 16", change{"spec.system.postgres.instances", "17"}),
	})
}
