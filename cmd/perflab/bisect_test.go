// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/recorded"
)

// exportedWith writes an experiment with changed systems.
func exportedWith(t *testing.T, name string, change func(*report.Input)) string {
	t.Helper()
	input := recorded.Experiment(1)
	input.Experiment.Name = name
	change(&input)
	for i := range input.Runs {
		input.Runs[i].Spec.Experiment = name
	}
	input.Raw = nil
	return exportedTo(t, name+".yaml", input)
}

func TestBisect(t *testing.T) {
	before := exportedWith(t, "heap-1", func(*report.Input) {})
	after := exportedWith(t, "heap-2", func(input *report.Input) {
		for i := range input.Runs {
			system := &input.Runs[i].Spec.System
			system.Kafka.Version = "9.9.9"
			system.Modules[0].Image, system.Modules[1].Image = "example.org/first:new", "example.org/second:new"
			system.Modules[2].HealthPath = "/new"
		}
	})
	got := perflab(t, "", "bisect", before, after)
	got.ends(0).shows(
		"name: heap-2-bisect", "# arm kafka\n", "9.9.9", "# not set by any arm", "healthPath", "question: Which change is the cause?", "image: example.org/first:new",
	)
	if strings.Contains(got.out, "status:") {
		t.Error("what is to be applied has a status")
	}
	// The cluster accepts it, and its arms have the expected names.
	planned := perflab(t, got.out, "plan", "-f", "-")
	planned.ends(0).shows("before (baseline)", "6 arms x 2 scenarios")
	two := perflab(t, "", "bisect", before, after, "--parts", "2", "--name", "which")
	two.ends(0).shows("name: part-2", "name: which\n")
}

// Names in a file can't break out of a comment.
func TestBisectEscapesNames(t *testing.T) {
	hostile := func(image string) string {
		return exportedWith(t, "heap", func(input *report.Input) {
			for i := range input.Runs {
				modules := input.Runs[i].Spec.System.Modules
				modules[0].Name, modules[0].Image = "x\nkind: Secret", image
			}
		})
	}
	got := perflab(t, "", "bisect", hostile("a:1"), hostile("a:2\nkind: Secret"))
	if got.code != 0 || strings.Contains(got.out, "\nkind: Secret") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

func TestBisectRefuses(t *testing.T) {
	path := exportedWith(t, "heap-1", func(*report.Input) {})
	for want, arguments := range map[string][]string{
		"do not differ in a setting that an arm can change": {path, path},
		`has no run of arm "huge"`:                          {path, path, "--arm", "huge"},
		"must be from 1 to 30":                              {path, path, "--parts", "0"},
		"accepts 2 arg(s)":                                  {path},
		"no such file":                                      {path, "absent.yaml"},
	} {
		got := perflab(t, "", append([]string{"bisect"}, arguments...)...)
		if got.code == 0 || !strings.Contains(got.problems, want) {
			t.Errorf("%v: exit code %d, %q, want %q", arguments[1:], got.code, got.problems, want)
		}
	}
}
