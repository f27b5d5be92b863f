// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// What follows is for other pages that look as the report does.

// Style is the element with the report's style sheet.
func Style() g.Node { return h.StyleEl(g.Raw(styleSheet())) }

// Policy is the report's own content security policy.
func Policy() string { return policy }

// Card is the report's answer card.
func (r *Report) Card() g.Node { return answerCard(&r.page.Card) }

// Course is a quantity over the time since a run's load began.
type Course struct {
	Name   string
	Points []Point
}

// Point of a course.
type Point struct{ Minutes, Value float64 }

// Courses is a chart of courses, for a page with the report's style; nil without a
// course of three points. Alt says in words what it is of.
func Courses(alt string, courses []Course) g.Node {
	var lines []Line
	for _, one := range courses {
		if len(one.Points) < MinPoints {
			continue
		}
		drawn := Line{Series: Series{Name: one.Name, Shade: len(lines) + 1}}
		for _, at := range one.Points {
			drawn.Points = append(drawn.Points, Single(at.Minutes, at.Value))
		}
		alt += fmt.Sprintf(" %s: now %s, from %s to %s.", one.Name, brief(drawn.Points[len(drawn.Points)-1]), brief(slices.MinFunc(drawn.Points, byValue)), brief(slices.MaxFunc(drawn.Points, byValue)))
		lines = append(lines, drawn)
	}
	if len(lines) == 0 {
		return nil
	}
	return drawing(OverTime(lines, nil), alt)
}

func brief(at PointX) string { return fmt.Sprintf("%.4g", at.Value) }
