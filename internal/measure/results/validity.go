// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
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

// Fault is the reason why a measurement is invalid.
type Fault = kind.Fault

// Check returns the fault of a load's results, or nil.
func Check(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, validity v1alpha1.Validity) *Fault {
	own := measured[load.Name]
	if own.Summary != nil {
		return checkSummary(load.Name, own.Summary, validity)
	}
	if fault := checkFinal(load.Name, own); fault != nil {
		return fault
	}
	if kinds.IsBatch(load) {
		if !own.Disturbed.IsZero() && own.End.After(own.Disturbed) {
			// What a fault makes fail is a result.
			return nil
		}
		return kinds.ForLoad(load).Check(own.Histograms, validity)
	}
	if fault := checkGenerator(load.Name, own); fault != nil {
		return fault
	}
	window := Whole(load, measured, measurement)
	return checkCounted(load, own.Histograms.Between(window.From, window.To), validity)
}

func checkFinal(load string, own Measured) *Fault {
	if own.Histograms.Final {
		return nil
	}
	return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q ended before it could print its results; only a checkpoint is left", load)
}

// CheckComplete returns the fault of the results of a load in a scenario with a capacity, or nil.
// Failed and dropped iterations are results there.
func CheckComplete(load v1alpha1.Load, own Measured) *Fault {
	if own.Histograms == nil {
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q has no histograms, which capacity needs: set script.results to Histograms", load.Name)
	}
	return cmp.Or(checkFinal(load.Name, own), checkGeneratorCPU(load.Name, own))
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
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q finished no transaction in its window; lengthen the load or shorten the warm-up", load)
	}
	return checkErrors(load, failed, all, validity)
}

