// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// The answer of a matrix is its factors and their interactions, each with its interval, not its
// cells.
func TestAMatrixIsAnsweredByItsFactors(t *testing.T) {
	const imports = "create/duration"
	times := func(factor float64, metric string, arms ...string) func(*report.Input) {
		return func(input *report.Input) {
			for _, arm := range arms {
				change(input, arm, metric, func(value string) string {
					number, err := strconv.ParseFloat(value, 64)
					expect.NoError(t, err)
					return strconv.FormatFloat(number*factor, 'f', -1, 64)
				})
			}
		}
	}
	for name, tc := range map[string]struct {
		change func(*report.Input)
		want   []string
		lacks  string
	}{
		"as recorded": {func(*report.Input) {}, []string{
			"> Partitions two instead of one: worse in Check-In average response time (+18\u00a0%, +7 to +30) and Check-Out average response time (+25\u00a0%, +14 to +37); better in duration of import create (−26.0\u00a0%, −32.5 to −18.7). ",
			"Split all-but-two instead of all-modules: equivalent in ",
			"Split all-but-two with partitions two: no interaction beyond the margin in ", "inconclusive interaction in duration of import create (−8\u00a0%, −22 to +9).",
			"**2 worse** · **1 better** · **1 inconclusive** · **5 equivalent**",
		}, "trade-off"},
		"an interaction": {times(2, imports, "all-but-two-two"), []string{
			"Split all-but-two with partitions two: worse in combination in duration of import create (+85\u00a0%, ",
		}, "inconclusive interaction"},
		"one that helps": {times(0.3, imports, "all-but-two-two"), []string{"better in combination in duration of import create (−"}, "inconclusive interaction"},
		"error shares that differ": {func(input *report.Input) {
			change(input, "all-modules-two", "cico/Check-In/errors", func(string) string { return "40" })
		}, []string{"no verdict on Check-In average response time"}, "Check-In average response time (+18\u00a0%, +7 to"},
		"no question": {func(input *report.Input) {
			input.Experiment.Spec.Question = ""
		}, []string{"# What do split and partitions change in Check-In, Check-Out average response time and 1 more?"}, "better than"},
		"a combination left out": {func(input *report.Input) {
			input.Experiment.Spec.Matrix.Exclude = []map[string]string{{"split": "all-but-two", "partitions": "two"}}
			input.Experiment.Status.Arms = input.Experiment.Status.Arms[:3]
			input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Arm == "all-but-two-two" })
		}, []string{"all-modules / two is a trade-off against all-modules / one"}, "instead of"},
		"too few blocks": {func(input *report.Input) {
			input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block > 3 })
		}, []string{"Too few blocks for a verdict"}, "instead of"},
	} {
		t.Run(name, func(t *testing.T) {
			input := example(t, "read-write-split")
			tc.change(&input)
			card := head(t, input)
			expect.Contains(t, card, tc.want, "the card")
			if strings.Contains(card, tc.lacks) {
				t.Errorf("the card says %q:\n%s", tc.lacks, card)
			}
		})
	}
}

// The table of effects has the verdicts and intervals of the card.
func TestTheTableOfEffectsAgreesWithTheCard(t *testing.T) {
	input := example(t, "read-write-split")
	card := head(t, input)
	rows := 0
	for _, one := range tables(markdownOf(t, input)) {
		if !strings.HasPrefix(one.caption, "Main effects of levels") {
			continue
		}
		for _, row := range one.rows {
			rows++
			effect, interval := row[slices.Index(one.header, "Effect")], row[slices.Index(one.header, "Interval")]
			if told := "(" + effect + ", " + interval + ")"; !strings.Contains(card, told) {
				t.Errorf("the card lacks %s of %v", told, row)
			}
		}
	}
	if rows != 9 {
		t.Errorf("%d effects, want 9", rows)
	}
}
