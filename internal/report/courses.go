// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/results"
	"perflab.dev/perflab/internal/secret"
)

// mostCourses is how many charts of servers stand below a table.
const mostCourses = 4

// modulesOf are the modules that use most.
func modulesOf(uses []use) []string {
	var components []string
	for _, one := range uses[:min(len(uses), mostCourses)] {
		components = append(components, metric.Name(metric.Module, one.of))
	}
	return components
}

// serversOf are the servers worth a chart each.
func serversOf(component string) []string {
	switch component {
	case metric.Postgres:
		return []string{metric.Primary, metric.Replica + "1"}
	case metric.Kafka:
		return []string{metric.Broker + "0", metric.Broker + "1", metric.Broker + "2"}
	}
	return nil
}

// courseCharts show what components used over a typical run of each arm.
func (r *record) courseCharts(scenario v1alpha1.Scenario, components []string, resources ...string) []chart {
	var charts []chart
	for _, component := range components {
		for _, resource := range resources {
			if made, any := r.course(scenario, metric.Name(component, resource)); any {
				charts = append(charts, made)
			}
		}
	}
	return charts
}

func (r *record) course(scenario v1alpha1.Scenario, named string) (chart, bool) {
	var lines []line
	var bands []band
	unit, alt := "", ""
	for _, arm := range r.arms {
		run := r.typical(scenario.Name, arm.Name, metric.Name(named, metric.Average))
		if run == nil {
			continue
		}
		points := r.trace[run.Name].courses[named]
		if len(points) < 2 {
			continue
		}
		if bands == nil {
			bands = bandsOf(run)
		}
		unit = r.unit(scenario.Name, metric.Name(named, metric.Average))
		lines = append(lines, line{arm, points})
		alt += fmt.Sprintf("%s (block %d): from %s to %s. ", arm.Name, run.Spec.Block, rough(least(points)), rough(most(points)))
	}
	if len(lines) == 0 {
		return chart{}, false
	}
	parsed := metric.Parse(named + "/" + metric.Average)
	parsed.Statistic = ""
	subject := capital(parsed.Phrase())
	in := ""
	if shown := shownUnit(unit); shown != "" {
		in = ", in " + shown
	}
	return chart{
		Name: "course-" + scenario.Name + "-" + fileName(named), Title: headed(subject, unit),
		Alt: fmt.Sprintf("%s over the run under %s with the middle average of each arm%s. ", subject, scenario.Name, in) + alt,
		SVG: overTime(lines, bands),
	}, true
}

// courseOf are the means of as many stretches as a chart can show.
func courseOf(course results.Course, start, end time.Time) []point {
	var inside []point
	for _, one := range course.Points {
		if !start.IsZero() && !one.At.Before(start) && (end.IsZero() || !one.At.After(end)) {
			inside = append(inside, point{minutes(start, one.At), one.Value})
		}
	}
	size := max(1, (len(inside)+mostPoints-1)/mostPoints)
	var points []point
	for part := range slices.Chunk(inside, size) {
		sum := point{}
		for _, one := range part {
			sum.minutes += one.minutes / float64(len(part))
			sum.value += one.value / float64(len(part))
		}
		points = append(points, sum)
	}
	return points
}

func rough(value float64) string { return fixed(value, decimals(value, math.NaN())) }

// statements are those PostgreSQL spent most time on, in the last valid run of
// each arm: shares of runs don't add up, as each run lists its own top.
func (r *record) statements(scenario string) []block {
	made := &table{
		Caption: "Statements that took most of PostgreSQL's time, in the last valid run of each arm",
		Columns: slices.Concat(words("Arm", "Server", "Statement"), numbers("Calls", "Total, s", "Mean, ms", "Of all, %")),
	}
	const most = 5
	for _, arm := range r.arms {
		valid := r.valid(scenario, arm.Name)
		if len(valid) == 0 || valid[len(valid)-1].Status.Servers == nil {
			continue
		}
		top := valid[len(valid)-1].Status.Servers.Statements
		for i, one := range top[:min(len(top), most)] {
			made.Rows = append(made.Rows, row{First: i == 0, Cells: []cell{
				name(arm.Name), name(one.Server),
				{Text: shortText(one.Text)},
				{Text: whole(one.Calls)},
				{Text: trimmed(one.TotalSeconds)},
				{Text: trimmed(one.MeanMilliseconds)},
				{Text: trimmed(one.Percent)},
			}})
		}
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{{Table: made}}
}

func shortText(text string) string {
	const most = 120
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func trimmed(number string) string {
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return dash
	}
	return rough(value)
}

// unmeasured are the runs' notes on what could not be measured, once each.
func (r *record) unmeasured() []item {
	var items []item
	for _, run := range r.journal {
		if run.Status.Servers == nil || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		for _, note := range run.Status.Servers.Notes {
			one := item{Text: capital(secret.Hide("", note)) + "."}
			if !slices.Contains(items, one) {
				items = append(items, one)
			}
		}
	}
	return items
}
