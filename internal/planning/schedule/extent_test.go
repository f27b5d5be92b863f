// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/schedule"
)

func TestExtend(t *testing.T) {
	fixed := v1alpha1.Design{Blocks: 6}
	adaptive := v1alpha1.Design{Blocks: 6, Target: &v1alpha1.PrecisionTarget{HalfWidthPercent: 3, MaxBlocks: 9}}
	short := adaptive
	short.Budget = &metav1.Duration{Duration: 8 * time.Hour}
	width := func(percent float64) analysisplan.Precision {
		return analysisplan.Precision{Measured: true, HalfWidthPercent: percent, Scenario: "cico-8", Metric: "cico/Check-In/average", Arm: "slow"}
	}
	asked := v1alpha1.Design{Blocks: 6, Target: &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 9}}
	stand := func(undecided int, chance float64) analysisplan.VerdictProgress {
		return analysisplan.VerdictProgress{Compared: 4, Undecided: undecided, Chance: chance, Scenario: "cico-8", Metric: "cico/Check-In/average", Arm: "slow"}
	}
	cases := map[string]struct {
		design   v1alpha1.Design
		progress schedule.Progress
		blocks   int32
		reason   string
		says     string
	}{
		"AFixedNumber":           {fixed, schedule.Progress{Complete: 6, Started: 6, Precision: width(9)}, 6, "", ""},
		"BeforeTheMinimum":       {adaptive, schedule.Progress{Complete: 3, Started: 4, Precision: width(1)}, 6, "", ""},
		"TargetMet":              {adaptive, schedule.Progress{Complete: 6, Started: 6, Precision: width(3)}, 6, v1alpha1.ReasonTargetMet, `after 6 blocks, the widest interval is ±3 % (cico/Check-In/average of cico-8 in arm "slow"), within the target of ±3 %`},
		"TooWide":                {adaptive, schedule.Progress{Complete: 6, Started: 6, Precision: width(3.01)}, 7, "", ""},
		"InAnAddedBlock":         {adaptive, schedule.Progress{Complete: 6, Started: 7, Precision: width(1)}, 7, "", ""},
		"NoIntervalYet":          {adaptive, schedule.Progress{Complete: 6, Started: 6, Precision: width(math.Inf(1))}, 7, "", ""},
		"MaxBlocks":              {adaptive, schedule.Progress{Complete: 9, Started: 9, Precision: width(4)}, 9, v1alpha1.ReasonMaxBlocks, "the 9 blocks of maxBlocks are finished, and the widest interval is ±4 %"},
		"MetWithTheLastBlock":    {adaptive, schedule.Progress{Complete: 9, Started: 9, Precision: width(2)}, 9, v1alpha1.ReasonTargetMet, ""},
		"RoomForOneMore":         {short, schedule.Progress{Complete: 6, Started: 6, Precision: width(4), Elapsed: 6 * time.Hour}, 7, "", ""},
		"JustRoomForOneMore":     {short, schedule.Progress{Complete: 7, Started: 7, Precision: width(4), Elapsed: 7 * time.Hour}, 8, "", ""},
		"Budget":                 {short, schedule.Progress{Complete: 7, Started: 7, Precision: width(4), Elapsed: 7*time.Hour + time.Second}, 7, v1alpha1.ReasonBudget, "7 blocks took 7h0m1s, and the budget of 8h0m0s has no room for another"},
		"BeforeTheFirstLook":     {asked, schedule.Progress{Complete: 5, Started: 6, Verdicts: stand(0, 0)}, 6, "", ""},
		"Decided":                {asked, schedule.Progress{Complete: 6, Started: 6, Verdicts: stand(0, 0)}, 6, v1alpha1.ReasonDecided, "after 6 blocks, each of the 4 primary comparisons has a verdict"},
		"Undecided":              {asked, schedule.Progress{Complete: 6, Started: 6, Verdicts: stand(1, 0.3)}, 7, "", ""},
		"Futility":               {asked, schedule.Progress{Complete: 7, Started: 7, Verdicts: stand(2, 0.02)}, 7, v1alpha1.ReasonFutility, `after 7 blocks, 2 of 4 primary comparisons have no verdict, and the probability of another verdict by block 9 is at most 2 % (cico/Check-In/average of cico-8 in arm "slow")`},
		"UndecidedAtTheEnd":      {asked, schedule.Progress{Complete: 9, Started: 9, Verdicts: stand(1, 0)}, 9, v1alpha1.ReasonMaxBlocks, "the 9 blocks of maxBlocks are finished, and 1 of 4 primary comparisons has no verdict"},
		"NothingToDecide":        {asked, schedule.Progress{Complete: 6, Started: 6}, 6, v1alpha1.ReasonNoPrimaryMetric, "no primary metric has been measured in both an arm and the baseline, so there is no comparison to decide"},
		"NothingMeasured":        {adaptive, schedule.Progress{Complete: 6, Started: 6}, 6, v1alpha1.ReasonNoPrimaryMetric, "no primary metric"},
		"LoweredLaterThanItWent": {adaptive, schedule.Progress{Complete: 11, Started: 11, Precision: width(9)}, 11, v1alpha1.ReasonMaxBlocks, "the 11 blocks"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := schedule.Extend(tc.design, tc.progress)
			if got.Blocks != tc.blocks || got.Reason != tc.reason || !strings.Contains(got.Message, tc.says) {
				t.Errorf("got %+v, want %d blocks, %q, %q", got, tc.blocks, tc.reason, tc.says)
			}
			if (got.Reason == "") != (got.Message == "") {
				t.Errorf("a reason without a sentence, or the other way round: %+v", got)
			}
		})
	}
}
