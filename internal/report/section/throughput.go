// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"math"

	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// timedLoads are the loads of a scenario that run for a time.
func timedLoads(_ *Record, under *scenario) []string {
	var names []string
	for _, load := range under.Loads {
		if !kinds.IsBatch(load) {
			names = append(names, load.Name)
		}
	}
	return names
}

// throughput shows the successful transactions of a load per second.
func throughput(_ *Record, under *scenario, load string) (document.Chart, bool) {
	return under.rates(load, doneCourse, "Transactions", metric.UnitPerSecond,
		fmt.Sprintf("Successful transactions of %s per second under %s", load, under.Name))
}

// failures shows the share of a load's transactions that failed, if any did.
func failures(_ *Record, under *scenario, load string) (document.Chart, bool) {
	if _, highest := under.courseExtent(rateCourse(load, failedCourse)); highest == 0 {
		return document.Chart{}, false
	}
	return under.rates(load, failedCourse, "Failed transactions", metric.UnitPercent,
		fmt.Sprintf("Share of failed transactions of %s under %s", load, under.Name))
}

// users shows the number of users, if it changed.
func users(_ *Record, under *scenario, load string) (document.Chart, bool) {
	const steady = 0.75
	if lowest, highest := under.courseExtent(rateCourse(load, usersCourse)); lowest >= steady*highest {
		return document.Chart{}, false
	}
	return under.rates(load, usersCourse, "Users", metric.UnitCount, fmt.Sprintf("Users of %s under %s", load, under.Name))
}

// courseExtent is the lowest and the highest point of a course, in all runs.
func (s *scenario) courseExtent(course string) (lowest, highest float64) {
	lowest = math.Inf(1)
	for _, run := range s.runs {
		if trace := s.traces[run.Name]; trace != nil {
			for _, at := range trace.courses[course] {
				lowest, highest = math.Min(lowest, at.Value), math.Max(highest, at.Value)
			}
		}
	}
	return lowest, highest
}

// rates draws rates over the run that is typical for the load's first transaction.
func (s *scenario) rates(load, of, what, unit, alt string) (document.Chart, bool) {
	transactions := s.transactions(load)
	if len(transactions) == 0 || len(s.arms) > mostLines {
		return document.Chart{}, false
	}
	alt += fmt.Sprintf(" over the typical run of each arm, the one with the median average of %s. ", transactions[0])
	title := fmt.Sprintf("%s of %s over a typical run", what, load)
	return courseChart{rateCourse(load, of), metric.Name(load, transactions[0], metric.Average), title, unit, digits.Rough}.chart(s, alt)
}
