// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// capacities of the arms in a scenario with a capacity, with what limits them.
func capacities(under *scenario) []v1alpha1.ArmCapacity {
	var all []v1alpha1.ArmCapacity
	for _, arm := range under.arms {
		if found, any := analysis.Capacity(under.Scenario, arm.Name, under.validRuns(arm.Name), under.confidence); any {
			all = append(all, found)
		}
	}
	return all
}

// capacitySentence states the capacities of the arms, and what limits them. For example: full
// takes 399.5 users (378.8 to 421.3), half 202.7 (190.0 to 216.3); Check-In p95 response time
// limits both.
func capacitySentence(under *scenario) string {
	var parts, limits []string
	verb := " sustains "
	for _, one := range capacities(under) {
		found := under.at(one.Metric, one.Arm)
		if found == nil || isTwin(under, one.Arm) {
			continue
		}
		if one.Value == "" {
			parts = append(parts, "the capacity of "+one.Arm+" is outside the tested levels")
			continue
		}
		part := one.Arm + verb + found.text()
		if verb != " " && capacityUnit(one) != "" {
			part += " " + capacityUnit(one)
		}
		if interval := intervalText(found); interval != digits.Dash {
			part += " (" + interval + ")"
		}
		parts, verb = append(parts, part), " "
		if limit := metric.Parse(one.Limiting).Phrase(); !slices.Contains(limits, limit) {
			limits = append(limits, limit)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := capitalize(under.Name) + ": " + strings.Join(parts, ", ")
	if len(limits) == 1 && limits[0] != "" {
		text += "; " + limits[0] + " limits " + prose.Verb(len(parts), "it", cmp.Or(map[int]string{2: "both"}[len(parts)], "all"))
	}
	return text + "."
}

// requiredSentence lists the arms that take the required load. For example: Required are 100 users:
// met by full and double, not met by half.
func requiredSentence(under *scenario, all []v1alpha1.ArmCapacity, required int32) string {
	arms := map[v1alpha1.CapacityRequirement][]string{}
	for _, one := range all {
		arms[one.Required] = append(arms[one.Required], one.Arm)
	}
	var parts []string
	for _, answer := range []struct {
		is   v1alpha1.CapacityRequirement
		text string
	}{{v1alpha1.RequirementMet, "met by "}, {v1alpha1.RequirementNotMet, "not met by "}, {v1alpha1.RequirementUncertain, "uncertain for "}} {
		if named := arms[answer.is]; len(named) > 0 {
			parts = append(parts, answer.text+prose.List(named, "and"))
		}
	}
	text := strings.TrimSpace(fmt.Sprintf("Required: %d %s", required, capacityUnit(all[0]))) + ", " + strings.Join(parts, ", ")
	if cheapest := cheapestArm(under, arms[v1alpha1.RequirementMet]); cheapest != "" {
		text += "; " + cheapest + " meets it at the lowest cost"
	}
	return text + "."
}

// cheapestArm returns the arm whose nodes cost least; empty if there is no choice, or no price.
func cheapestArm(under *scenario, arms []string) (cheapest string) {
	least := math.Inf(1)
	for _, arm := range arms {
		cost := under.at(metric.Cost, arm)
		if cost == nil || len(arms) < 2 {
			return ""
		}
		if cost.center() < least {
			cheapest, least = arm, cost.center()
		}
	}
	return cheapest
}

func isTwin(under *scenario, name string) bool {
	return slices.ContainsFunc(under.arms, func(one arm) bool { return one.Twin && one.Name == name })
}

// capacityText is a text about the arm's value, if it has one.
func capacityText(of v1alpha1.ArmCapacity, text string) string {
	if of.Value == "" {
		return digits.Dash
	}
	return text
}

func intervalText(of *values) string {
	low, high := of.interval()
	if math.IsNaN(low) {
		return digits.Dash
	}
	return fmt.Sprintf("%s to %s", digits.Fixed(low, of.places), digits.Fixed(high, of.places))
}

// capacityTable has a row per arm.
func capacityTable(_ *Record, under *scenario) []document.Block {
	all := capacities(under)
	if len(all) == 0 {
		return nil
	}
	metricName := all[0].Metric
	result := &document.Table{
		Caption: "Capacity of " + under.Name,
		Columns: slices.Concat(document.TextColumns("Arm"), document.NumberColumns("Runs", titleWithUnit("Capacity", capacityUnit(all[0])), percent(100*under.confidence)+" interval", "Iterations, 1/s"),
			document.TextColumns("Limited by", "Busiest server above capacity")),
	}
	currency := under.unit(metric.Cost)
	if currency != "" {
		result.Columns = append(result.Columns, document.NumberColumns(fmt.Sprintf("Cost of 1,000 %s, %s", cmp.Or(capacityUnit(all[0]), "units of load"), currency))...)
	}
	for _, one := range all {
		found := under.at(metricName, one.Arm)
		cells := []document.Cell{armCell(one.Arm)}
		cells = append(cells, document.TextCells(digits.Count(int(one.Runs)), capacityText(one, found.text()), capacityText(one, intervalText(found)), decimalText(one.IterationsPerSecond))...)
		cells = append(cells, document.TextCells(limitText(one), busiestText(one))...)
		if currency != "" {
			cells = append(cells, document.Cell{Text: unitCost(under.at(metric.Cost, one.Arm), found)})
		}
		result.Rows = append(result.Rows, document.Row{Cells: cells})
	}
	blocks := result.Blocks()
	load, _ := under.Capacity.LoadOf(under.Loads)
	for _, one := range all {
		for _, sentence := range []string{outsideSentence(one), nonMonotoneSentence(one, load)} {
			if sentence != "" {
				blocks = append(blocks, document.Paragraph(sentence))
			}
		}
	}
	if required := under.Capacity.Required; required != nil {
		blocks = append(blocks, document.Paragraph(requiredSentence(under, all, *required)))
	}
	blocks = append(blocks, document.Paragraph(objectivesSentence(under)))
	return append(blocks, demandTable(all)...)
}

// demandTable has the CPU that servers need for the load, a row per server and arm, without
// demands whose interval includes zero.
func demandTable(all []v1alpha1.ArmCapacity) []document.Block {
	const most = 5
	unit := cmp.Or(capacityUnit(all[0]), "units of load")
	result := &document.Table{
		Caption: "CPU demand of the load, from levels that met all objectives",
		Columns: slices.Concat(document.TextColumns("Arm", "Server"), document.NumberColumns("Cores for 1,000 "+unit, "Interval")),
	}
	for _, one := range all {
		known := slices.DeleteFunc(slices.Clone(one.Demand), func(needed v1alpha1.CapacityDemand) bool {
			low, err := decimal.Parse(needed.Low)
			return err != nil || low <= 0
		})
		for i, needed := range known[:min(len(known), most)] {
			server, _ := metric.CutStatistic(needed.Metric)
			interval := decimalText(needed.Low) + " to " + decimalText(needed.High)
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: append(
				[]document.Cell{armCell(one.Arm)}, document.TextCells(server, decimalText(needed.Value), interval)...)})
		}
	}
	return result.Blocks()
}

