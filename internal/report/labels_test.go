// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// A page shows arms by their display names and lists their names in the cluster once; the CSV has
// the names.
func TestArmsAreCalledByTheirLabels(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Arms[0].DisplayName = "Heap by size"
	input.Experiment.Spec.Arms[1].DisplayName = "Heap by share"
	r := reportOf(t, input)
	for _, format := range []string{"report.md", "report.html", "report.confluence"} {
		page, _, _ := strings.Cut(written(t, r, format), "Reproduction")
		expect.Contains(t, page, []string{"Heap by share is a trade-off against Heap by size", "Heap by size (A/A control)"}, "%s", format)
		for _, name := range []string{recorded.Baseline, recorded.Twin, recorded.Arm} {
			// Names of runs and of the experiment contain these names.
			alone := regexp.MustCompile(`(^|[^-\w])` + name + `($|[^-\w])`)
			_, below, _ := strings.Cut(page, "Scenarios and their loads")
			if found := alone.FindAllString(below, -1); len(found) > 0 {
				t.Errorf("%s: the arm is called %s %d times", format, name, len(found))
			}
		}
	}
	expect.Contains(t, written(t, r, "report.md"), []string{"| Heap by share | `maxram-66` |", "name: " + recorded.Arm}, "the page")
	rows, err := r.CSV()
	expect.NoError(t, err)
	if strings.Contains(string(rows), "Heap by") || !strings.Contains(string(rows), ","+recorded.Arm+",") {
		t.Error("the rows have labels, or not the names")
	}
}

// Equal labels never merge two arms.
func TestLabelsAreUnique(t *testing.T) {
	for name, tc := range map[string]struct{ baseline, arm, want string }{
		"alike":           {"Heap", "Heap", "Heap (maxram-66) is a trade-off against Heap (xmx)"},
		"another's name":  {"", "xmx", "xmx (maxram-66) is a trade-off against xmx"},
		"its own name":    {"xmx", "maxram-66", "maxram-66 is a trade-off against xmx"},
		"nothing but air": {" ", " ", "maxram-66 is a trade-off against xmx"},
	} {
		input := recorded.Experiment(seed)
		input.Experiment.Spec.Arms[0].DisplayName, input.Experiment.Spec.Arms[1].DisplayName = tc.baseline, tc.arm
		if card := head(t, input); !strings.Contains(card, tc.want) {
			t.Errorf("%s: the card lacks %q:\n%s", name, tc.want, card)
		}
	}
}

// Labels of arms in a matrix are those of their levels, which may have display names too.
func TestArmsOfAMatrixAreCalledByTheirLevels(t *testing.T) {
	levels := func(input *report.Input, factor int, names ...string) {
		for i, name := range names {
			input.Experiment.Spec.Matrix.Factors[factor].Levels[i].DisplayName = name
		}
	}
	for name, tc := range map[string]struct {
		change func(*report.Input)
		want   []string
	}{
		"names":  {func(*report.Input) {}, []string{"all-but-two / two", "Partitions two instead of one: worse in"}},
		"levels": {func(input *report.Input) { levels(input, 1, "1 partition", "2 partitions") }, []string{"all-but-two / 2 partitions", "2 partitions instead of 1 partition: worse in", "Split all-but-two with 2 partitions: no interaction"}},
		"factors": {func(input *report.Input) {
			input.Experiment.Spec.Matrix.Factors[1].DisplayName = "Partitions of data import:"
		}, []string{"Partitions of data import: two instead of one: worse in"}},
		"pairs": {func(input *report.Input) {
			input.Experiment.Spec.Analysis.Comparisons = v1alpha1.PairsWithinLevels
		}, []string{"Primary metrics, arm against arm", "| all-but-two / two | all-modules / two |"}},
	} {
		t.Run(name, func(t *testing.T) {
			input := example(t, "read-write-split")
			tc.change(&input)
			page := markdownOf(t, input)
			expect.Contains(t, page, tc.want, "the page")
			shown, _, _ := strings.Cut(page, "Reproduction")
			if strings.Contains(shown, "all-but-two-two ") {
				t.Error("an arm is called by its name")
			}
		})
	}
}
