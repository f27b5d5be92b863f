// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view/progress"
)

// barWidth is the number of characters of a progress bar.
const barWidth = 30

// text summarizes the progress in a few lines.
func (s snapshot) text(now time.Time) string {
	var page strings.Builder
	status := &s.experiment.Status
	fmt.Fprintf(&page, "%s: %s\n", s.experiment.Name, s.phase())
	if counts := status.Runs; counts != nil {
		fmt.Fprintf(&page, "  %s %d of %d runs", progressBar(counts.Done, counts.Planned), counts.Done, counts.Planned)
		if counts.Invalid > 0 {
			fmt.Fprintf(&page, ", %d invalid", counts.Invalid)
		}
		page.WriteString("\n")
	}
	if ended := s.stopMessage(); ended != "" {
		fmt.Fprintf(&page, "  %s\n", ended)
	}
	for _, condition := range progress.Problems(status) {
		fmt.Fprintf(&page, "  %s: %s\n", condition.Type, condition.Message)
	}
	for _, invalid := range status.InvalidRuns {
		fmt.Fprintf(&page, "  invalid: %s: %s (%s)\n", invalid.Run, invalid.Message, invalid.Reason)
	}
	for _, found := range status.Capacities {
		fmt.Fprintf(&page, "  %s\n", capacityLine(found))
	}
	for _, found := range status.Comparisons {
		if found.Primary {
			fmt.Fprintf(&page, "  %s\n", comparisonLine(found))
		}
	}
	for _, change := range status.Changes {
		fmt.Fprintf(&page, "  %s: %s\n", change.Sentence, change.Verdict)
	}
	if s.isOver() || provenance.IsImported(&s.experiment) {
		return page.String()
	}
	if left, known := s.timeLeft(now); known {
		fmt.Fprintf(&page, "  about %s left\n", left)
	}
	if waits := s.waitingFor(); waits != "" {
		fmt.Fprintf(&page, "  %s\n", waits)
	}
	if current := status.Current; current != nil {
		fmt.Fprintf(&page, "  now: %s: %s\n", current.Run, progress.Activity(current))
	}
	return page.String()
}

// capacityLine describes what an arm takes.
func capacityLine(found v1alpha1.ArmCapacity) string {
	line := fmt.Sprintf("%s of %s: capacity ", found.Arm, found.Scenario)
	switch {
	case found.Value != "":
		line += formatNumber(found.Value, formatRounded)
	case found.Above > 0:
		return line + "above the range"
	default:
		return line + "below the range"
	}
	if found.Unit != metric.UnitCount {
		line += " " + found.Unit
	}
	if found.Low != "" {
		line += fmt.Sprintf(" (%s to %s)", formatNumber(found.Low, formatRounded), formatNumber(found.High, formatRounded))
	}
	if found.Limiting != "" {
		line += fmt.Sprintf(", limited by %s in %d of %d", metric.Plain(found.Limiting), found.LimitingRuns, found.Runs)
	}
	return line
}

// stopMessage is why no further block is planned, with design.target.
func (s snapshot) stopMessage() string {
	analysis := s.experiment.Status.Analysis
	if analysis == nil || analysis.Stopped == nil {
		return ""
	}
	return "no further block: " + analysis.Stopped.Message
}

func (s snapshot) phase() string { return progress.Phase(&s.experiment) }

func progressBar(done, planned int32) string {
	filled := 0
	if planned > 0 {
		filled = int(done) * barWidth / int(planned)
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled) + "]"
}

// isDescriptive reports whether the comparison is too early for a verdict.
func isDescriptive(found v1alpha1.Comparison) bool {
	return slices.ContainsFunc(found.Warnings, func(warning string) bool { return strings.HasPrefix(warning, comparison.DescriptiveOnly) })
}

// comparisonLine summarizes a comparison in one line.
func comparisonLine(found v1alpha1.Comparison) string {
	unit := percentSign
	if found.Scale != string(comparison.Ratio) {
		unit = differenceUnit(found.Unit)
	}
	line := fmt.Sprintf("%s, %s: %s -> %s", found.Arm, metric.DisplayName(found.Metric, found.Scenario),
		formatNumber(found.BaselineCenter, formatRounded), withUnit(formatNumber(found.ArmCenter, formatRounded), found.Unit))
	if found.Delta != "" {
		line += ", " + withUnit(formatNumber(found.Delta, formatSigned), unit)
	}
	if found.Low != "" {
		line += fmt.Sprintf(" (%s to %s)", formatNumber(found.Low, formatSigned), formatNumber(found.High, formatSigned))
	}
	switch {
	case found.Twin:
		line += ": noise, A/A control"
	case found.Verdict == "" && found.Blocks < verdict.MinimumBlocks:
		line += fmt.Sprintf(": no verdict below %d blocks", verdict.MinimumBlocks)
	case found.Verdict == "" && isDescriptive(found):
		line += ": no verdict before the first interim analysis"
	case found.Verdict == "":
		line += ": not compared (see the report)"
	case found.FurtherBlocks > 0:
		line += fmt.Sprintf(": %s, about %s needed", found.Verdict, prose.Counted(found.FurtherBlocks, "more block"))
	default:
		line += ": " + string(found.Verdict)
	}
	return line
}

// formatNumber rounds a number of the status for display.
func formatNumber(number string, write func(float64) string) string {
	value, err := decimal.Parse(number)
	if err != nil {
		return number
	}
	return write(value)
}

// timeLeft is the remaining time.
func (s snapshot) timeLeft(now time.Time) (time.Duration, bool) {
	return progress.Remaining(&s.experiment, s.runs, now)
}

func conditionMessage(conditions []metav1.Condition, conditionType string) string {
	if found := meta.FindStatusCondition(conditions, conditionType); found != nil {
		return found.Message
	}
	return ""
}
