// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/testing/expect"
)

func number(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	expect.NoError(t, err)
	return value
}

// largeBench has more results than a status can list: one metric of each kind that is listed first,
// and others, the last of which differ most.
func largeBench() bench {
	made := bench{arms: newArms("base", "slow", "twin"), scenarios: []string{"s"}, blocks: 6, spread: 0.02}
	for i := range 400 {
		made.metrics = append(made.metrics, fmt.Sprintf("cico/step-%d/p50", i))
	}
	made.metrics = append(made.metrics, "cico/Check-In/p95", checkIn)
	made.value = func(at position) float64 {
		var step int
		if _, err := fmt.Sscanf(at.metric, "cico/step-%d/", &step); err != nil || at.arm != "slow" {
			return 400
		}
		return 400 + float64(step)
	}
	return made
}

func TestStatusListsImportantComparisonsFirst(t *testing.T) {
	made := largeBench()
	answer := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	got := answer.Bounded()
	if len(got) != 300 || len(answer.Comparisons) != 2*402 || answer.Status().Comparisons != 804 {
		t.Fatalf("%d of %d comparisons are listed, want 300 of 804", len(got), len(answer.Comparisons))
	}
	if !got[0].Primary || got[0].Arm != "slow" || !got[1].Twin || !got[1].Primary || got[1].Verdict != "" || got[2].Metric != "cico/Check-In/p95" {
		t.Errorf("it begins with %+v", got[:3])
	}
	loud := 0
	for _, c := range got[3:] {
		if c.Twin || c.Primary {
			t.Errorf("%s of %s stands among the exploratory comparisons", c.Metric, c.Arm)
		}
		if strings.Contains(strings.Join(c.Warnings, ";"), "exploratory") {
			t.Errorf("%s says once more that it is exploratory", c.Metric)
		}
		var step int
		if _, err := fmt.Sscanf(c.Metric, "cico/step-%d/", &step); err == nil && step >= 150 {
			loud++
		}
	}
	// The steps from 150 on differ by four errors and more.
	if loud < 245 {
		t.Errorf("%d of the 250 largest effects are listed", loud)
	}
}

func TestStatusProbabilitiesAreNeverZero(t *testing.T) {
	made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 12, metrics: []string{checkIn}, spread: 0.0001, value: tenth}
	answer := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	if c := answer.Bounded()[0]; c.PValue != "0.000001" || c.PPermutation != "0.000488" || c.Delta == "" || len(c.Delta) > 9 {
		t.Errorf("got %+v", c)
	}
}

func TestSummary(t *testing.T) {
	made := bench{arms: newArms("base", "slow", "same"), scenarios: []string{"s"}, blocks: 8, metrics: []string{checkIn}, spread: 0.01, value: tenth}
	spec := made.spec()
	answer := analysis.Analyze(spec, made.arms, 1, made.runs())
	if final, early := answer.Summary(true), answer.Summary(false); final != "1 worse, 1 equivalent" || early != "so far 1 worse, 1 equivalent" {
		t.Errorf("the end %q, before %q", final, early)
	}
	told := answer.Sentences(made.arms)
	if len(told) != 2 || !strings.HasPrefix(told[0], `arm "slow" cico/Check-In/average of s Worse by +`) || !strings.Contains(told[1], "Equivalent") {
		t.Errorf("told %q", told)
	}
	spec.Analysis.Primary = []string{"cico/Check-In/p50"}
	exploring := analysis.Analyze(spec, made.arms, 1, made.runs())
	if got := exploring.Summary(true); got != "no primary metric" {
		t.Errorf("without a primary metric: %q", got)
	}
	made.blocks = 5
	few := analysis.Analyze(made.spec(), made.arms, 1, made.runs())
	if got := few.Summary(true); got != "no verdict below 6 blocks" {
		t.Errorf("with five blocks: %q", got)
	}
}

// The status contains machine-readable reasons for missing verdicts.
func TestStatusHasReasonsOfMissingVerdicts(t *testing.T) {
	reasons := func(made bench, edit func(*v1alpha1.PerfExperimentSpec)) map[string]v1alpha1.WithheldReason {
		spec := made.spec()
		edit(spec)
		found := map[string]v1alpha1.WithheldReason{}
		answer := analysis.Analyze(spec, made.arms, 1, made.runs())
		for _, c := range answer.Bounded() {
			found[c.Arm] = c.Withheld
		}
		return found
	}
	with := func(blocks int, arms ...string) bench {
		return bench{arms: newArms(arms...), scenarios: []string{"s"}, blocks: blocks, metrics: []string{checkIn}, spread: 0.01, value: tenth}
	}
	asIs := func(*v1alpha1.PerfExperimentSpec) {}
	untilVerdicts := func(spec *v1alpha1.PerfExperimentSpec) {
		spec.Design.Blocks, spec.Design.Target = 8, &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 12}
	}
	for name, test := range map[string]struct {
		made bench
		edit func(*v1alpha1.PerfExperimentSpec)
		want v1alpha1.WithheldReason
	}{
		"enough":                     {with(8, "base", "slow"), asIs, ""},
		"too few blocks":             {with(5, "base", "slow"), asIs, v1alpha1.ReasonTooFewBlocks},
		"before the first analysis":  {with(6, "base", "slow"), untilVerdicts, v1alpha1.ReasonBeforeFirstAnalysis},
		"at the first analysis":      {with(8, "base", "slow"), untilVerdicts, ""},
		"too few, and before it too": {with(5, "base", "slow"), untilVerdicts, v1alpha1.ReasonTooFewBlocks},
	} {
		if got := reasons(test.made, test.edit)["slow"]; got != test.want {
			t.Errorf("%s: withheld because of %q, want %q", name, got, test.want)
		}
	}
	if got := reasons(with(5, "base", "slow", "twin"), asIs); got["twin"] != "" || got["slow"] != v1alpha1.ReasonTooFewBlocks {
		t.Errorf("with an A/A control, which never has a verdict: %q", got)
	}
}

// The codes of comparisons are the reasons of the API.
func TestCodesAreReasons(t *testing.T) {
	for code, reason := range map[comparison.Code]v1alpha1.WithheldReason{
		comparison.CodeTooFewBlocks: v1alpha1.ReasonTooFewBlocks, comparison.CodeBeforeFirstAnalysis: v1alpha1.ReasonBeforeFirstAnalysis,
		comparison.CodeErrorRatesDiffer: v1alpha1.ReasonErrorRatesDiffer, comparison.CodeTwinDiffers: v1alpha1.ReasonTwinDiffers,
		comparison.CodeChangedBySettings: v1alpha1.ReasonChangedBySettings, comparison.CodeDirectionUnknown: v1alpha1.ReasonDirectionUnknown,
		comparison.CodeNoInterval: v1alpha1.ReasonNoInterval,
	} {
		expect.Equal(t, reason, v1alpha1.WithheldReason(code))
	}
}
