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

// chartsOf draw what the loads of a run told, as far as there is a course to draw.
func chartsOf(loads map[string][]Word) []chart {
	of := func(value func(Word) float64) []report.Course {
		var courses []report.Course
		for _, load := range slices.Sorted(maps.Keys(loads)) {
			courses = append(courses, course(load, loads[load], value))
		}
		return courses
	}
	var shown []chart
	for _, one := range []struct {
		title   string
		courses []report.Course
	}{
		{"95th percentile since the load began, ms", percentiles(loads)},
		{"Requests per second", of(func(w Word) float64 { return w.Requests })},
		{"Failed transactions since the load began, %", of(func(w Word) float64 { return w.Errors })},
		{"Users", of(func(w Word) float64 { return w.Users })},
	} {
		if !rises(one.courses) {
			continue
		}
		if picture := report.Courses(one.title+".", one.courses); picture != nil {
			shown = append(shown, chart{one.title, picture})
		}
	}
	return shown
}

// percentiles of each transaction, named with its load where there are several.
func percentiles(loads map[string][]Word) []report.Course {
	var courses []report.Course
	for _, load := range slices.Sorted(maps.Keys(loads)) {
		for _, transaction := range transactions(loads[load]) {
			name := transaction
			if len(loads) > 1 {
				name = load + "/" + transaction
			}
			told := slices.DeleteFunc(slices.Clone(loads[load]), func(w Word) bool { _, has := w.P95[transaction]; return !has })
			courses = append(courses, course(name, told, func(w Word) float64 { return w.P95[transaction] }))
		}
	}
	return courses
}

func course(name string, words []Word, value func(Word) float64) report.Course {
	made := report.Course{Name: name}
	for _, word := range words {
		made.Points = append(made.Points, report.Point{Minutes: word.At.Minutes(), Value: value(word)})
	}
	return made
}

// rises: there is something else than nothing, which a table says as well.
func rises(courses []report.Course) bool {
	return slices.ContainsFunc(courses, func(one report.Course) bool {
		return slices.ContainsFunc(one.Points, func(at report.Point) bool { return at.Value > 0 })
	})
}
