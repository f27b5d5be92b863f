// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
)

// ofUsers returns an experiment of two arms whose users check in and out for this long.
func ofUsers(lasts time.Duration, blocks int32) *v1alpha1.PerfExperiment {
	users := func(name string) v1alpha1.Scenario {
		return v1alpha1.Scenario{Name: "of-" + name, Loads: []v1alpha1.Load{{
			Name: name, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}, Duration: &metav1.Duration{Duration: lasts},
		}}}
	}
	return &v1alpha1.PerfExperiment{Spec: v1alpha1.PerfExperimentSpec{
		Arms:      []v1alpha1.Arm{{Name: "a", Baseline: true}, {Name: "b"}},
		Scenarios: []v1alpha1.Scenario{users("day"), users("night")},
		Design:    v1alpha1.Design{Blocks: blocks},
		Analysis:  v1alpha1.Analysis{Primary: []string{"day/Check-In/average", "night/Check-In/average"}},
	}}
}

func designsOf(experiment *v1alpha1.PerfExperiment, cv float64) Preview {
	return New(experiment, v1alpha1.System{}, Assumptions{CV: cv, Overhead: 2 * time.Minute})
}

func TestDesignsAreOfferedWhenUseful(t *testing.T) {
	for name, tc := range map[string]struct {
		lasts  time.Duration
		blocks int32
		cv     float64
		want   bool
	}{
		"it finds the margin on the day":  {lasts: 5 * time.Minute, blocks: 8, cv: 0.01},
		"it does not find the margin":     {lasts: 5 * time.Minute, blocks: 8, cv: 0.05, want: true},
		"it finds the margin, in days":    {lasts: 2 * time.Hour, blocks: 8, cv: 0.01, want: true},
		"too few blocks to find anything": {lasts: 5 * time.Minute, blocks: 2, cv: 0.01, want: true},
	} {
		if got := designsOf(ofUsers(tc.lasts, tc.blocks), tc.cv).Designs; (len(got) > 0) != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDesignsReportPowerAndDuration(t *testing.T) {
	experiment := ofUsers(time.Hour, 8)
	experiment.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 10 * time.Minute}
	shown := designsOf(experiment, 0.05)
	var names []string
	for i, design := range shown.Designs {
		names = append(names, design.String())
		if design.DetectablePercent <= 0 || design.Runs == 0 {
			t.Errorf("%s finds %g %% in %d runs", design, design.DetectablePercent, design.Runs)
		}
		for _, before := range shown.Designs[:i] {
			if before.noWorse(design) {
				t.Errorf("%s is no better than %s", design, before)
			}
		}
	}
	if want := []string{"8 blocks", "24 blocks", "6 to 28 blocks, until verdicts", "8 blocks, only primary metric day/Check-In/average", "8 blocks, windows half as long", "20 blocks, only primary metric day/Check-In/average"}; !slices.Equal(names, want) {
		t.Fatalf("the designs are %q, want %q", names, want)
	}
	declared, more, sequential, alone, shorter := shown.Designs[0], shown.Designs[1], shown.Designs[2], shown.Designs[3], shown.Designs[4]
	if sequential.WallTime > more.WallTime || sequential.Interim.MeanBlocksAlike >= 24 || sequential.Interim.MeanBlocksApart >= 24 || sequential.DetectablePercent > 5 {
		t.Errorf("stopping at verdicts takes %s, %s, and finds %.2f %%; %s take %s", sequential.WallTime, sequential.Interim, sequential.DetectablePercent, more, more.WallTime)
	}
	if declared.WallTime != shown.WallTime.Total || declared.DetectablePercent != shown.Power[0].DetectablePercent || declared.Runs != len(shown.Runs) {
		t.Errorf("the plan says %s and %.2f %%, its first design %s and %.2f %%", shown.WallTime.Total, shown.Power[0].DetectablePercent, declared.WallTime, declared.DetectablePercent)
	}
	if int(more.Blocks) != shown.Power[0].BlocksForVerdicts || !more.finds(5) {
		t.Errorf("%s finds %.2f %%", more, more.DetectablePercent)
	}
	// Only one of the two scenarios has the load.
	if alone.WallTime != declared.WallTime/2 || !slices.Equal(alone.Scenarios, []string{"of-day"}) || alone.Family != 1 {
		t.Errorf("%s takes %s of %s in %q, for %d comparison(s)", alone, alone.WallTime, declared.WallTime, alone.Scenarios, alone.Family)
	}
	// The warm-up stays: 35 minutes plus an overhead of 2, instead of 60 plus 2.
	if want := Duration(37 * time.Minute * 32); shorter.WallTime != want || shorter.DetectablePercent <= declared.DetectablePercent {
		t.Errorf("%s takes %s, want %s, and finds %.2f %%", shorter, shorter.WallTime, want, shorter.DetectablePercent)
	}
}

// A long experiment that detects less than requested gets proposals with fewer blocks, but with
// enough for a verdict.
func TestDesignsWithFewerBlocks(t *testing.T) {
	for _, cv := range []float64{0.01, 0.04} {
		shown := designsOf(ofUsers(time.Hour, 30), cv)
		want := int32(max(verdict.MinimumBlocks, shown.Power[0].BlocksForVerdicts))
		if fewer := shown.Designs[1]; fewer.Blocks != want || !fewer.finds(5) || fewer.WallTime >= shown.WallTime.Total {
			t.Errorf("spread %g: %s finds %.2f %% in %s, want %d blocks", cv, fewer, fewer.DetectablePercent, fewer.WallTime, want)
		}
	}
}

// Every proposed design has enough blocks for a verdict.
func TestDesignsGetAVerdict(t *testing.T) {
	for _, design := range designsOf(ofUsers(time.Hour, 2), 0.01).Designs[1:] {
		if design.Blocks < verdict.MinimumBlocks {
			t.Errorf("%s", design)
		}
	}
}

// The piloted spread of the only primary metric counts, not that of a more variable metric.
func TestDesignsUsePilotedSpread(t *testing.T) {
	assumed := Assumptions{Overhead: time.Minute, Piloted: []Spread{
		{"of-day", "day/Check-In/average", 0.02, 12}, {"of-night", "night/Check-In/average", 0.1, 12},
	}}
	shown := New(ofUsers(time.Hour, 8), v1alpha1.System{}, assumed)
	for _, design := range shown.Designs {
		want := 10.0
		if design.Alone != "" {
			want = 2
		}
		if len(design.Windows) == 0 && design.CVPercent != want {
			t.Errorf("%s: spread %g %%, want %g %%", design, design.CVPercent, want)
		}
	}
}

func TestShortWindowsAreNotHalved(t *testing.T) {
	for _, design := range designsOf(ofUsers(9*time.Minute, 8), 0.05).Designs {
		if len(design.Windows) > 0 {
			t.Errorf("%s: %v", design, design.Windows)
		}
	}
}

// The proposed design gives the right verdict with a probability of 80 %, for equal arms and for
// one that is slower by the margin, and stops early if runs spread less.
func TestDefaultDesign(t *testing.T) {
	for name, tc := range map[string]struct {
		arms, metrics int
		spread        float64
		most          float64
	}{
		"two arms, one metric":       {2, 1, 0.05, 24},
		"two arms, two metrics":      {2, 2, 0.05, 28},
		"three arms, two metrics":    {3, 2, 0.05, 31},
		"two arms, little spread":    {2, 2, 0.02, 10},
		"three arms, some spread":    {3, 2, 0.03, 16},
		"five arms, hardly a spread": {5, 1, 0.01, 8},
	} {
		t.Run(name, func(t *testing.T) {
			experiment := ofUsers(5*time.Minute, 0)
			spec := &experiment.Spec
			spec.Scenarios = spec.Scenarios[:1]
			for len(spec.Arms) < tc.arms {
				spec.Arms = append(spec.Arms, v1alpha1.Arm{Name: string(rune('a' + len(spec.Arms)))})
			}
			spec.Analysis.Primary = []string{"day/Check-In/average", "day/Check-Out/average"}[:tc.metrics]
			shown := designsOf(experiment, tc.spread).Power[0]
			if alike, slower := shown.IfAlike.Equivalent, shown.IfSlower.Apart; alike < 80 || slower < 80 {
				t.Errorf("the right verdict comes with %.0f %% if arms are alike, and with %.0f %% if one is slower", alike, slower)
			}
			if mean := shown.Interim.MeanBlocksAlike; mean > tc.most {
				t.Errorf("alike arms take %.1f blocks, want at most %g", mean, tc.most)
			}
		})
	}
}

func TestDefaultDesignIsBounded(t *testing.T) {
	for _, tc := range []struct{ arms, scenarios, blocks, most int32 }{{1, 1, 6, 6}, {2, 1, 6, 36}, {3, 2, 6, 33}, {10, 2, 6, 10}, {10, 4, 6, 6}} {
		spec := v1alpha1.PerfExperimentSpec{Arms: make([]v1alpha1.Arm, tc.arms), Scenarios: make([]v1alpha1.Scenario, tc.scenarios)}
		if got := spec.DesignOrDefault(); got.Blocks != tc.blocks || got.MostBlocks() != tc.most {
			t.Errorf("%d arms under %d scenarios: %d to %d blocks, want %d to %d", tc.arms, tc.scenarios, got.Blocks, got.MostBlocks(), tc.blocks, tc.most)
		}
	}
	declared := v1alpha1.PerfExperimentSpec{Arms: make([]v1alpha1.Arm, 2), Scenarios: make([]v1alpha1.Scenario, 1), Design: v1alpha1.Design{Blocks: 6}}
	if got := declared.DesignOrDefault(); got.MostBlocks() != 6 {
		t.Errorf("of 6 blocks that are declared it makes %d", got.MostBlocks())
	}
}
