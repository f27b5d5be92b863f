// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
)

// mostLines is how many arms a chart shows run by run and over time beside what decides:
// more hide each other, and make the page heavy.
const mostLines = 8

// stageOf is the center of an arm's runs.
func stageOf(at float64, of *values) Stage {
	low, high := of.shownInterval()
	return Stage{at, of.center(), low, high}
}

// drift shows every run in the order of blocks: what changed for all arms alike while
// the experiment went on is no arm's.
func drift(_ *record, under *scenario, subject string) (chart, bool) {
	const enough = 4
	if len(under.arms) > mostLines {
		return chart{}, false
	}
	m, unit := metric.Parse(subject), under.unit(subject)
	var all []Sequence
	for _, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil || len(found.numbers) < enough {
			continue
		}
		one := Sequence{Series: arm.series()}
		for i, number := range found.numbers {
			one.Stages = append(one.Stages, Stage{float64(found.blocks[i]), number, math.NaN(), math.NaN()})
		}
		slices.SortFunc(one.Stages, ByStep)
		all = append(all, one)
	}
	return stepped(chart{
		Title: headed("Block by block: "+m.Phrase(), unit),
		Alt:   fmt.Sprintf("Every valid run in the order of blocks: %s, in %s. ", m.Under(under.Name), unit) + toldStages(all),
	}, all, "Block", 0)
}

// pricedMetrics are those that decide, where arms cost more or less.
func pricedMetrics(r *record, under *scenario) []string {
	costs := map[float64]bool{}
	for _, found := range under.of(metric.Cost) {
		costs[found.center()] = true
	}
	if len(costs) < 2 {
		return nil
	}
	return primaryMetrics(r, under)
}

// price shows what each arm costs, and what one gets for it.
func price(_ *record, under *scenario, subject string) (chart, bool) {
	m, unit, currency := metric.Parse(subject), under.unit(subject), under.unit(metric.Cost)
	var all []Sequence
	for _, arm := range under.arms {
		cost, found := under.at(metric.Cost, arm.Name), under.at(subject, arm.Name)
		if cost != nil && found != nil {
			all = append(all, Sequence{arm.series(), []Stage{stageOf(cost.center(), found)}})
		}
	}
	alt := fmt.Sprintf("What each arm costs, in %s, and %s, in %s. ", currency, m.Under(under.Name), unit)
	for _, one := range all {
		alt += fmt.Sprintf("%s: %s and %s. ", one.Series.Name, fixed(one.Stages[0].At, 2), rough(one.Stages[0].Value))
	}
	if len(all) < 2 {
		return chart{}, false
	}
	return stepped(chart{Title: headed("Cost and "+m.Phrase(), unit), Alt: alt}, all, "Cost, "+currency, 2)
}

// seriesLoads are the loads of several imports.
func seriesLoads(_ *record, under *scenario) []string {
	var names []string
	for _, load := range under.Loads {
		if kinds.IsBatch(load) && under.parts(load.Name) > 1 {
			names = append(names, load.Name)
		}
	}
	return names
}

// series shows how long each import of a load took.
func series(_ *record, under *scenario, load string) (chart, bool) {
	all := under.sequencesOf(func(arm string) []Stage {
		var stages []Stage
		for part := 1; part <= under.parts(load); part++ {
			if found := under.at(metric.Name(load, metric.Part(part), metric.Duration), arm); found != nil {
				stages = append(stages, stageOf(float64(part), found))
			}
		}
		return stages
	})
	return stepped(chart{
		Title: "One by one: " + load + ", s",
		Alt:   fmt.Sprintf("Duration of each of %s under %s, in order, in s. ", load, under.Name) + toldStages(all),
	}, all, "Import", 0)
}

// sequencesOf the arms that have two stages at least.
func (s *scenario) sequencesOf(stages func(arm string) []Stage) []Sequence {
	var all []Sequence
	for _, arm := range s.arms {
		if found := stages(arm.Name); len(found) > 1 {
			all = append(all, Sequence{arm.series(), found})
		}
	}
	return all
}

// sized is a metric of loads of one kind that differ in their size.
type sized struct {
	// like says what the loads have in common, of in what they differ.
	like, of string
	// statistic of each: what their metrics' names have behind the load's.
	statistic string
	at        []sizedPlace
}

// sizedPlace is where the metric of a size is.
type sizedPlace struct {
	size   int64
	under  *scenario
	metric string
}

func (s sized) subject() string { return metric.Name(s.like, s.statistic) }

// sizedMetrics are those that three sizes or more have: of batches the duration, of
// others the average of each transaction.
func sizedMetrics(r *record) []sized {
	const enough = 3
	var all []sized
	for _, under := range r.scenarios {
		for _, load := range under.Loads {
			if found, is := kinds.Of(load).(kind.Sized); is {
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

// addSize to those of its like. Of a size that several scenarios have, the first counts.
func addSize(all []sized, found kind.Sized, under *scenario, load v1alpha1.Load, statistic string) []sized {
	size, of, like := found.Size()
	// Imports beside users are others than imports alone.
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

// sizesFrom are the subjects whose first scenario is this one, so that each is drawn once.
func sizesFrom(r *record, under *scenario) []string {
	var subjects []string
	for _, one := range sizedMetrics(r) {
		if one.at[0].under == under {
			subjects = append(subjects, one.subject())
		}
	}
	return subjects
}

// sizes shows a metric by the size of the load.
func sizes(r *record, _ *scenario, subject string) (chart, bool) {
	for _, one := range sizedMetrics(r) {
		if one.subject() == subject {
			return one.drawn(r)
		}
	}
	return chart{}, false
}

func (s sized) drawn(r *record) (chart, bool) {
	slices.SortFunc(s.at, func(a, b sizedPlace) int { return cmp.Compare(a.size, b.size) })
	var all []Sequence
	for _, arm := range r.arms {
		one := Sequence{Series: arm.series()}
		for _, place := range s.at {
			if found := place.under.at(place.metric, arm.Name); found != nil {
				one.Stages = append(one.Stages, stageOf(float64(place.size), found))
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
	return stepped(chart{
		Title: headed(capital(s.like)+" by "+s.of+": "+what, unit),
		Alt:   fmt.Sprintf("%s of %s by number of %s, in %s. ", capital(what), s.like, s.of, unit) + toldStages(all),
	}, all, capital(s.of), 0)
}

// toldStages says in words what sequences show.
func toldStages(all []Sequence) string {
	text := ""
	for _, one := range all {
		text += one.Series.Name + ":"
		for _, at := range one.Stages {
			text += fmt.Sprintf(" %s at %s,", rough(at.Value), fixed(at.At, 0))
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// stepped is a chart with sequences in it, if there are any.
func stepped(c chart, all []Sequence, xLabel string, places int) (chart, bool) {
	if len(all) == 0 {
		return chart{}, false
	}
	c.SVG = Sequences(all, xLabel, places)
	return c, true
}
