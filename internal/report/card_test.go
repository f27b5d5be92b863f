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

// head is the part of a page before its first section.
func head(t *testing.T, input report.Input) string {
	t.Helper()
	text, _ := halves(t, input)
	return text
}

// belowCard are the sections.
func belowCard(t *testing.T, input report.Input) string {
	t.Helper()
	_, text := halves(t, input)
	return text
}

func halves(t *testing.T, input report.Input) (card, sections string) {
	t.Helper()
	card, sections, found := strings.Cut(written(t, reportOf(t, input), "report.md"), "\n## ")
	if !found {
		t.Fatal("there is no section")
	}
	return card, sections
}

// The card lists its caveats, the largest first; the rest is under Recommendations.
func TestTheCardNamesCaveatsTheLargestFirst(t *testing.T) {
	input := recorded.Experiment(seed)
	spec := &input.Experiment.Spec
	spec.Design.Order, spec.Reset = v1alpha1.OrderFixed, v1alpha1.ResetNone
	input.Experiment.Status.Warnings = []string{"the clock of node a is wrong"}
	change(&input, recorded.Twin, "create-5k/duration", func(value string) string { return "1" + value })
	_, named, _ := strings.Cut(head(t, input), "Caveats:\n\n")
	want := []string{
		"- The experiment is not calibrated: the A/A control xmx-twin differs from the baseline xmx despite the same configuration (see Noise floor).",
		"- Error rates differ for xmx-twin under create-5k-under-cico, so response times are from different requests and are not compared.",
		"- The clock of node a is wrong.",
		"- 2 more under Recommendations.",
	}
	expect.Equal(t, want, strings.Split(strings.TrimSpace(named), "\n"))
	if _, all, _ := strings.Cut(markdownOf(t, input), "### Caveats"); !strings.Contains(all, "Modules kept running between runs") {
		t.Error("the one that is not named is not under Recommendations")
	}
}

func TestTheTitleIsTheQuestion(t *testing.T) {
	arms := func(input *report.Input, names ...string) {
		for _, name := range names {
			input.Experiment.Status.Arms = append(input.Experiment.Status.Arms, v1alpha1.ArmStatus{Name: name})
		}
	}
	for name, tc := range map[string]struct {
		change func(*report.Input)
		want   string
	}{
		"asked":     {func(input *report.Input) { input.Experiment.Spec.Question = " Is a *share* better? " }, `Is a \*share\* better?`},
		"made":      {func(*report.Input) {}, "Is maxram-66 better than xmx in duration of import create-5k, Check-In average response time and 1 more?"},
		"two arms":  {func(input *report.Input) { arms(input, "small") }, "Is maxram-66 or small better than xmx in"},
		"many arms": {func(input *report.Input) { arms(input, "a", "b", "c") }, "Is any of 4 arms better than xmx in"},
		"no other arm": {func(input *report.Input) {
			input.Experiment.Status.Arms = input.Experiment.Status.Arms[:1]
			input.Runs = nil
		}, "How does xmx perform in"},
		"alike": {func(input *report.Input) {
			input.Experiment.Spec.Analysis.Primary = []string{"cico/Check-In/average", "cico/Check-Out/average"}
		}, "in Check-In and Check-Out average response time?"},
		"names with the same words": {func(input *report.Input) {
			input.Experiment.Spec.Analysis.Primary = []string{"cico/GET  items/average", "cico/GET items/average"}
		}, "in GET  items and GET items average response time?"},
		"methods of one path": {func(input *report.Input) {
			input.Experiment.Spec.Analysis.Primary = []string{"cico/GET items/average", "cico/POST items/average"}
		}, "in GET items and POST items average response time?"},
	} {
		input := recorded.Experiment(seed)
		tc.change(&input)
		title, _, _ := strings.Cut(head(t, input), "\n")
		if !strings.Contains(title, tc.want) {
			t.Errorf("%s: the title is %q, want %q in it", name, title, tc.want)
		}
	}
}

// Arms that are inconclusive for the same reason share a sentence.
func TestTheCardNamesArmsOnce(t *testing.T) {
	input := recorded.Large(seed, 4, 1, 6)
	input.Experiment.Spec.Analysis.Primary = []string{"cico/Check-Out/average"}
	input.Experiment.Spec.Analysis.MarginPercent = 1
	card := head(t, input)
	if got := strings.Count(card, "nconclusive: "); got != 1 || !regexp.MustCompile(`> Inconclusive: arm-0\d(, arm-0\d)* and arm-0\d vs\. arm-0\d in Check-Out average response time`).MatchString(card) {
		t.Errorf("the card says it %d times:\n%s", got, card)
	}
}