// unitCost is the cost of nodes for 1,000 units of the load, at the capacity.
func unitCost(cost, capacity *values) string {
	const units = 1000
	if cost == nil || capacity == nil {
		return digits.Dash
	}
	return digits.Rough(units * cost.center() / capacity.center())
}

func capacityUnit(of v1alpha1.ArmCapacity) string {
	if of.Unit == metric.UnitCount {
		return ""
	}
	return of.Unit
}

func decimalText(number string) string {
	value, err := decimal.Parse(number)
	if err != nil {
		return digits.Dash
	}
	return digits.Rough(value)
}

func limitText(of v1alpha1.ArmCapacity) string {
	if of.Limiting == "" {
		return digits.Dash
	}
	return fmt.Sprintf("%s in %d of %s", metric.Plain(of.Limiting), of.LimitingRuns, prose.Counted(of.Runs, "run"))
}

func busiestText(of v1alpha1.ArmCapacity) string {
	if of.Busiest == "" {
		return digits.Dash
	}
	server, _ := metric.CutStatistic(of.Busiest)
	percent, err := decimal.Parse(of.BusiestPercent)
	if err != nil {
		return digits.Dash
	}
	return fmt.Sprintf("%s, %.0f %% of its limit", server, percent)
}

// outsideSentence counts runs whose capacity is outside their levels, and says whether the arm
// has a value nevertheless.
func outsideSentence(of v1alpha1.ArmCapacity) string {
	var parts []string
	if of.Below > 0 {
		parts = append(parts, fmt.Sprintf("no level met all objectives in %d", of.Below))
	}
	if of.Above > 0 {
		parts = append(parts, fmt.Sprintf("every level met all objectives in %d", of.Above))
	}
	if len(parts) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %s of %s", of.Arm, joinAnd(parts), prose.Counted(of.Runs+of.Coarse, "run"))
	if of.Value == "" {
		return text + ", so its capacity is unknown and not compared."
	}
	return text + "; their values are at most one step outside the levels."
}

