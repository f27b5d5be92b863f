// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"strconv"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/text/digits"
)

// Observations has a row per valid run and metric, as perflab analyze reads it: with all recorded
// digits, in the order of the plan.
func (r *Record) Observations() [][]string {
	rows := [][]string{strings.Split(comparison.Header, ",")}
	for _, run := range r.journal.valid() {
		arm := comparison.Cell(r.labels.armName(run.Spec.Arm))
		for _, observation := range cmp.Or(r.Traces[run.Name], emptyTrace).allObservations(run) {
			rows = append(rows, []string{
				digits.Count(run.Spec.Block), arm, comparison.Cell(run.Spec.Scenario.Name), comparison.Cell(observation.Metric),
				comparison.Cell(observation.Unit), comparison.Cell(observation.Value),
			})
		}
	}
	return rows
}

// levelColumns are the columns of Levels.
const levelColumns = "run,block,arm,scenario,load,level,held,metric,unit,value"

// Levels has a row per observation at each level of the valid runs, in the order of the plan. A
// level without observations, such as a failed import, has a row without a metric.
func (r *Record) Levels() [][]string {
	rows := [][]string{strings.Split(levelColumns, ",")}
	for _, run := range r.journal.valid() {
		rows = append(rows, r.levelsOf(run)...)
	}
	return rows
}

func (r *Record) levelsOf(run *v1alpha1.PerfRun) [][]string {
	declared, found := run.Spec.Scenario.Capacity, run.Status.Capacity
	if declared == nil || found == nil {
		return nil
	}
	load, _ := declared.LoadOf(run.Spec.Scenario.Loads)
	var rows [][]string
	for _, level := range found.Levels {
		observations := level.Observations
		if len(observations) == 0 {
			observations = make([]v1alpha1.Observation, 1)
		}
		for _, one := range observations {
			rows = append(rows, []string{
				run.Name, digits.Count(run.Spec.Block), comparison.Cell(r.labels.armName(run.Spec.Arm)), comparison.Cell(run.Spec.Scenario.Name), load.Name,
				digits.Count(level.Level), strconv.FormatBool(level.Held), comparison.Cell(one.Metric), comparison.Cell(one.Unit), comparison.Cell(one.Value),
			})
		}
	}
	return rows
}

// HasLevels reports whether a valid run visited levels.
func (r *Record) HasLevels() bool { return len(r.Levels()) > 1 }
