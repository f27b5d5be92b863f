// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// Fault says why what was measured does not count.
type Fault = kind.Fault

// Check says whether a load's results count; nil when they do.
func Check(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, validity v1alpha1.Validity) *Fault {
	own := measured[load.Name]
	if own.Summary != nil {
		return checkSummary(load.Name, own.Summary, validity)
	}
	if !own.Histograms.Final {
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q ended before it could print its results; only a checkpoint is left", load.Name)
	}
	if kinds.IsBatch(load) {
		return kinds.ForLoad(load).Check(own.Histograms, validity)
	}
	if fault := checkGenerator(load.Name, own); fault != nil {
		return fault
	}
	window := Whole(load, measured, measurement)
	return checkCounted(load, own.Histograms.Between(window.From, window.To), validity)
}

// checkCounted checks the part of a load that counts.
func checkCounted(load v1alpha1.Load, part *payload.Payload, validity v1alpha1.Validity) *Fault {
	loadKind := kinds.ForLoad(load)
	if loadKind.JudgesRequests() {
		if fault := checkRequests(load.Name, tallyOf(part), validity); fault != nil {
			return fault
		}
	}
	if fault := loadKind.Check(part, validity); fault != nil {
		return fault
	}
	return checkTransactions(load.Name, part, validity)
}

func checkTransactions(load string, p *payload.Payload, validity v1alpha1.Validity) *Fault {
	var all, failed int64
	for _, transaction := range p.Transactions() {
		total, _ := p.Summary(transaction, "")
		errors, _ := p.Summary(transaction, payload.Error)
		all += total.Count
		failed += errors.Count
	}
	if all == 0 {
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q did not finish a single transaction in its window; make it longer or the warm-up shorter", load)
	}
	return checkErrors(load, failed, all, validity)
}

func checkSummary(load string, summary *Summary, validity v1alpha1.Validity) *Fault {
	if summary.Counts[metricIterations] == 0 {
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q did not finish a single iteration", load)
	}
	if fault := checkDropped(load, summary.Counts[metricDroppedIterations]); fault != nil {
		return fault
	}
	return checkRequests(load, summary.tally(), validity)
}

func checkErrors(load string, failed, all int64, validity v1alpha1.Validity) *Fault {
	limit := validity.MaxErrorPercentOrDefault()
	if share := percent(float64(failed), float64(all)); share > float64(limit) {
		return kind.Faultf(v1alpha1.ReasonTooManyErrors, "load %q: %d of %d transactions failed (%s %%), more than the %d %% that validity.maxErrorPercent allows",
			load, failed, all, decimal.Format(share), limit)
	}
	return nil
}

// checkGenerator says whether the load that was meant was put on. Where it was
// not, response times look better than they are.
func checkGenerator(load string, own Measured) *Fault {
	if fault := checkDropped(load, own.Histograms.Total(metricDroppedIterations)); fault != nil {
		return fault
	}
	if own.GeneratorPercent > maxGeneratorCPU {
		return kind.Faultf(v1alpha1.ReasonGeneratorSaturated, "load %q: k6 used %s %% of its CPUs, above %d %%, so its times are its own as much as the system's; give it more runners or CPUs",
			load, decimal.Format(math.Round(own.GeneratorPercent)), maxGeneratorCPU)
	}
	return nil
}

const (
	// maxGeneratorCPU is the share, in percent of its CPUs, that a load
	// generator may use on average.
	maxGeneratorCPU = 80
	// maxServerCPU is the share of a database's or a broker's CPU above which
	// it is called saturated.
	maxServerCPU = 90
	// maxGap is how many intervals the collector may be silent.
	maxGap = 3
)