// nonMonotoneSentence counts runs whose lower levels were worse than higher ones.
func nonMonotoneSentence(of v1alpha1.ArmCapacity, load v1alpha1.Load) string {
	if of.NonMonotone == 0 {
		return ""
	}
	return fmt.Sprintf("%s: in %d of %s, a level clearly met the objectives above one that clearly did not, as while code is still being compiled: %s.",
		of.Arm, of.NonMonotone, prose.Counted(of.Runs, "run"), results.NonMonotoneAdvice(load))
}

// objectivesSentence defines the capacity.
func objectivesSentence(under *scenario) string {
	var parts []string
	for _, objective := range under.Capacity.Objectives {
		if objective.Max != "" {
			parts = append(parts, metric.Plain(objective.Metric)+" ≤ "+objective.Max)
		} else {
			parts = append(parts, metric.Plain(objective.Metric)+" ≥ "+objective.Min)
		}
	}
	return "The capacity is the highest level at which all objectives are met: " + joinAnd(parts) + ". Each run tests several levels and yields one capacity, from a monotone fit between them."
}

// levelMetrics are the metrics drawn against the levels: those of the objectives, and the
// throughput.
func levelMetrics(_ *Record, under *scenario) []string {
	if under.Capacity == nil {
		return nil
	}
	load, found := under.Capacity.LoadOf(under.Loads)
	if !found {
		return nil
	}
	var names []string
	for _, objective := range under.Capacity.Objectives {
		names = append(names, objective.Metric)
	}
	return append(names, metric.Name(load.Name, metric.IterationsPerSecond))
}

// levelChart draws a metric against the levels of a load.
func levelChart(r *Record, under *scenario, subject string) (document.Chart, bool) {
	load, _ := under.Capacity.LoadOf(under.Loads)
	summaries, unit := capacities(under), ""
	curves := scalabilityCurves(r, under, load, subject)
	var all []chart.Levels
	for _, arm := range under.arms {
		one := chart.Levels{Series: arm.series(), Low: math.NaN(), High: math.NaN(), Curve: curves[arm.Name]}
		if at := slices.IndexFunc(summaries, func(own v1alpha1.ArmCapacity) bool { return own.Arm == arm.Name && own.Value != "" }); at >= 0 {
			one.Low, one.High = under.at(summaries[at].Metric, arm.Name).interval()
		}
		for _, run := range under.validRuns(arm.Name) {
			stages, in := levelStages(run.Status.Capacity, subject)
			if len(stages) > 0 {
				one.Runs, unit = append(one.Runs, stages), in
			}
		}
		if len(one.Runs) > 0 {
			all = append(all, one)
		}
	}
	if len(all) == 0 || len(all) > mostLines {
		return document.Chart{}, false
	}
	of, limit := metric.Parse(subject), objectiveLimit(under, subject, unit)
	title, lines := fmt.Sprintf("%s against load", titleWithUnit(capitalize(of.Phrase()), unit)), "one line per run"
	if len(curves) > 0 {
		title, lines = title+" (dashed: the Universal Scalability Law)", lines+", and the Universal Scalability Law, dashed"
	}
	return document.Chart{
		Title: title,
		Alt:   fmt.Sprintf("%s at each level of %s under %s, %s. %s", capitalize(of.Phrase()), load.Name, under.Name, lines, describeCapacities(summaries)),
		SVG:   chart.AgainstLoad(all, limit, titleWithUnit("Load", capacityUnit(summaries[0]))),
	}, true
}

// levelStages are the values of a metric at the levels of a run, without zeros, which a
// logarithmic axis can't show.
func levelStages(found *v1alpha1.RunCapacity, subject string) (stages []chart.Stage, unit string) {
	if found == nil {
		return nil, ""
	}
	for _, level := range found.Levels {
		for _, observed := range level.Observations {
			value, err := decimal.Parse(observed.Value)
			if err == nil && value > 0 && metric.Same(metric.Plain(subject), observed.Metric) {
				stages, unit = append(stages, chart.Stage{At: float64(level.Level), Value: value}), observed.Unit
			}
		}
	}
	slices.SortStableFunc(stages, chart.CompareStages)
	return stages, unit
}

func objectiveLimit(under *scenario, subject, unit string) float64 {
	for _, objective := range under.Capacity.Objectives {
		if objective.Metric != subject {
			continue
		}
		if limit, err := results.ParseLimit(cmp.Or(objective.Max, objective.Min), unit); err == nil && limit > 0 {
			return limit
		}
	}
	return math.NaN()
}

func describeCapacities(all []v1alpha1.ArmCapacity) string {
	text := ""
	for _, one := range all {
		if one.Value != "" {
			text += fmt.Sprintf("%s: capacity %s. ", one.Arm, decimalText(one.Value))
		}
	}
	return text
}
