// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/sizelimit"
)

// Each write of a run adds a revision in etcd, and triggers all watches.
func TestRunWritesAreFew(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[0].Duration = &metav1.Duration{Duration: 5 * time.Minute}
	}))
	l.until("a load", func() bool {
		runs := l.runs()
		return len(runs) == 1 && len(runs[0].Status.Loads) == 1 && runs[0].Status.Loads[0].StartTime != nil
	})
	l.passSeconds(65)
	if longer := l.countWrites(func() { l.passSeconds(120) }); len(longer) > 4 {
		t.Errorf("%d writes in two minutes of load, want one in thirty seconds: %q", len(longer), longer)
	}
	delete(l.outside.held, "cico")
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.settle()
	// The environment's writes depend on the system.
	own := slices.DeleteFunc(slices.Clone(l.line.journal), func(write string) bool {
		return !strings.Contains(write, l.run().Name) && !strings.Contains(write, "PerfExperiment")
	})
	if len(own) > 33 {
		t.Errorf("%d writes of a run with 185 s of load, want at most 33, of which 7 report the load's progress:\n%s", len(own), strings.Join(own, "\n"))
	}
}

// passSeconds reconciles each second, as changes of pods do.
func (l *lab) passSeconds(seconds int) {
	l.t.Helper()
	for range seconds {
		l.now = l.now.Add(time.Second)
		l.pass()
	}
}

func (l *lab) countWrites(do func()) []string {
	before := len(l.line.journal)
	do()
	return l.line.journal[before:]
}

// The API server refuses objects of more than 1.5 MiB, and an experiment whose status can't be
// written makes no progress.
func TestLargestStatusIsStored(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	full := l.experiment("small")
	before := full.DeepCopy()
	fill(&full.Status)
	if text, err := json.Marshal(full.Status); err != nil || len(text) > 1_000_000 {
		t.Errorf("it takes %d bytes (%v), want at most a megabyte", len(text), err)
	}
	if err := l.admin.Status().Patch(t.Context(), full, client.MergeFrom(before)); err != nil {
		t.Fatalf("writing it: %.300v", err)
	}
	stored := l.experiment("small").Status
	if len(stored.Results) < 500 || len(stored.Comparisons) < 60 || len(stored.Slowdowns) < 90 || len(stored.Effects) < 90 || len(stored.Arms) != 65 {
		t.Errorf("%d results, %d comparisons, %d slowdowns, %d effects and %d arms are stored",
			len(stored.Results), len(stored.Comparisons), len(stored.Slowdowns), len(stored.Effects), len(stored.Arms))
	}
}

// fill fills every list, name and value to its limit.
func fill(status *v1alpha1.PerfExperimentStatus) {
	const percent, arms = "-1234.56", 60
	scenario, load := strings.Repeat("s", 40), strings.Repeat("l", 24)
	metric := func(i int) string {
		return fmt.Sprintf("%s/%s-%03d/average@during-%s", load, strings.Repeat("t", 12), i/arms, load)
	}
	arm := func(i int) string { return fmt.Sprintf("%s-%02d", strings.Repeat("a", 37), i%arms) }
	for i := range 2000 {
		status.Results = append(status.Results, v1alpha1.Result{
			Scenario: scenario, Metric: metric(i), Arm: arm(i), Unit: "ms", Runs: 30,
			Mean: percent, StandardDeviation: percent, DeltaPercent: percent,
		})
	}
	var warnings []string
	for n := range 5 {
		warnings = append(warnings, fmt.Sprint(n, strings.Repeat("w", 239)))
	}
	for i := range 300 {
		status.Comparisons = append(status.Comparisons, v1alpha1.Comparison{
			Scenario: scenario, Metric: metric(i), Arm: arm(i), Unit: "ms", Primary: true, Blocks: 30, Scale: "ratio",
			BaselineCenter: percent, ArmCenter: percent, Delta: percent, Low: percent, High: percent,
			EquivalenceLow: percent, EquivalenceHigh: percent, PValue: percent, PPermutation: percent, PAdjusted: percent,
			FurtherBlocks: 100, Verdict: v1alpha1.VerdictInconclusive, Warnings: warnings,
		})
	}
	for i := range 100 {
		status.Slowdowns = append(status.Slowdowns, v1alpha1.Slowdown{
			Scenario: scenario, Metric: metric(i), During: load, Arm: arm(i), PValue: percent,
			BaselinePercent: percent, BaselineLow: percent, BaselineHigh: percent, MorePercent: percent, Low: percent, High: percent,
		})
		status.Effects = append(status.Effects, v1alpha1.FactorEffect{
			Scenario: scenario, Metric: metric(i), Effect: arm(i) + " x " + arm(i), Scale: "ratio", Delta: percent, Low: percent, High: percent, PValue: percent,
		})
	}
	for n := range 65 {
		listed := v1alpha1.ArmStatus{Name: fmt.Sprintf("%s-%02d", strings.Repeat("a", 60), n), MoreDifferences: 100}
		for range 100 {
			listed.Differences = append(listed.Differences, v1alpha1.Difference{Setting: strings.Repeat("s", 100), Baseline: strings.Repeat("b", 200), Arm: strings.Repeat("a", 200)})
		}
		listed.Differences = sizelimit.Within(listed.Differences, sizelimit.Differences/65)
		status.Arms = append(status.Arms, listed)
	}
	status.Results = sizelimit.Within(status.Results, sizelimit.Results)
	status.Comparisons = sizelimit.Within(status.Comparisons, sizelimit.Comparisons)
	status.Slowdowns = sizelimit.Within(status.Slowdowns, sizelimit.Slowdowns)
	status.Effects = sizelimit.Within(status.Effects, sizelimit.Effects)
}
