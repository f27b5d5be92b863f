// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// soak is the result of long runs: growth, restarts and failures. The known fields report whether
// the runs measured each of these.
type soak struct {
	growths                                   []soakGrowth
	restarts                                  []restart
	failures                                  []string
	knowsGrowth, knowsRestarts, knowsFailures bool
	// longest is the longest duration of a run's load.
	longest time.Duration
}

// soakGrowth is a growth with its scenario.
type soakGrowth struct {
	growth
	under *scenario
}

// newSoak summarizes the scenarios with long runs; nil without any.
func newSoak(r *Record) *soak {
	var found soak
	var runs journal
	for _, under := range r.scenarios {
		if isLong(under.runs) {
			found.addScenario(r, under)
			runs = append(runs, under.runs...)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	slices.SortStableFunc(found.growths, func(a, b soakGrowth) int { return cmp.Compare(b.share(), a.share()) })
	found.addRunRestarts(r, runs)
	return &found
}

func (s *soak) addScenario(r *Record, under *scenario) {
	for _, one := range growthsUnder(under) {
		s.knowsGrowth = true
		if one.isSignificant(growthThreshold(r)) {
			s.growths = append(s.growths, soakGrowth{one, under})
		}
	}
	for _, run := range under.runs {
		s.longest = max(s.longest, timeValue(run.Status.Timings.LoadFinish).Sub(timeValue(run.Status.Timings.LoadStart)))
	}
	for _, m := range under.metrics {
		// With several arms, the comparison covers failures.
		if r.isAlone() {
			s.addFailures(r, under, m)
		}
	}
}

// addFailures adds failures of a transaction's samples, or of imports.
func (s *soak) addFailures(r *Record, under *scenario, m metric.Metric) {
	isShare := m.IsTransaction() && m.Statistic == metric.Errors
	if m.Window != "" || !isShare && (m.IsServer() || m.Statistic != metric.FailedImports) {
		return
	}
	s.knowsFailures = true
	for _, arm := range under.arms {
		found := under.at(m.Name, arm.Name)
		switch where := r.whereText(under, arm.Name); {
		case found == nil || found.peak() == 0:
		case isShare:
			s.failures = append(s.failures, fmt.Sprintf("%s of %s failed%s", found.textWithUnit(), metric.Plain(m.Transaction), where))
		default:
			s.failures = append(s.failures, fmt.Sprintf("%s of %s failed%s", prose.Counted(int(found.sum()), "import"), m.Of, where))
		}
	}
}

// whereText names the scenario and arm, where there are several.
func (r *Record) whereText(under *scenario, arm string) string {
	text := ""
	if len(r.scenarios) > 1 {
		text += " under " + under.Name
	}
	if !r.isAlone() {
		text += " in " + arm
	}
	return text
}

// addRunRestarts adds the restarts of runs: those that the collector saw, and those that only a
// run's count has.
func (s *soak) addRunRestarts(r *Record, runs journal) {
	for _, run := range runs {
		seen := map[string]int32{}
		for _, one := range cmp.Or(r.Traces[run.Name], emptyTrace).restarts {
			one.Count = max(one.Count, 1)
			seen[one.component()] += one.Count
			s.addRestarts(one)
		}
		for _, counted := range countedRestarts(run) {
			s.knowsRestarts = true
			if counted.Count -= seen[counted.component()]; counted.Count > 0 {
				s.addRestarts(counted)
			}
		}
	}
}

// countedRestarts are the restart counts of a run's components, including zeros.
func countedRestarts(run *v1alpha1.PerfRun) []restart {
	var counted []restart
	for _, one := range run.Status.Observations {
		m := metric.Parse(one.Metric)
		number, err := decimal.Parse(one.Value)
		if m.Resource == metric.Restarts && m.Window == "" && err == nil {
			counted = append(counted, restart{ContainerEnd: payload.ContainerEnd{Component: metric.Name(m.Component, m.Of), Count: int32(number)}})
		}
	}
	return counted
}

// addRestarts adds to the restarts of the same component. The reason stays if all have the same.
func (s *soak) addRestarts(of restart) {
	s.knowsRestarts = true
	at := slices.IndexFunc(s.restarts, func(known restart) bool { return known.component() == of.component() })
	if at < 0 {
		s.restarts = append(s.restarts, of)
		return
	}
	known := &s.restarts[at]
	known.Count += of.Count
	if known.reason() != of.reason() {
		known.Reason, known.ExitCode = "", 0
	}
}

// durationText is the duration of the longest load.
func (s *soak) durationText() string { return prose.Duration(s.longest.Round(time.Minute)) }

// sentence summarizes what grew, restarted and failed, and what did not.
func (s *soak) sentence(r *Record) string {
	var found, none []string
	for _, one := range []struct {
		texts []string
		known bool
		noun  string
	}{{s.growthTexts(r), s.knowsGrowth, "growth"}, {s.restartTexts(), s.knowsRestarts, "restarts"}, {s.failures, s.knowsFailures, "failures"}} {
		one.texts = prose.AtMost(one.texts, maxFigures, "under Results")
		found = append(found, one.texts...)
		if one.known && len(one.texts) == 0 {
			none = append(none, "no "+one.noun)
		}
	}
	if len(none) > 0 {
		found = append(found, strings.Join(none, ", "))
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("In %s under load: %s.", s.durationText(), strings.Join(found, "; "))
}

func (s *soak) growthTexts(r *Record) []string {
	var texts []string
	for _, one := range s.growths {
		texts = append(texts, one.text()+r.whereText(one.under, one.arm))
	}
	return texts
}

func (s *soak) restartTexts() []string {
	var texts []string
	for _, one := range s.restarts {
		texts = append(texts, one.text())
	}
	return texts
}

// chips count the findings.
func (s *soak) chips() []document.Item {
	restarts := int32(0)
	for _, one := range s.restarts {
		restarts += one.Count
	}
	var chips []document.Item
	for _, one := range []struct {
		number      int
		known       bool
		one, within string
	}{{len(s.growths), s.knowsGrowth, "growth", "growth"}, {int(restarts), s.knowsRestarts, "restart", "restarts"}, {len(s.failures), s.knowsFailures, "kind of failure", "failures"}} {
		switch {
		case one.number > 0:
			chips = append(chips, document.Item{Status: string(verdict.Worse), Text: prose.Counted(one.number, one.one)})
		case one.known:
			chips = append(chips, document.Item{Status: string(verdict.Better), Text: "no " + one.within})
		}
	}
	return chips
}

// figures of the largest growths.
func (s *soak) figures(r *Record) []document.Figure {
	var figures []document.Figure
	for _, one := range s.growths[:min(len(s.growths), maxFigures)] {
		places := one.places()
		figures = append(figures, document.Figure{
			Label: one.title() + r.whereText(one.under, one.arm), Status: string(verdict.Worse),
			Delta:  one.perHour(digits.Signed(one.slope, places)),
			Values: "average " + withUnit(digits.Rough(one.level), strings.TrimSuffix(one.unit, "/h")), Interval: digits.Interval(one.low, one.high, places),
			Text: one.text() + r.whereText(one.under, one.arm) + ".",
		})
	}
	return figures
}

// hero is the course of the largest growth, or of the first response time.
func (s *soak) hero(r *Record) *document.Chart {
	for _, one := range s.growths {
		if made, drawn := one.chart(r); drawn {
			made.Name = "hero"
			return &made
		}
	}
	for _, under := range r.scenarios {
		for _, subject := range timedTransactions(r, under) {
			if made, drawn := timeline(r, under, subject); drawn {
				made.Name = "hero"
				return &made
			}
		}
	}
	return nil
}

func (g soakGrowth) chart(r *Record) (document.Chart, bool) {
	if metric.Parse(g.course).IsServer() {
		return course(r, g.under, g.course)
	}
	return timeline(r, g.under, g.course)
}

// singleRun reports that a growth within one run may not hold for others.
func singleRun(r *Record) []string {
	found := newSoak(r)
	if found == nil || !found.knowsGrowth || len(r.CountedRuns()) > 1 {
		return nil
	}
	return []string{"Growth is from 1 run: its interval does not cover the variation between runs."}
}

// aloneSentence is the answer of an experiment with one arm and short loads: the values of the
// deciding metrics.
func aloneSentence(r *Record) string {
	var figures []string
	for _, under := range r.scenarios {
		for _, subject := range primaryMetrics(r, under) {
			if found := under.at(subject, r.answer.Baseline); found != nil {
				m := metric.Parse(subject)
				phrase := m.Phrase()
				if len(r.scenarios) > 1 {
					phrase = m.Under(under.Name)
				}
				figures = append(figures, phrase+" "+found.textWithUnit())
			}
		}
	}
	figures = prose.AtMost(figures, maxFigures, "")
	if len(figures) == 0 {
		return fmt.Sprintf("%s was measured; it is the only arm.", r.answer.Baseline)
	}
	return fmt.Sprintf("%s (only arm): %s.", r.answer.Baseline, joinAnd(figures))
}