func checkSummary(load string, summary *Summary, validity v1alpha1.Validity) *Fault {
	if summary.Counts[metricIterations] == 0 {
		return kind.Faultf(v1alpha1.ReasonResultsMissing, "load %q finished no iteration", load)
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

// checkGenerator checks that the intended load was generated. Otherwise response times look better
// than they are.
func checkGenerator(load string, own Measured) *Fault {
	held := own.Histograms
	if !own.Disturbed.IsZero() {
		// A fault may block all users.
		held = held.Between(own.Start, own.Disturbed)
	}
	if fault := checkDropped(load, held.Total(metricDroppedIterations)); fault != nil {
		return fault
	}
	return checkGeneratorCPU(load, own)
}

func checkGeneratorCPU(load string, own Measured) *Fault {
	if own.GeneratorPercent > maxGeneratorCPU {
		return kind.Faultf(v1alpha1.ReasonGeneratorSaturated, "load %q: k6 used %s %% of its CPUs, more than %d %%, so its times include its own delays; add runners or CPUs",
			load, decimal.Format(math.Round(own.GeneratorPercent)), maxGeneratorCPU)
	}
	return nil
}

const (
	// maxGeneratorCPU is the average share of its CPUs, in percent, that a load generator may use.
	maxGeneratorCPU = 80
	// maxServerCPU is the CPU use, in percent, above which a database or a broker is saturated.
	maxServerCPU = 90
	// maxGap is the number of intervals that the collector may be silent.
	maxGap = 3
)

// CheckGap checks that the servers were sampled throughout the window, given its longest gap, or in
// as much of it as required. A failed source among others is a warning: not every cluster has all
// sources.
func CheckGap(gap Gap, silences []Window, window Window, validity v1alpha1.Validity) (fault *Fault, warning string) {
	switch {
	case gap.Intervals() <= maxGap:
		return nil, ""
	case gap.Source != SilentCollectorReason:
		return nil, fmt.Sprintf("%s provided no values of the servers for %s", gap.Source, gap.Length.Round(time.Second))
	}
	silent, allowed := totalLength(silences), validity.MaxGapPercentOrDefault()
	share := percent(silent.Seconds(), window.To.Sub(window.From).Seconds())
	switch {
	case allowed == 0:
		return kind.Faultf(v1alpha1.ReasonCollectorGap, "the servers were not sampled for %s, more than %d intervals of %s: see the collector's log, or its node's load",
			gap.Length.Round(time.Second), maxGap, gap.Interval), ""
	case share > float64(allowed):
		return kind.Faultf(v1alpha1.ReasonCollectorGap, "the servers were not sampled for %s in all, %s %% of the measured time and more than the %d %% that validity.maxGapPercent allows: see the collector's log, or its node's load",
			silent.Round(time.Second), decimal.Format(share), allowed), ""
	default:
		return nil, fmt.Sprintf("the servers were not sampled for %s in all, in %s (%.2g %% of the measured time): averages omit this time",
			silent.Round(time.Second), prose.Counted(len(silences), "gap"), share)
	}
}

// totalLength adds up periods that do not overlap.
func totalLength(stretches []Window) time.Duration {
	var sum time.Duration
	for _, one := range stretches {
		sum += one.To.Sub(one.From)
	}
	return sum
}

// Warnings describe servers at their limits, in one sentence each.
func Warnings(observations []v1alpha1.Observation) []string {
	var whole []v1alpha1.Observation
	for _, observation := range observations {
		if _, window := metric.CutWindow(observation.Metric); window == "" {
			whole = append(whole, observation)
		}
	}
	sentences := failedImports(whole)
	for _, sentence := range Saturated(whole, maxServerCPU) {
		sentences = append(sentences, sentence+": response times are those of a system at its limit")
	}
	return sentences
}

// failedImports describes failed imports that did not make the run invalid.
func failedImports(observations []v1alpha1.Observation) []string {
	var sentences []string
	for _, observation := range observations {
		load, isCount := strings.CutSuffix(observation.Metric, "/"+metric.FailedImports)
		if failed, err := strconv.Atoi(observation.Value); isCount && err == nil && failed > 0 {
			sentences = append(sentences, fmt.Sprintf("load %q: %s failed and %s excluded from all durations; loads that ran alongside are not comparable with loads alongside a successful import",
				load, prose.Counted(failed, "import"), prose.Verb(failed, "is", "are")))
		}
	}
	return sentences
}

func checkDropped(load string, dropped float64) *Fault {
	if dropped == 0 {
		return nil
	}
	return kind.Faultf(v1alpha1.ReasonLoadNotHeld, "load %q: k6 dropped %s iterations, so the load was lower than declared; add users (maxVUs) or runners",
		load, decimal.Format(dropped))
}

// metricLateIterations of PerfLab's scripts with open loads.
const metricLateIterations = "perflab_late_iterations"

// LateIterations describes open loads whose users were too busy to begin on time, in one sentence
// each.
func LateIterations(loads []v1alpha1.Load, measured map[string]Measured) []string {
	var sentences []string
	for _, load := range loads {
		own := measured[load.Name].Histograms
		if own == nil {
			continue
		}
		const few = 1
		if share := percent(own.Total(metricLateIterations), own.Total(metricIterations)); share > few {
			sentences = append(sentences, fmt.Sprintf(
				"load %q: %s %% of the transactions started late, because all users were busy; response times are measured from the intended start, so they include the wait; if the system was not slow, raise users",
				load.Name, decimal.Format(math.Round(share))))
		}
	}
	return sentences
}

// skewAllowed is the allowed difference between the clocks of a load's node and the operator,
// beyond what the order of events allows.
const skewAllowed = 5 * time.Second

const clocksDiffer = "the clocks of its node and of the operator's node differ; synchronize them"

// CheckClock checks that a load's times fit those of the operator: it was created before and
// observed to end after.
func CheckClock(load string, own Measured, created, ended time.Time) *Fault {
	switch {
	case own.End.Before(own.Start):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q ended %s before it started: the clock of its node jumped", load, own.Start.Sub(own.End))
	case own.Start.Before(created.Add(-skewAllowed)):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q reports that it started at %s, but it was created at %s: %s", load, stamp(own.Start), stamp(created), clocksDiffer)
	case own.End.After(ended.Add(skewAllowed)):
		return kind.Faultf(v1alpha1.ReasonClockSkew, "load %q reports that it ended at %s, but it had ended by %s: %s", load, stamp(own.End), stamp(ended), clocksDiffer)
	default:
		return nil
	}
}

// stamp formats a time; the difference of two times is no clue when one of them is centuries off.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
