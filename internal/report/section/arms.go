// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
)

// arm is a configuration, as the report shows it.
type arm struct {
	v1alpha1.ArmStatus
	// shade is the arm's color and mark in charts.
	shade int
	// index among the report's arms.
	index int
}

// series are the arms as charts draw them.
func (a arm) series() chart.Series {
	return chart.Series{Name: a.Name, Index: a.index, Shade: a.shade, Muted: a.Twin}
}

// newSeries lists arms for a page.
func newSeries(arms []arm) []document.Series {
	var all []document.Series
	for _, one := range arms {
		all = append(all, one.series().InDocument())
	}
	return all
}

// newArms lists the arms as the experiment recorded them, or before its first run as it declares
// them. The baseline comes first.
func newArms(experiment *v1alpha1.PerfExperiment, runs journal) []arm {
	var all []arm
	for _, status := range experiment.Status.Arms {
		all = append(all, arm{ArmStatus: status})
	}
	if len(all) == 0 {
		for _, declared := range experiment.Spec.Arms {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: declared.Name, Baseline: declared.Baseline}})
		}
	}
	for _, run := range runs {
		if !slices.ContainsFunc(all, func(known arm) bool { return known.Name == run.Spec.Arm }) {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: run.Spec.Arm}})
		}
	}
	slices.SortStableFunc(all, func(a, b arm) int { return cmp.Compare(armRank(a), armRank(b)) })
	assignShades(all)
	return all
}

// armRank puts the baseline first and its A/A control next.
func armRank(a arm) int {
	switch {
	case a.Baseline:
		return 0
	case a.Twin:
		return 1
	}
	return 2
}

// assignShades gives each arm its index and its own shade; an A/A control has none.
func assignShades(all []arm) {
	next := 0
	for i := range all {
		all[i].index, all[i].shade = i, next
		if !all[i].Twin {
			next++
		}
	}
}
