// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"

	g "maragu.dev/gomponents"

	"perflab.dev/perflab/internal/report"
)

// chart of the current run.
type chart struct {
	Title string
	SVG   g.Node
}

// newCharts draws the samples of a run's loads, except series that are all zero.
func newCharts(loads map[string][]LoadSample) []chart {
	draw := func(value func(LoadSample) float64) []report.Course {
		var courses []report.Course
		for _, load := range slices.Sorted(maps.Keys(loads)) {
			courses = append(courses, newCourse(load, loads[load], value))
		}
		return courses
	}
	var shown []chart
	for _, one := range []struct {
		title   string
		courses []report.Course
	}{
		{"95th percentile since the load began, ms", percentiles(loads)},
		{"Requests per second", draw(func(w LoadSample) float64 { return w.Requests })},
		{"Failed transactions since the load began, %", draw(func(w LoadSample) float64 { return w.Errors })},
		{"Users", draw(func(w LoadSample) float64 { return w.Users })},
	} {
		if !hasData(one.courses) {
			continue
		}
		if picture := report.Courses(one.title+".", one.courses); picture != nil {
			shown = append(shown, chart{one.title, picture})
		}
	}
	return shown
}

// percentiles of each transaction. The name includes the load if there are several.
func percentiles(loads map[string][]LoadSample) []report.Course {
	var courses []report.Course
	for _, load := range slices.Sorted(maps.Keys(loads)) {
		for _, transaction := range transactionNames(loads[load]) {
			name := transaction
			if len(loads) > 1 {
				name = load + "/" + transaction
			}
			samples := slices.DeleteFunc(slices.Clone(loads[load]), func(w LoadSample) bool { _, has := w.P95[transaction]; return !has })
			courses = append(courses, newCourse(name, samples, func(w LoadSample) float64 { return w.P95[transaction] }))
		}
	}
	return courses
}

func newCourse(name string, samples []LoadSample, value func(LoadSample) float64) report.Course {
	made := report.Course{Name: name}
	for _, sample := range samples {
		made.Points = append(made.Points, report.Point{Minutes: sample.At.Minutes(), Value: value(sample)})
	}
	return made
}

// hasData reports whether any point is above zero.
func hasData(courses []report.Course) bool {
	return slices.ContainsFunc(courses, func(one report.Course) bool {
		return slices.ContainsFunc(one.Points, func(at report.Point) bool { return at.Value > 0 })
	})
}
