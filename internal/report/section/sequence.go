// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// newStage is the center of an arm's runs.
func newStage(at float64, of *values) chart.Stage {
	low, high := of.displayedInterval()
	return chart.Stage{At: at, Value: of.center(), Low: low, High: high}
}

// drift shows every run in the order of blocks: a change in all arms over the course of the
// experiment is no effect of an arm.
func drift(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	const enough = 4
	if len(under.arms) > mostLines {
		return document.Chart{}, false
	}
	m, unit := metric.Parse(subject), under.unit(subject)
	var all []chart.Sequence
	for _, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil || len(found.numbers) < enough {
			continue
		}
		one := chart.Sequence{Series: arm.series()}
		for i, number := range found.numbers {
			one.Stages = append(one.Stages, chart.Stage{At: float64(found.blocks[i]), Value: number, Low: math.NaN(), High: math.NaN()})
		}
		slices.SortFunc(one.Stages, chart.CompareStages)
		all = append(all, one)
	}
	if areAllEqual(all) {
		return document.Chart{}, false
	}
	return withSequences(document.Chart{
		Title: titleWithUnit("Runs by block: "+m.Phrase(), unit),
		Alt:   fmt.Sprintf("Every valid run in the order of blocks: %s%s. ", m.Under(under.Name), inUnit(unit)) + stagesText(all),
	}, all, "Block", 0)
}

// areAllEqual reports whether all runs have one value, which can't drift.
func areAllEqual(all []chart.Sequence) bool {
	for _, one := range all {
		for _, stage := range one.Stages {
			if stage.Value != all[0].Stages[0].Value {
				return false
			}
		}
	}
	return true
}

// pricedMetrics are the deciding metrics, if the costs of arms differ.
func pricedMetrics(r *Record, under *scenario) []string {
	costs := map[float64]bool{}
	for _, found := range under.allValues(metric.Cost) {
		costs[found.center()] = true
	}
	if len(costs) < 2 {
		return nil
	}
	return primaryMetrics(r, under)
}

// price shows the cost of each arm against a metric.
func price(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	m, unit, currency := metric.Parse(subject), under.unit(subject), under.unit(metric.Cost)
	var all []chart.Sequence
	for _, arm := range under.arms {
		cost, found := under.at(metric.Cost, arm.Name), under.at(subject, arm.Name)
		if cost != nil && found != nil {
			all = append(all, chart.Sequence{Series: arm.series(), Stages: []chart.Stage{newStage(cost.center(), found)}})
		}
	}
	alt := fmt.Sprintf("Cost of each arm, in %s, and %s%s. ", currency, m.Under(under.Name), inUnit(unit))
	for _, one := range all {
		alt += fmt.Sprintf("%s: %s and %s. ", one.Series.Name, digits.Fixed(one.Stages[0].At, 2), digits.Rough(one.Stages[0].Value))
	}
	if len(all) < 2 {
		return document.Chart{}, false
	}
	return withSequences(document.Chart{Title: titleWithUnit("Cost and "+m.Phrase(), unit), Alt: alt}, all, "Cost, "+currency, 2)
}

// seriesLoads are the loads with several imports.
func seriesLoads(_ *Record, under *scenario) []string {
	var names []string
	for _, load := range under.Loads {
		if kinds.IsBatch(load) && under.partCount(load.Name) > 1 {
			names = append(names, load.Name)
		}
	}
	return names
}

// importSeries shows the duration of each import of a load.
func importSeries(_ *Record, under *scenario, load string) (document.Chart, bool) {
	all := under.sequences(func(arm string) []chart.Stage {
		var stages []chart.Stage
		for part := 1; part <= under.partCount(load); part++ {
			if found := under.at(metric.Name(load, metric.Part(part), metric.Duration), arm); found != nil {
				stages = append(stages, newStage(float64(part), found))
			}
		}
		return stages
	})
	return withSequences(document.Chart{
		Title: "Individual durations: " + load + ", s",
		Alt:   fmt.Sprintf("Duration of each import of %s under %s, in order, in s. ", load, under.Name) + stagesText(all),
	}, all, "Import", 0)
}

// sequences of the arms with at least two stages.
func (s *scenario) sequences(stages func(arm string) []chart.Stage) []chart.Sequence {
	var all []chart.Sequence
	for _, arm := range s.arms {
		if found := stages(arm.Name); len(found) > 1 {
			all = append(all, chart.Sequence{Series: arm.series(), Stages: found})
		}
	}
	return all
}

