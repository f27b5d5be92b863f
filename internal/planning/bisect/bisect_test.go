// SPDX-License-Identifier: Apache-2.0

package bisect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/bisect"
	"perflab.dev/perflab/internal/testing/expect"
)

func system() v1alpha1.System {
	return v1alpha1.System{
		Kafka: &v1alpha1.Kafka{
			Version: "4.1.0", Config: map[string]string{"a": "1", "b": "2"},
			Topics: []v1alpha1.TopicGroup{{Group: "data-import", Partitions: 1}, {Group: "pub-sub", Partitions: 1}},
		},
		Postgres: &v1alpha1.Postgres{Instances: 1, Parameters: map[string]string{"max_connections": "100"}},
		Modules: []v1alpha1.Module{
			{Name: "mod-users", Image: "users:1", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "1"}}},
			{Name: "mod-circulation", Image: "circulation:1"},
			{Name: "mod-inventory", Image: "inventory:1"},
			{Name: "mod-search", Image: "search:1"},
		},
	}
}

// upgraded differs in Kafka, PostgreSQL and two modules.
func upgraded() v1alpha1.System {
	after := system()
	after.Kafka.Version, after.Kafka.Config["a"], after.Kafka.Topics[0].Partitions = "4.2.0", "3", 2
	after.Postgres.Parameters["work_mem"] = "8MB"
	after.Modules[0].Image, after.Modules[0].Env[1].Value = "users:2", "2"
	after.Modules[1].JVM = &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}
	return after
}

func plan(t *testing.T, before, after v1alpha1.System, most int) *bisect.Plan {
	t.Helper()
	made, err := bisect.New(before, after, most)
	expect.NoError(t, err)
	return made
}

func names(all []v1alpha1.Arm) string {
	var listed []string
	for _, arm := range all {
		listed = append(listed, arm.Name)
	}
	return strings.Join(listed, " ")
}

func TestNew(t *testing.T) {
	before, after := system(), upgraded()
	made := plan(t, before, after, 8)
	if got, want := names(made.Arms()), "before after kafka postgres mod-users mod-circulation"; got != want {
		t.Errorf("arms %q, want %q", got, want)
	}
	if len(made.Left) > 0 {
		t.Errorf("left: %v", made.Left)
	}
	for _, arm := range made.Arms() {
		resolved := arms.Resolve(before, arm.Set)
		switch arm.Name {
		case bisect.Before:
			if !equality.Semantic.DeepEqual(resolved, before) {
				t.Error("the baseline is not the system before")
			}
		case bisect.After:
			if diff := cmp.Diff(after, resolved); diff != "" {
				t.Errorf("-after +all parts\n%s", diff)
			}
		case "mod-users":
			if diff := cmp.Diff(after.Modules[0], resolved.Modules[0]); diff != "" || !equality.Semantic.DeepEqual(resolved.Kafka, before.Kafka) {
				t.Errorf("the arm of one module changes another part\n%s", diff)
			}
		}
	}
}

func TestNewMergesParts(t *testing.T) {
	made := plan(t, system(), upgraded(), 2)
	if got := names(made.Arms()); got != "before after part-1 part-2" {
		t.Errorf("arms %q", got)
	}
	first := arms.Resolve(system(), &made.Parts[0].Set)
	if second := arms.Resolve(first, &made.Parts[1].Set); !equality.Semantic.DeepEqual(second, upgraded()) {
		t.Error("both parts are not all there is")
	}
	if three := names(plan(t, system(), upgraded(), 3).Arms()); three != "before after kafka postgres part-3" {
		t.Errorf("arms %q", three)
	}
}

// With one difference, the only arm is that of all differences.
func TestNewWithOnePart(t *testing.T) {
	after := system()
	after.Modules[2].Image = "inventory:2"
	if got := names(plan(t, system(), after, 8).Arms()); got != "before after" {
		t.Errorf("arms %q", got)
	}
}

func TestNewListsUnsettableDifferences(t *testing.T) {
	after := upgraded()
	after.Modules = append(after.Modules, v1alpha1.Module{Name: "mod-new", Image: "new:1"})
	after.Modules[3].Command = []string{"other"}
	delete(after.Kafka.Config, "b")
	made := plan(t, system(), after, 8)
	left := fmt.Sprint(made.Left)
	expect.Contains(t, left, []string{"mod-new", "command", "kafka.config"})
	if _, err := bisect.New(system(), system(), 8); !errors.Is(err, bisect.ErrAlike) {
		t.Error(err)
	}
}
