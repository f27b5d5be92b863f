//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"perflab.dev/perflab/api/v1alpha1"
)

// TestInjectedEffect slows one arm by a known share. The comparison finds the
// effect with the right sign and size, and finds none for the control arm.
func TestInjectedEffect(t *testing.T) {
	ctx, home := t.Context(), namespace(t)
	createAll(t, home, localSamples+"library.yaml")
	experiment := apply(t, home, localSamples+"injected-effect.yaml")
	awaitComplete(ctx, t, experiment, 45*time.Minute)
	done := get(ctx, t, experiment)

	t.Logf("verdict %q; %+v", done.Status.Verdict, meta.FindStatusCondition(done.Status.Conditions, v1alpha1.ConditionCalibrated))
	for _, c := range done.Status.Comparisons {
		if c.Primary {
			t.Logf("%s in %s: %s %% (%s to %s), p %s, %q %q", c.Metric, c.Arm, c.Delta, c.Low, c.High, c.PAdjusted, c.Verdict, c.Warnings)
		}
	}
	if !meta.IsStatusConditionTrue(done.Status.Conditions, v1alpha1.ConditionCalibrated) {
		t.Errorf("the control arm differs: %+v", done.Status.Conditions)
	}
	if done.Status.Analysis == nil || !done.Status.Analysis.Final || done.Status.Analysis.Blocks < 8 {
		t.Errorf("the analysis is %+v, want a final one over 8 blocks", done.Status.Analysis)
	}
	for _, metric := range done.Status.Analysis.Primary {
		t.Run(metric, func(t *testing.T) {
			assertSlowed(t, primary(t, done, metric, "slowed"))
			assertControl(t, primary(t, done, metric, "as-is-twin"))
		})
	}
	for _, arm := range done.Status.Arms {
		if arm.Name == "slowed" && (arm.Verdicts == nil || arm.Verdicts.Wins || arm.Verdicts.Worse == 0) {
			t.Errorf("the slowed arm's verdicts are %+v", arm.Verdicts)
		}
	}
}

func primary(t *testing.T, experiment *v1alpha1.PerfExperiment, metric, arm string) v1alpha1.Comparison {
	t.Helper()
	at := slices.IndexFunc(experiment.Status.Comparisons, func(c v1alpha1.Comparison) bool {
		return c.Metric == metric && c.Arm == arm && c.Primary
	})
	if at < 0 {
		t.Fatalf("no comparison of %s in arm %s", metric, arm)
	}
	return experiment.Status.Comparisons[at]
}

// assertSlowed checks that the verdict is Worse and the interval contains the injected
// effect. The gateway does not slow its own response, which is a small share of the total.
func assertSlowed(t *testing.T, c v1alpha1.Comparison) {
	t.Helper()
	const injected = 50
	low, high := decimal(t, c.Low), decimal(t, c.High)
	if c.Verdict != v1alpha1.VerdictWorse || low <= 0 || low > injected || high < injected {
		t.Errorf("%s is %s: %s %% (%.1f to %.1f), want Worse with an interval that holds the %d %% put in", c.Metric, c.Verdict, c.Delta, low, high, injected)
	}
}

// assertControl checks that the control arm has no verdict and no significant difference.
func assertControl(t *testing.T, c v1alpha1.Comparison) {
	t.Helper()
	const alpha = 0.01
	if !c.Twin || c.Verdict != "" || decimal(t, c.PAdjusted) < alpha {
		t.Errorf("the control arm's %s: %+v", c.Metric, c)
	}
}

func decimal(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%q is not a number", text)
	}
	return value
}