// sized is a metric of loads of one kind and different sizes.
type sized struct {
	// like describes what the loads share, of what distinguishes them.
	like, of string
	// statistic is the suffix of their metrics' names after the load.
	statistic string
	at        []sizedPlace
}

// sizedPlace identifies the metric of a size.
type sizedPlace struct {
	size   int64
	under  *scenario
	metric string
}

func (s sized) subject() string { return metric.Name(s.like, s.statistic) }

// sizedMetrics are the metrics with at least three sizes: the duration of batches, and the
// average of each transaction of other loads.
func sizedMetrics(r *Record) []sized {
	const enough = 3
	var all []sized
	for _, under := range r.scenarios {
		for _, load := range under.Loads {
			if found, is := kinds.ForLoad(load).(kind.Sized); is {
				for _, statistic := range under.sizedStatistics(load) {
					all = addSize(all, found, under, load, statistic)
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(one sized) bool { return len(one.at) < enough })
}

func (s *scenario) sizedStatistics(load v1alpha1.Load) []string {
	if kinds.IsBatch(load) {
		return []string{metric.Duration}
	}
	var names []string
	for _, transaction := range s.transactions(load.Name) {
		names = append(names, metric.Name(transaction, metric.Average))
	}
	return names
}

// addSize adds a size to its metric. If several scenarios have a size, the first counts.
func addSize(all []sized, found kind.Sized, under *scenario, load v1alpha1.Load, statistic string) []sized {
	size, of, like := found.Size()
	// Imports beside users and imports alone are not comparable.
	if slices.ContainsFunc(under.Loads, func(other v1alpha1.Load) bool { return kinds.IsBatch(other) != kinds.IsBatch(load) }) {
		like += " with other load"
	}
	at := slices.IndexFunc(all, func(known sized) bool { return known.like == like && known.statistic == statistic })
	if at < 0 {
		at, all = len(all), append(all, sized{like: like, of: of, statistic: statistic})
	}
	if !slices.ContainsFunc(all[at].at, func(known sizedPlace) bool { return known.size == size }) {
		all[at].at = append(all[at].at, sizedPlace{size, under, metric.Name(load.Name, statistic)})
	}
	return all
}

// sizeSubjects are the subjects that start with this scenario, so that each is drawn once.
func sizeSubjects(r *Record, under *scenario) []string {
	var subjects []string
	for _, one := range sizedMetrics(r) {
		if one.at[0].under == under {
			subjects = append(subjects, one.subject())
		}
	}
	return subjects
}

// sizes shows a metric by the size of the load.
func sizes(r *Record, _ *scenario, subject string) (document.Chart, bool) {
	for _, one := range sizedMetrics(r) {
		if one.subject() == subject {
			return one.chart(r)
		}
	}
	return document.Chart{}, false
}

func (s sized) chart(r *Record) (document.Chart, bool) {
	slices.SortFunc(s.at, func(a, b sizedPlace) int { return cmp.Compare(a.size, b.size) })
	var all []chart.Sequence
	for _, arm := range r.arms {
		one := chart.Sequence{Series: arm.series()}
		for _, place := range s.at {
			if found := place.under.at(place.metric, arm.Name); found != nil {
				one.Stages = append(one.Stages, newStage(float64(place.size), found))
			}
		}
		if len(one.Stages) > 1 {
			all = append(all, one)
		}
	}
	what := s.statistic
	if what != metric.Duration {
		what = metric.Parse(metric.Name("", s.statistic)).Phrase()
	}
	unit := s.at[0].under.unit(s.at[0].metric)
	return withSequences(document.Chart{
		Title: titleWithUnit(capitalize(s.like)+" by "+s.of+": "+what, unit),
		Alt:   fmt.Sprintf("%s of %s by number of %s, in %s. ", capitalize(what), s.like, s.of, unit) + stagesText(all),
	}, all, capitalize(s.of), 0)
}

// stagesText describes sequences.
func stagesText(all []chart.Sequence) string {
	text := ""
	for _, one := range all {
		text += one.Series.Name + ":"
		for _, at := range one.Stages {
			text += fmt.Sprintf(" %s at %s,", digits.Rough(at.Value), digits.Fixed(at.At, 0))
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// withSequences adds sequences to a chart; false without any.
func withSequences(c document.Chart, all []chart.Sequence, xLabel string, places int) (document.Chart, bool) {
	if len(all) == 0 {
		return document.Chart{}, false
	}
	c.SVG = chart.Sequences(all, xLabel, places)
	return c, true
}
