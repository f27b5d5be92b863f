// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	g "maragu.dev/gomponents"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/format"
)

// The following is for other pages in the style of the report.

// Style is the element with the report's style sheet.
func Style() g.Node { return format.Style() }

// Policy is the report's content security policy.
func Policy() string { return format.Policy }

// Card is the report's answer card.
func (r *Report) Card() g.Node { return format.Card(&r.page.Card) }

// Course is a quantity over the time since a run's load began.
type Course struct {
	Name   string
	Points []Point
}

// Point of a course.
type Point struct{ Minutes, Value float64 }

// Courses is a chart of courses, for a page with the report's style; nil without a course of
// three points. Alt describes it.
func Courses(alt string, courses []Course) g.Node {
	var lines []chart.Line
	for _, one := range courses {
		if len(one.Points) < chart.MinPoints {
			continue
		}
		drawn := chart.Line{Series: chart.Series{Name: one.Name, Shade: len(lines) + 1}}
		for _, at := range one.Points {
			drawn.Points = append(drawn.Points, chart.SinglePoint(at.Minutes, at.Value))
		}
		alt += fmt.Sprintf(" %s: now %s, from %s to %s.", one.Name, brief(drawn.Points[len(drawn.Points)-1]), brief(slices.MinFunc(drawn.Points, chart.ComparePoints)), brief(slices.MaxFunc(drawn.Points, chart.ComparePoints)))
		lines = append(lines, drawn)
	}
	if len(lines) == 0 {
		return nil
	}
	return format.Drawing(chart.Timeline(lines, nil), alt)
}

func brief(at chart.Point) string { return fmt.Sprintf("%.4g", at.Value) }
