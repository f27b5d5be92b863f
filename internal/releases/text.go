// SPDX-License-Identifier: Apache-2.0

package releases

import (
	"cmp"
	"fmt"
	"math"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// DisplayName is the metric under its scenario, as reports show it.
func (s *Series) DisplayName() string { return metric.Parse(s.Metric).Under(s.Scenario) }

// DeltaUnit is the unit of changes.
func (s *Series) DeltaUnit() string {
	if s.Scale == comparison.Ratio {
		return metric.UnitPercent
	}
	return s.Unit
}

// Sentence describes a change, without its verdict and without a period.
func (s *Series) Sentence(change *Change) string {
	moved := "rose"
	if change.Delta < 0 {
		moved = "fell"
	}
	unit := s.DeltaUnit()
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("%s in arm %s %s by %s%s (95 %% interval %s to %s) between %s and %s", s.DisplayName(), s.Arm, moved,
		formatAmount(math.Abs(change.Delta)), unit, formatSigned(change.Low), formatSigned(change.High),
		s.Points[change.At-1].Release, s.Points[change.At].Release)
}

// formatAmount rounds to about three digits: an interval does not support more.
func formatAmount(value float64) string {
	switch size := math.Abs(value); {
	case size >= 100:
		return fmt.Sprintf("%.0f", value)
	case size >= 1 || size == 0:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2g", value)
}

func formatSigned(value float64) string {
	if value > 0 {
		return "+" + formatAmount(value)
	}
	return formatAmount(value)
}

// FalsePositiveRate is a sentence on the false-positive rate.
func (h *History) FalsePositiveRate() string {
	among := "in this series"
	if len(h.Series) > 1 {
		among = fmt.Sprintf("in all %d series together", len(h.Series))
	}
	if h.Analyses > 1 {
		among += fmt.Sprintf(", over %d analyses", h.Analyses)
	}
	return fmt.Sprintf("The false-positive rate is %g %% %s", h.ErrorRatePercent, among)
}

// AllNotes are the notes, and a note on a history that is too short to show a change.
func (h *History) AllNotes() []string {
	longest := 0
	for i := range h.Series {
		longest = max(longest, len(h.Series[i].Points))
	}
	if needed := MinPoints(h.errorRate()); longest < needed {
		return append(h.Notes[:len(h.Notes):len(h.Notes)], fmt.Sprintf(
			"%s can't show a change at this error rate: a step in the middle needs %d", prose.Counted(longest, "point"), needed))
	}
	return h.Notes
}

// ReleaseName is an experiment's annotation perflab.dev/release, in one line that fits a
// table, or its name.
func ReleaseName(experiment *v1alpha1.PerfExperiment) string {
	return cmp.Or(Label(experiment.Annotations[v1alpha1.AnnotationRelease]), experiment.Name)
}
