// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/origin"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/verdict"
)

// barWidth is the number of characters of a progress bar.
const barWidth = 30

// text says in a few lines how far the experiment is.
func (s snapshot) text(now time.Time) string {
	var page strings.Builder
	status := &s.experiment.Status
	fmt.Fprintf(&page, "%s: %s\n", s.experiment.Name, s.phase())
	if counts := status.Runs; counts != nil {
		fmt.Fprintf(&page, "  %s %d of %d runs", bar(counts.Done, counts.Planned), counts.Done, counts.Planned)
		if counts.Invalid > 0 {
			fmt.Fprintf(&page, ", %d invalid", counts.Invalid)
		}
		page.WriteString("\n")
	}
	for _, condition := range troubles(status) {
		fmt.Fprintf(&page, "  %s: %s\n", condition.Type, condition.Message)
	}
	for _, invalid := range status.InvalidRuns {
		fmt.Fprintf(&page, "  invalid: %s: %s (%s)\n", invalid.Run, invalid.Message, invalid.Reason)
	}
	for _, found := range status.Comparisons {
		if found.Primary {
			fmt.Fprintf(&page, "  %s\n", compared(found))
		}
	}
	if s.over() || origin.IsImported(&s.experiment) {
		return page.String()
	}
	if left, known := s.left(now); known {
		fmt.Fprintf(&page, "  about %s left\n", left)
	}
	if waits := s.waits(); waits != "" {
		fmt.Fprintf(&page, "  %s\n", waits)
	}
	if current := status.Current; current != nil {
		fmt.Fprintf(&page, "  now: %s: %s\n", current.Run, doing(current))
	}
	return page.String()
}

func doing(current *v1alpha1.CurrentRun) string {
	if current.Message == "" && (current.Phase == "" || current.Phase == v1alpha1.RunPending) {
		return "about to begin"
	}
	return cmp.Or(current.Message, string(current.Phase))
}

func (s snapshot) phase() string {
	phase, from := string(s.experiment.Status.Phase), origin.Of(&s.experiment)
	switch {
	case !origin.IsImported(&s.experiment):
		return cmp.Or(phase, "not seen by the operator yet; is it running? (kubectl perflab doctor)")
	case phase == "" || s.over():
		return fmt.Sprintf("%s, imported from %s/%s", cmp.Or(phase, "no status"), from.Namespace, from.Name)
	default:
		return fmt.Sprintf("%s when it was exported from %s/%s; nothing of it goes on here", phase, from.Namespace, from.Name)
	}
}

func bar(done, planned int32) string {
	filled := 0
	if planned > 0 {
		filled = int(done) * barWidth / int(planned)
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled) + "]"
}

// compared is a comparison in one line.
func compared(found v1alpha1.Comparison) string {
	unit := percentSign
	if found.Scale != string(comparison.Ratio) {
		unit = differenceUnit(found.Unit)
	}
	line := fmt.Sprintf("%s, %s: %s -> %s", found.Arm, metric.Named(found.Metric, found.Scenario),
		shown(found.BaselineCenter, rounded), withUnit(shown(found.ArmCenter, rounded), found.Unit))
	if found.Delta != "" {
		line += ", " + withUnit(shown(found.Delta, signed), unit)
	}
	if found.Low != "" {
		line += fmt.Sprintf(" (%s to %s)", shown(found.Low, signed), shown(found.High, signed))
	}
	switch {
	case found.Twin:
		line += ": noise, the baseline's twin"
	case found.Verdict == "" && found.Blocks < verdict.MinimumBlocks:
		line += fmt.Sprintf(": no verdict below %d blocks", verdict.MinimumBlocks)
	case found.Verdict == "":
		line += ": not compared, the report says why"
	case found.FurtherBlocks > 0:
		line += fmt.Sprintf(": %s, about %s would tell", found.Verdict, prose.Counted(found.FurtherBlocks, "more block"))
	default:
		line += ": " + string(found.Verdict)
	}
	return line
}

// shown writes a number of the status with as many digits as people read.
func shown(number string, write func(float64) string) string {
	value, err := decimal.Parse(number)
	if err != nil {
		return number
	}
	return write(value)
}

// troubles are the conditions that say that something is not as it should be,
// beside what the current run says itself.
func troubles(status *v1alpha1.PerfExperimentStatus) []metav1.Condition {
	var found []metav1.Condition
	for _, condition := range status.Conditions {
		bad := condition.Status == metav1.ConditionFalse
		switch condition.Type {
		case v1alpha1.ConditionStalled:
			bad = condition.Status == metav1.ConditionTrue
		case v1alpha1.ConditionReady, v1alpha1.ConditionComplete, v1alpha1.ConditionReconciling:
			bad = false
		}
		if bad && (status.Current == nil || condition.Message != status.Current.Message) {
			found = append(found, condition)
		}
	}
	return found
}

// left is how long the runs that are left will take if they take as long as
// those before, those of the same scenario where there are any.
func (s snapshot) left(now time.Time) (time.Duration, bool) {
	counts := s.experiment.Status.Runs
	if counts == nil {
		return 0, false
	}
	var total time.Duration
	done := 0
	var running time.Duration
	for i := range s.runs {
		timings := s.runs[i].Status.Timings
		switch {
		case timings.ProvisionStart == nil:
		case s.runs[i].Status.Phase == v1alpha1.RunSucceeded && timings.Finish != nil:
			total += timings.Finish.Sub(timings.ProvisionStart.Time)
			done++
		case !s.runs[i].Status.Phase.IsFinal():
			running = now.Sub(timings.ProvisionStart.Time)
		}
	}
	if done == 0 {
		return 0, false
	}
	left := total/time.Duration(done)*time.Duration(counts.Planned-counts.Done) - running
	return max(left, 0).Round(10 * time.Second), true
}

func conditionMessage(conditions []metav1.Condition, conditionType string) string {
	if found := meta.FindStatusCondition(conditions, conditionType); found != nil {
		return found.Message
	}
	return ""
}
