// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/scalability"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// scaling is the throughput of an arm at its levels, with the Universal Scalability Law.
type scaling struct {
	arm  string
	fit  scalability.Fit
	err  error
	runs [][]scalability.Point
}

// scalings of the arms with a throughput at levels.
func scalings(under *scenario, load string) []scaling {
	var all []scaling
	for _, arm := range under.arms {
		one := scaling{arm: arm.Name}
		for _, run := range under.validRuns(arm.Name) {
			stages, _ := levelStages(run.Status.Capacity, metric.Name(load, metric.IterationsPerSecond))
			if len(stages) > 0 {
				one.runs = append(one.runs, throughputs(stages))
			}
		}
		if len(one.runs) > 0 {
			one.fit, one.err = scalability.FromRuns(one.runs, under.confidence)
			all = append(all, one)
		}
	}
	return all
}

func throughputs(stages []chart.Stage) []scalability.Point {
	points := make([]scalability.Point, 0, len(stages))
	for _, at := range stages {
		points = append(points, scalability.Point{Users: at.At, Throughput: at.Value})
	}
	return points
}

// ends are the lowest and the highest level.
func (s scaling) ends() (low, high float64) {
	points := slices.Concat(s.runs...)
	order := func(a, b scalability.Point) int { return cmp.Compare(a.Users, b.Users) }
	return slices.MinFunc(points, order).Users, slices.MaxFunc(points, order).Users
}

// curve of the law between the ends.
func (s scaling) curve() []chart.Stage {
	const parts = 60
	var curve []chart.Stage
	low, high := s.ends()
	for i := range parts + 1 {
		users := low * math.Pow(high/low, float64(i)/parts)
		curve = append(curve, chart.Stage{At: users, Value: s.fit.At(users)})
	}
	return curve
}

// scalabilityCurves are the laws by arm, if a chart has throughput.
func scalabilityCurves(r *Record, under *scenario, load v1alpha1.Load, subject string) map[string][]chart.Stage {
	if subject != metric.Name(load.Name, metric.IterationsPerSecond) || !hasUserLevels(r, under, load) {
		return nil
	}
	curves := map[string][]chart.Stage{}
	for _, one := range scalings(under, load.Name) {
		if one.err == nil {
			curves[one.arm] = one.curve()
		}
	}
	return curves
}

// scalabilityTable has the Universal Scalability Law of each arm.
func scalabilityTable(r *Record, under *scenario) []document.Block {
	if under.Capacity == nil {
		return nil
	}
	load, _ := under.Capacity.LoadOf(under.Loads)
	all := scalings(under, load.Name)
	if len(all) == 0 {
		return nil
	}
	if !hasUserLevels(r, under, load) {
		return []document.Block{document.Paragraph(
			"The Universal Scalability Law is not fitted: it requires levels of users who wait for each response, but the levels of " + load.Name + " are, or may be, a rate.")}
	}
	result := &document.Table{
		Caption: "Universal Scalability Law of " + under.Name,
		Columns: slices.Concat(document.TextColumns("Arm"), document.NumberColumns("Levels", "Throughput of one user λ, 1/s", "Contention σ, %", "Coherency κ × 10⁶", "Peak, users", "Deviation, %")),
		Note: "X(N) = λN / (1 + σ(N − 1) + κN(N − 1)) is fitted to the iterations per second X at N users, over the levels of all valid runs, with " +
			percent(100*under.confidence) + " intervals. The deviation is the root mean square of X divided by its fitted value, minus 1.",
	}
	for _, one := range all {
		result.Rows = append(result.Rows, document.Row{Cells: append([]document.Cell{armCell(one.arm)}, document.TextCells(one.cells()...)...)})
	}
	return append(result.Blocks(), document.Paragraph(scalabilitySentence(under, all)))
}

// hasUserLevels reports whether the levels of a load are users.
func hasUserLevels(r *Record, under *scenario, load v1alpha1.Load) bool {
	stepped, is := kinds.ForLoad(load).(kind.Stepped)
	if !is {
		return false
	}
	available := kind.ConfigMaps{}
	if key := stepped.Source().ConfigMap; key != nil {
		for _, one := range scripts(r) {
			if one.scenario == under.Name && one.load == load.Name && one.text != "" {
				available[key.Name] = map[string]string{key.Key: one.text}
			}
		}
	}
	return stepped.LevelsAreUsers(available)
}

// cells of the table.
func (s scaling) cells() []string {
	count := digits.Count(len(slices.Concat(s.runs...)))
	if s.err != nil {
		return []string{count, digits.Dash, digits.Dash, digits.Dash, digits.Dash, digits.Dash}
	}
	const perCent, perMillion = 100, 1e6
	fit := s.fit
	return []string{
		count, parameterText(fit.Lambda, fit.LambdaInterval, "", 1), parameterText(fit.Sigma, fit.SigmaInterval, "", perCent),
		parameterText(fit.Kappa, fit.KappaInterval, "", perMillion), s.peakText(), digits.Fixed(perCent*fit.Deviation, 1),
	}
}

// peakText is the peak, as far as levels show it.
func (s scaling) peakText() string {
	low, high := s.ends()
	switch peak := s.fit.Peak(); {
	case peak < low:
		return "below " + digits.Rough(low)
	case peak > high:
		return "above " + digits.Rough(high)
	default:
		return parameterText(peak, s.fit.PeakInterval, "", 1)
	}
}

// parameterText is a multiple of a value with its unit and interval.
func parameterText(value float64, in scalability.Interval, unit string, factor float64) string {
	value, low, high := factor*value, factor*in.Low, factor*in.High
	places := digits.Decimals(value, (high-low)/2)
	text := digits.Fixed(value, places) + unit
	switch {
	case math.IsNaN(low):
		return text
	case math.IsInf(high, 1):
		return fmt.Sprintf("%s (%s or more)", text, digits.Fixed(low, places))
	}
	return fmt.Sprintf("%s (%s to %s)", text, digits.Fixed(low, places), digits.Fixed(high, places))
}

// scalabilitySentence says where throughput peaks, and which arms do not follow the law.
func scalabilitySentence(under *scenario, all []scaling) string {
	var parts []string
	for _, one := range all {
		if !isTwin(under, one.arm) {
			parts = append(parts, one.phrase())
		}
	}
	return "Universal Scalability Law: " + strings.Join(parts, "; ") + "."
}

func (s scaling) phrase() string {
	low, high := s.ends()
	switch peak := s.fit.Peak(); {
	case errors.Is(s.err, scalability.ErrMisfit):
		return s.arm + " does not follow the law: its throughput deviates systematically"
	case s.err != nil:
		return s.arm + " has throughput at too few levels"
	case peak < low:
		return fmt.Sprintf("throughput of %s falls from the lowest level, %s users", s.arm, digits.Rough(low))
	case peak > high:
		return fmt.Sprintf("throughput of %s grows up to the highest level, %s users", s.arm, digits.Rough(high))
	default:
		return fmt.Sprintf("throughput of %s peaks at %s", s.arm, parameterText(peak, s.fit.PeakInterval, " users", 1))
	}
}
