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

// Named is the metric and its scenario, as people say them.
func (s *Series) Named() string { return metric.Parse(s.Metric).Under(s.Scenario) }

// DeltaUnit is the unit of changes.
func (s *Series) DeltaUnit() string {
	if s.Scale == comparison.Ratio {
		return metric.UnitPercent
	}
	return s.Unit
}

// Sentence says a change in words, without its verdict and without an end.
func (s *Series) Sentence(change *Change) string {
	moved := "rose"
	if change.Delta < 0 {
		moved = "fell"
	}
	unit := s.DeltaUnit()
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("%s in arm %s %s by %s%s (95 %% interval %s to %s) between %s and %s", s.Named(), s.Arm, moved,
		amount(math.Abs(change.Delta)), unit, signed(change.Low), signed(change.High),
		s.Points[change.At-1].Release, s.Points[change.At].Release)
}

// amount has three digits or so: more than an interval lets one believe.
func amount(value float64) string {
	switch size := math.Abs(value); {
	case size >= 100:
		return fmt.Sprintf("%.0f", value)
	case size >= 1 || size == 0:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2g", value)
}

func signed(value float64) string {
	if value > 0 {
		return "+" + amount(value)
	}
	return amount(value)
}

// Bound says how likely a false change is.
func (h *History) Bound() string {
	among := "in this series"
	if len(h.Series) > 1 {
		among = fmt.Sprintf("in all %d series together", len(h.Series))
	}
	if h.Looks > 1 {
		among += fmt.Sprintf(", over %d analyses", h.Looks)
	}
	return fmt.Sprintf("The false-positive rate is %g %% %s", h.ErrorRatePercent, among)
}

// Remarks are the notes, and one on a history too short to show anything.
func (h *History) Remarks() []string {
	longest := 0
	for i := range h.Series {
		longest = max(longest, len(h.Series[i].Points))
	}
	if needed := Shortest(h.errorRate()); longest < needed {
		return append(h.Notes[:len(h.Notes):len(h.Notes)], fmt.Sprintf(
			"%s can show no change at so small a chance of error: a step in the middle takes %d", prose.Counted(longest, "point"), needed))
	}
	return h.Notes
}

// NameOf an experiment's release: its annotation perflab.dev/release, in one line that
// fits a table, or its name.
func NameOf(experiment *v1alpha1.PerfExperiment) string {
	return cmp.Or(Label(experiment.Annotations[v1alpha1.AnnotationRelease]), experiment.Name)
}
