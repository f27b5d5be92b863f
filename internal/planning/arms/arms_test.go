// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/systems"
)

func partitions(count int32) *v1alpha1.SystemSet {
	return kafkaSet(v1alpha1.KafkaSet{Topics: []v1alpha1.TopicGroupSet{{Group: "data-import", Partitions: ptr.To(count)}}})
}

func split(enabled bool) *v1alpha1.SystemSet {
	return &v1alpha1.SystemSet{Postgres: &v1alpha1.PostgresSet{ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: enabled}}}
}

// twoByTwo returns the matrix of partitions and split.
func twoByTwo() *v1alpha1.PerfExperimentSpec {
	return &v1alpha1.PerfExperimentSpec{Matrix: &v1alpha1.Matrix{Factors: []v1alpha1.Factor{
		{Name: "partitions", Levels: []v1alpha1.Level{{Name: "one", Set: partitions(1)}, {Name: "two", Set: partitions(2)}}},
		{Name: "split", Levels: []v1alpha1.Level{{Name: "on", Set: split(true)}, {Name: "off", Set: split(false), Baseline: true}}},
	}}}
}

type summary struct {
	Name       string
	Baseline   bool
	Partitions int32
	Split      bool
}

func summarize(all []arms.Arm) []summary {
	var summaries []summary
	for _, arm := range all {
		summaries = append(summaries, summary{arm.Name, arm.Baseline, arm.System.Kafka.Topics[0].Partitions, arm.System.Postgres.ReadWriteSplit.Enabled})
	}
	return summaries
}

func TestMatrix(t *testing.T) {
	want := []summary{
		{"one-on", false, 1, true},
		{"one-off", true, 1, false},
		{"two-on", false, 2, true},
		{"two-off", false, 2, false},
	}
	expect.Equal(t, want, summarize(arms.All(twoByTwo(), systems.Full())), "arms")
}

func TestMatrixExclude(t *testing.T) {
	cases := map[string]struct {
		exclude []map[string]string
		want    []string
	}{
		"Nothing":       {nil, []string{"one-on", "one-off", "two-on", "two-off"}},
		"OneLevel":      {[]map[string]string{{"partitions": "two"}}, []string{"one-on", "one-off"}},
		"Combination":   {[]map[string]string{{"partitions": "two", "split": "on"}}, []string{"one-on", "one-off", "two-off"}},
		"TwoEntries":    {[]map[string]string{{"partitions": "two", "split": "on"}, {"split": "on"}}, []string{"one-off", "two-off"}},
		"Empty":         {[]map[string]string{{}}, []string{"one-on", "one-off", "two-on", "two-off"}},
		"UnknownFactor": {[]map[string]string{{"partitions": "two", "heap": "big"}}, []string{"one-on", "one-off", "two-on", "two-off"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := twoByTwo()
			spec.Matrix.Exclude = tc.exclude
			var got []string
			for _, arm := range arms.All(spec, systems.Full()) {
				got = append(got, arm.Name)
			}
			expect.Equal(t, tc.want, got, "arms")
		})
	}
}

func TestBaselineAndNamed(t *testing.T) {
	all := arms.All(twoByTwo(), systems.Full())
	if baseline, found := arms.Baseline(all); !found || baseline.Name != "one-off" {
		t.Errorf("the baseline is %q, %t", baseline.Name, found)
	}
	if arm, found := arms.Named(all, "two-on"); !found || arm.System.Kafka.Topics[0].Partitions != 2 {
		t.Errorf("the arm two-on is %+v, %t", arm.Name, found)
	}
	if _, found := arms.Named(all, "three"); found {
		t.Error("found an arm that is not there")
	}
	if _, found := arms.Baseline(nil); found {
		t.Error("found a baseline among none")
	}
}

func TestTwin(t *testing.T) {
	cases := map[string]struct {
		baseline string
		others   []string
		want     string
	}{
		"Plain":     {"as-is", []string{"slow"}, "as-is-twin"},
		"Long":      {"a-name-of-forty-characters-and-not-one-m", nil, "a-name-of-forty-characters-and-not-twin"},
		"Taken":     {"as-is", []string{"as-is-twin"}, "as-is-twin-2"},
		"TakenLong": {"abcdefghijklmnopqrstuvwxyzabcdefghijklmn", []string{"abcdefghijklmnopqrstuvwxyzabcdefghi-twin"}, "abcdefghijklmnopqrstuvwxyzabcdefg-twin-2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := &v1alpha1.PerfExperimentSpec{Design: v1alpha1.Design{Calibrate: true}}
			set := &v1alpha1.SystemSet{Kafka: &v1alpha1.KafkaSet{Version: "9.9.9"}}
			spec.Arms = []v1alpha1.Arm{{Name: tc.baseline, Baseline: true, Set: set}}
			for _, other := range tc.others {
				spec.Arms = append(spec.Arms, v1alpha1.Arm{Name: other})
			}
			all := arms.All(spec, systems.Full())
			twin, found := arms.Twin(all)
			if !found || twin.Name != tc.want || twin.Baseline || len(all) != len(spec.Arms)+1 || !all[len(all)-1].Twin {
				t.Errorf("the twin is %q (%t) of %d arms, want %q at the end", twin.Name, found, len(all), tc.want)
			}
			if diff := cmp.Diff(all[0].System, twin.System); diff != "" || twin.System.Kafka.Version != "9.9.9" {
				t.Errorf("the twin is not configured as the baseline:\n%s", diff)
			}
			if len(twin.Name) > 40 {
				t.Errorf("%q has %d characters", twin.Name, len(twin.Name))
			}
		})
	}
	if _, found := arms.Twin(arms.All(twoByTwo(), systems.Full())); found {
		t.Error("an undeclared A/A control")
	}
}