// The answer comes first, with figures and its confidence; what identifies the experiment comes
// last.
func TestTheCardAnswers(t *testing.T) {
	input := recorded.Experiment(seed)
	card := head(t, input)
	expect.Contains(t, card, []string{
		"> maxram-66 is a trade-off against xmx: better in duration of import create-5k (−9.0\u00a0% and −8.3\u00a0%), worse in Check-In average response time (+7.6\u00a0%).",
		"**1 worse** · **2 better** · **1 equivalent**",
		"- **Worse:** Check-In average response time under create-5k-under-cico: ",
		"36 runs in 6 complete blocks; 1 invalid attempt; 95\u00a0% confidence, margin 5\u00a0%; noise floor: calibrated.\n\nCaveats:\n\n- ",
	}, "the card")
	if figures := strings.Count(card, "\n- **"); figures != 3 {
		t.Errorf("%d key figures, want 3", figures)
	}
	for _, late := range []string{"Phase", "5d1c0e7b3a9f4c21"} {
		if strings.Contains(card, late) {
			t.Errorf("%q stands in the card", late)
		}
	}
	page := written(t, reportOf(t, input), "report.md")
	for _, once := range regexp.MustCompile(`(?m)^- \*\*\w+:\*\* .*$`).FindAllString(page, -1) {
		if strings.Count(page, once) > 1 {
			t.Errorf("the page says twice: %s", once)
		}
	}
	shown := written(t, reportOf(t, input), "report.html")
	before, _, _ := strings.Cut(shown, "<main ")
	if pictures := strings.Count(before, "<svg "); pictures != 4 {
		t.Errorf("%d pictures in the card, want three intervals and a chart", pictures)
	}
}

func TestTheAnswer(t *testing.T) {
	none := func(input *report.Input) { input.Experiment.Spec.Analysis.Primary = []string{"cico/Check-Up/average"} }
	only := func(metric string, margin int32) func(*report.Input) {
		return func(input *report.Input) {
			input.Experiment.Spec.Analysis.Primary, input.Experiment.Spec.Analysis.MarginPercent = []string{metric}, margin
		}
	}
	guarded := func(primary string) func(*report.Input) {
		return func(input *report.Input) {
			only(primary, 5)(input)
			input.Experiment.Spec.Analysis.Guards = []string{"cico/Check-In/average"}
		}
	}
	for name, tc := range map[string]struct {
		change func(*report.Input)
		want   string
	}{
		"no run":              {func(input *report.Input) { input.Runs = nil }, "> No answer yet: there is no valid run."},
		"none":                {none, "> No primary metric is declared, or none was measured"},
		"worse":               {only("cico/Check-In/average", 5), "> maxram-66 is worse than xmx in Check-In average response time (+7.6\u00a0%)."},
		"better, guarded":     {guarded("create-5k/duration"), ", but worse in the guardrail metric Check-In average response time (+7.6\u00a0%)."},
		"equivalent, guarded": {guarded("cico/Check-Out/average"), "less than 5\u00a0% in the primary metric), but worse in the guardrail metric Check-In average response time (+7.6\u00a0%)."},
		"better":              {only("create-5k/duration", 5), "> maxram-66 is better than xmx in duration of import create-5k ("},
		"equivalent":          {only("cico/Check-Out/average", 5), "> maxram-66 is equivalent to xmx (difference of less than 5\u00a0% in the primary metric), but worse in the guardrail metric Check-In p95 response time (+20.5\u00a0%)."},
		"open":                {only("cico/Check-Out/average", 1), "> Inconclusive: maxram-66 vs. xmx in Check-Out average response time."},
		"withheld": {func(input *report.Input) {
			only("cico/Check-In/average", 5)(input)
			change(input, "maxram-66", "cico/Check-In/errors", func(string) string { return "4.5" })
		}, "> No verdict on Check-In average response time under create-5k-under-cico: the error shares (cico/Check-In/errors: 4.5 % and 0.0215 %) differ, so the values are from different requests."},
		"uncalibrated": {func(input *report.Input) {
			change(input, recorded.Twin, "create-5k/duration", func(value string) string { return "1" + value })
		}, "> No answer: the A/A control xmx-twin differs from the baseline xmx despite the same configuration"},
	} {
		input := recorded.Experiment(seed)
		tc.change(&input)
		if card := head(t, input); !strings.Contains(card, tc.want) {
			t.Errorf("%s: the card lacks %q:\n%s", name, tc.want, card)
		}
	}
}

// change changes the values of a metric in an arm's runs.
func change(input *report.Input, arm, metric string, to func(string) string) {
	for i := range input.Runs {
		for j := range input.Runs[i].Status.Observations {
			if one := &input.Runs[i].Status.Observations[j]; input.Runs[i].Spec.Arm == arm && one.Metric == metric {
				one.Value = to(one.Value)
			}
		}
	}
}

func TestTheCardTellsWhatArmsCost(t *testing.T) {
	for arms, tc := range map[string]struct{ cost, want string }{
		"saves": {"0.20", "Nodes: maxram-66 costs less than xmx: 0.20\u00a0USD/h instead of 0.25\u00a0USD/h (−20.00\u00a0%)."},
		"more":  {"0.30", "Nodes: maxram-66 costs more than xmx: 0.30\u00a0USD/h instead of 0.25\u00a0USD/h (+20.00\u00a0%)."},
		"same":  {"0.25", "Nodes: maxram-66 costs as much as xmx, 0.25\u00a0USD/h."},
	} {
		input := measuring(v1alpha1.Observation{Metric: "system/cost/perHour", Value: "0.25", Unit: "USD/h"})
		change(&input, recorded.Arm, "system/cost/perHour", func(string) string { return tc.cost })
		if card := head(t, input); !strings.Contains(card, tc.want) {
			t.Errorf("%s: the card lacks %q:\n%s", arms, tc.want, card)
		}
	}
	if card := head(t, recorded.Experiment(seed)); strings.Contains(card, "Nodes:") {
		t.Error("a cost is told where no prices are given")
	}
}