// CheckGap says whether the servers were sampled all the time of the window, whose longest
// gap it is, or as much of it as has to be. A source that gave nothing, while others did,
// is a warning: not every cluster has them all.
func CheckGap(gap Gap, silences []Window, window Window, validity v1alpha1.Validity) (fault *Fault, warning string) {
	switch {
	case gap.Intervals() <= maxGap:
		return nil, ""
	case gap.Source != SilentCollector:
		return nil, fmt.Sprintf("%s sent nothing about the servers for %s", gap.Source, gap.Length.Round(time.Second))
	}
	silent, allowed := lengthOf(silences), validity.MaxGapPercentOrDefault()
	share := percent(silent.Seconds(), window.To.Sub(window.From).Seconds())
	switch {
	case allowed == 0:
		return kind.Faultf(v1alpha1.ReasonCollectorGap, "the servers were not sampled for %s, more than %d intervals of %s: see the collector's log, or its node's load",
			gap.Length.Round(time.Second), maxGap, gap.Interval), ""
	case share > float64(allowed):
		return kind.Faultf(v1alpha1.ReasonCollectorGap, "the servers were not sampled for %s in all, %s %% of the time that counts and more than the %d %% that validity.maxGapPercent allows: see the collector's log, or its node's load",
			silent.Round(time.Second), decimal.Format(share), allowed), ""
	default:
		return nil, fmt.Sprintf("the servers were not sampled for %s in all, in %s (%.2g %% of the time that counts): what they used then is in no average",
			silent.Round(time.Second), prose.Counted(len(silences), "gap"), share)
	}
}

// lengthOf stretches that do not overlap.
func lengthOf(stretches []Window) time.Duration {
	var sum time.Duration
	for _, one := range stretches {
		sum += one.To.Sub(one.From)
	}
	return sum
}

// Warnings are what a run's observations say of servers that were at their
// limits, one sentence each.
func Warnings(observations []v1alpha1.Observation) []string {
	var whole []v1alpha1.Observation
	for _, observation := range observations {
		if _, window := metric.CutWindow(observation.Metric); window == "" {
			whole = append(whole, observation)
		}
	}
	sentences := failedImports(whole)
	for _, sentence := range Saturated(whole, maxServerCPU) {
		sentences = append(sentences, sentence+": response times tell of a system at its limit")
	}
	return sentences
}

// failedImports are sentences on those that did not make the run invalid.
func failedImports(observations []v1alpha1.Observation) []string {
	var sentences []string
	for _, observation := range observations {
		load, isCount := strings.CutSuffix(observation.Metric, "/"+metric.FailedImports)
		if failed, err := strconv.Atoi(observation.Value); isCount && err == nil && failed > 0 {
			sentences = append(sentences, fmt.Sprintf("load %q: %s failed and count in no duration; what was on beside them is not like what is on beside one that works",
				load, prose.Counted(failed, "import")))
		}
	}
	return sentences
}

func checkDropped(load string, dropped float64) *Fault {
	if dropped == 0 {
		return nil
	}
	return kind.Faultf(v1alpha1.ReasonLoadNotHeld, "load %q: k6 dropped %s iterations, so less load was put on than was meant; give it more users (maxVUs) or more runners",
		load, decimal.Format(dropped))
}

// skewAllowed is how far the clocks of a load's node and the operator's may be
// apart, beside what the order of events allows.
const skewAllowed = 5 * time.Second

// CheckClock says whether a load's times fit those of the operator, between
// which it must have been on: created, then seen to have ended.
func CheckClock(load string, own Measured, created, ended time.Time) *Fault {
	switch {
	case own.End.Before(own.Start):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q ended %s before it started: the clock of its node jumped", load, own.Start.Sub(own.End))
	case own.Start.Before(created.Add(-skewAllowed)):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q says it started %s before it was made: the clocks of its node and of the operator's differ; synchronise them", load, created.Sub(own.Start))
	case own.End.After(ended.Add(skewAllowed)):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q says it ended %s after it was seen to have ended: the clocks of its node and of the operator's differ; synchronise them", load, own.End.Sub(ended))
	default:
		return nil
	}
}
