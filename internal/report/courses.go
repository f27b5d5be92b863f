// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
)

// maxCourses is how many modules have a chart.
const maxCourses = 4

// busiestModules are the courses of the modules that use most of a resource.
func busiestModules(resource string) func(*record, *scenario) []string {
	return func(_ *record, under *scenario) []string {
		var subjects []string
		uses := moduleUses(under, resource)
		for _, one := range uses[:min(len(uses), maxCourses)] {
			subjects = append(subjects, metric.Name(metric.Module, one.of, resource))
		}
		return subjects
	}
}

// usesOf are the courses of servers that are worth a chart each.
func usesOf(servers ...string) func(*record, *scenario) []string {
	var subjects []string
	for _, server := range servers {
		subjects = append(subjects, metric.Name(server, metric.CPU), metric.Name(server, metric.CPUUsed), metric.Name(server, metric.Connections))
	}
	return func(*record, *scenario) []string { return subjects }
}

// course shows what a component used over a typical run of each arm.
func course(_ *record, under *scenario, subject string) (chart, bool) {
	unit := under.unit(metric.Name(subject, metric.Average))
	parsed := metric.Parse(metric.Name(subject, metric.Average))
	parsed.Statistic = ""
	title := opened(parsed, parsed.Phrase())
	return courseChart{subject, metric.Name(subject, metric.Average), title, unit, rough}.overRun(under,
		fmt.Sprintf("%s over the run under %s with the middle average of each arm. ", title, under.Name))
}

// courseOf are the means of as many stretches as a chart can show.
func courseOf(course results.Course, start, end time.Time) []PointX {
	var inside []PointX
	for _, one := range course.Points {
		if !start.IsZero() && !one.At.Before(start) && (end.IsZero() || !one.At.After(end)) {
			inside = append(inside, Single(minutes(start, one.At), one.Value))
		}
	}
	size := max(1, (len(inside)+maxPoints-1)/maxPoints)
	var points []PointX
	for part := range slices.Chunk(inside, size) {
		sum := PointX{Extent: part[0].Extent}
		for _, one := range part {
			sum.Extent = sum.With(one.Extent)
			sum.Minutes += one.Minutes / float64(len(part))
			sum.Value += one.Value / float64(len(part))
		}
		points = append(points, sum)
	}
	return points
}
