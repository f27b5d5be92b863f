// SPDX-License-Identifier: Apache-2.0

package rendering_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/rendering"
)

func run(name string, position int32, arm, version string, rendered ...string) v1alpha1.PerfRun {
	made := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Arm: arm, Position: position}}
	made.Name, made.Status.Phase = name, v1alpha1.RunSucceeded
	if version == "" {
		return made
	}
	made.Status.Evidence = &v1alpha1.RunEvidence{Versions: v1alpha1.MetVersions{PerfLab: version}}
	for i := 0; i < len(rendered); i += 2 {
		made.Status.Evidence.Rendered = append(made.Status.Evidence.Rendered, v1alpha1.RenderedDigest{Of: rendered[i], SHA256: rendered[i+1]})
	}
	return made
}

func TestChange(t *testing.T) {
	now := run("now", 5, "slow", "v0.5.0", "Kafka", "k2", "the modules", "m2")
	failed := run("failed", 4, "slow", "v0.4.0", "Kafka", "k1")
	failed.Status.Phase = v1alpha1.RunInvalid
	otherScenario := run("other", 4, "slow", "v0.4.0", "Kafka", "k1")
	otherScenario.Spec.Scenario.Name = "imports"
	alike := run("alike", 3, "slow", "v0.4.0", "Kafka", "k2", "the modules", "m2")
	for name, c := range map[string]struct {
		runs []v1alpha1.PerfRun
		want string
	}{
		"the first":                  {nil, ""},
		"itself":                     {[]v1alpha1.PerfRun{now}, ""},
		"alike":                      {[]v1alpha1.PerfRun{alike}, ""},
		"the last before it decides": {[]v1alpha1.PerfRun{alike, run("old", 1, "slow", "v0.3.0", "Kafka", "k1")}, ""},
		"a later one does not":       {[]v1alpha1.PerfRun{run("later", 6, "slow", "v0.4.0", "Kafka", "k1")}, ""},
		"nor one that does not count, nor another arm, nor another scenario": {
			[]v1alpha1.PerfRun{failed, otherScenario, run("fast", 4, "fast", "v0.4.0", "Kafka", "k1")}, "",
		},
		"something else": {
			[]v1alpha1.PerfRun{run("old", 1, "slow", "v0.4.0", "Kafka", "k1", "the modules", "m1")},
			`not built as run "old" of the same arm: PerfLab renders Kafka, the modules differently (version v0.4.0 then, v0.5.0 now)`,
		},
		"a part that was not noted": {[]v1alpha1.PerfRun{run("old", 1, "slow", "v0.4.0", "Kafka", "k2")}, ""},
		"nothing was noted": {
			[]v1alpha1.PerfRun{run("old", 1, "slow", "")},
			`perhaps not built as run "old" of the same arm: an earlier PerfLab built that run and did not record what it rendered`,
		},
		"evidence, but nothing of this": {
			[]v1alpha1.PerfRun{run("old", 1, "slow", "v0.4.0")},
			`perhaps not built as run "old" of the same arm: an earlier PerfLab built that run and did not record what it rendered`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := rendering.Change(&now, rendering.Predecessor(&now, c.runs))
			if (got != nil) != (c.want != "") || got != nil && (got.Message != c.want || got.Since != "old") {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	object := func(value string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{{Object: map[string]any{"spec": value}}}
	}
	once := rendering.Digest("Kafka", object("a"))
	if again := rendering.Digest("Kafka", object("a")); once != again {
		t.Error("what is alike has another digest")
	}
	if once == rendering.Digest("Kafka", object("b")) {
		t.Error("what is not alike has the same digest")
	}
}
