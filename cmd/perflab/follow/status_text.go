// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"perflab.dev/perflab/cmd/perflab/console"

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

// lines summarize the progress.
func (s snapshot) lines(now time.Time) []console.StatusLine {
	status := &s.experiment.Status
	lines := []console.StatusLine{s.phaseLine()}
	add := func(format string, values ...any) {
		lines = append(lines, console.StatusLine{Before: fmt.Sprintf("  "+format, values...)})
	}
	if counts := status.Runs; counts != nil {
		invalid := ""
		if counts.Invalid > 0 {
			invalid = fmt.Sprintf(", %d invalid", counts.Invalid)
		}
		add("%s %d of %d runs%s", progressBar(counts.Done, counts.Planned), counts.Done, counts.Planned, invalid)
	}
	if ended := s.stopMessage(); ended != "" {
		add("%s", ended)
	}
	for _, condition := range progress.Problems(status) {
		add("%s: %s", condition.Type, condition.Message)
	}
	for _, invalid := range status.InvalidRuns {
		lines = append(lines, console.StatusLine{
			Before: "  ", Word: "invalid", After: fmt.Sprintf(": %s: %s (%s)", invalid.Run, invalid.Message, invalid.Reason), Shade: console.ColorWarning,
		})
	}
	for _, found := range status.Capacities {
		add("%s", capacityLine(found))
	}
	for _, found := range status.Comparisons {
		if found.Primary {
			lines = append(lines, comparisonLine(found, status.Analysis).Indented())
		}
	}
	for _, change := range status.Changes {
		lines = append(lines, console.VerdictLine(change.Sentence+": ", string(change.Verdict), "").Indented())
	}
	if s.isOver() || provenance.IsImported(&s.experiment) {
		return lines
	}
	if left, known := s.timeLeft(now); known {
		add("about %s left", left)
	}
	if waits := s.waitingFor(); waits != "" {
		add("%s", waits)
	}
	if current := status.Current; current != nil {
		add("now: %s: %s", current.Run, progress.Activity(current))
	}
	return lines
}

// phaseLine names the experiment and its phase.
func (s snapshot) phaseLine() console.StatusLine {
	line := console.StatusLine{Before: s.experiment.Name + ": ", Word: s.phase()}
	if s.experiment.Status.Phase == v1alpha1.ExperimentStalled {
		line.Shade = console.ColorBad
	}
	return line
}

// capacityLine describes the capacity of an arm.
func capacityLine(found v1alpha1.ArmCapacity) string {
	line := fmt.Sprintf("%s of %s: capacity ", found.Arm, found.Scenario)
	switch {
	case found.Value != "":
		line += formatNumber(found.Value, console.FormatRounded)
	case found.Above > found.Below:
		return line + "above the range"
	case found.Below > 0:
		return line + "below the range"
	default:
		return line + "unknown: the first run only searches for it"
	}
	if found.Unit != metric.UnitCount {
		line += " " + found.Unit
	}
	if found.Low != "" {
		line += fmt.Sprintf(" (%s to %s)", formatNumber(found.Low, console.FormatRounded), formatNumber(found.High, console.FormatRounded))
	}
	if found.Limiting != "" {
		line += fmt.Sprintf(", limited by %s in %d of %d", metric.Plain(found.Limiting), found.LimitingRuns, found.Runs)
	}
	switch found.Required {
	case v1alpha1.RequirementMet:
		line += ": supports the required load"
	case v1alpha1.RequirementNotMet:
		line += ": does not support the required load"
	case v1alpha1.RequirementUncertain:
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

// withheldReason is why a comparison has no verdict. Earlier versions did not record it, but too
// few blocks are detectable.
func withheldReason(found v1alpha1.Comparison, analysis *v1alpha1.AnalysisStatus) v1alpha1.WithheldReason {
	switch {
	case found.Withheld != "":
		return found.Withheld
	case found.Blocks < verdict.MinimumBlocks:
		return v1alpha1.ReasonTooFewBlocks
	case analysis != nil && analysis.InterimAnalyses != nil && analysis.Blocks < analysis.InterimAnalyses.First:
		return v1alpha1.ReasonBeforeFirstAnalysis
	}
	return ""
}

// withheldText describes the reason of a missing verdict.
func withheldText(reason v1alpha1.WithheldReason) string {
	switch reason {
	case v1alpha1.ReasonTooFewBlocks:
		return fmt.Sprintf("no verdict below %d blocks", verdict.MinimumBlocks)
	case v1alpha1.ReasonBeforeFirstAnalysis:
		return "no verdict before the first interim analysis"
	}
	return "not compared (see the report)"
}

// comparisonLine summarizes a comparison of an analysis in one line.
func comparisonLine(found v1alpha1.Comparison, analysis *v1alpha1.AnalysisStatus) console.StatusLine {
	unit := console.PercentSign
	if found.Scale != string(comparison.Ratio) {
		unit = console.DifferenceUnit(found.Unit)
	}
	line := fmt.Sprintf("%s, %s: %s -> %s", found.Arm, metric.DisplayName(found.Metric, found.Scenario),
		formatNumber(found.BaselineCenter, console.FormatRounded), console.WithUnit(formatNumber(found.ArmCenter, console.FormatRounded), found.Unit))
	if found.Delta != "" {
		line += ", " + console.WithUnit(formatNumber(found.Delta, console.FormatSigned), unit)
	}
	if found.Low != "" {
		line += fmt.Sprintf(" (%s to %s)", formatNumber(found.Low, console.FormatSigned), formatNumber(found.High, console.FormatSigned))
	}
	switch {
	case found.Twin:
		return console.StatusLine{Before: line + ": noise, A/A control"}
	case found.Verdict == "":
		return console.StatusLine{Before: line + ": " + withheldText(withheldReason(found, analysis))}
	case found.FurtherBlocks > 0:
		return console.VerdictLine(line+": ", string(found.Verdict), fmt.Sprintf(", about %s needed", prose.Counted(found.FurtherBlocks, "more block")))
	}
	return console.VerdictLine(line+": ", string(found.Verdict), "")
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
