// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// maxCourses is the number of modules with a chart.
const maxCourses = 4

// busiestModules are the courses of the modules that use a resource most.
func busiestModules(resource string) func(*Record, *scenario) []string {
	return func(_ *Record, under *scenario) []string {
		var subjects []string
		uses := moduleUses(under, resource)
		for _, one := range uses[:min(len(uses), maxCourses)] {
			subjects = append(subjects, metric.Name(metric.Module, one.of, resource))
		}
		return subjects
	}
}

// serverCourses are the courses of servers with a chart each.
func serverCourses(servers ...string) func(*Record, *scenario) []string {
	var subjects []string
	for _, server := range servers {
		subjects = append(subjects, metric.Name(server, metric.CPU), metric.Name(server, metric.CPUUsed), metric.Name(server, metric.Connections))
	}
	return func(*Record, *scenario) []string { return subjects }
}

// course shows a component's use over a typical run of each arm.
func course(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	unit := under.unit(metric.Name(subject, metric.Average))
	parsed := metric.Parse(metric.Name(subject, metric.Average))
	parsed.Statistic = ""
	title := capitalizePhrase(parsed, parsed.Phrase())
	return courseChart{subject, metric.Name(subject, metric.Average), title, unit, digits.Rough}.chart(under,
		fmt.Sprintf("%s under %s over the typical run of each arm, the one with the median average. ", title, under.Name))
}
