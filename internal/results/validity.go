// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/payload"
)

// Fault says why a load's results do not count.
type Fault struct {
	Reason  string
	Message string
}

// Check says whether a load's results count; nil when they do.
func Check(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, validity v1alpha1.Validity) *Fault {
	if summary := measured[load.Name].Summary; summary != nil {
		return checkSummary(load.Name, summary, validity)
	}
	own := measured[load.Name].Histograms
	if !own.Final {
		return &Fault{v1alpha1.ReasonResultsMissing, fmt.Sprintf("load %q ended before it could print its results; only a checkpoint is left", load.Name)}
	}
	if load.DataImport != nil {
		return checkImport(load, own)
	}
	if fault := checkGenerator(load.Name, measured[load.Name]); fault != nil {
		return fault
	}
	window := Whole(load, measured, measurement)
	part := own.Between(window.From, window.To)
	if load.Script != nil {
		if fault := checkScript(load.Name, tallyOf(part), validity); fault != nil {
			return fault
		}
	}
	return checkTransactions(load, part, validity)
}

func checkImport(load v1alpha1.Load, p *payload.Payload) *Fault {
	imports, failed := p.Total(counterImports), p.Total(counterImportsFailed)
	if children := p.Total(counterChildJobsFailed); children > 0 {
		return &Fault{v1alpha1.ReasonImportIncomplete, fmt.Sprintf("load %q: %d of %s of split files failed or ended cancelled",
			load.Name, int(children), prose.Counted(int(p.Total(counterChildJobs)), "job"))}
	}
	if failed > 0 || imports != float64(load.DataImport.Imports) {
		return &Fault{v1alpha1.ReasonImportIncomplete, fmt.Sprintf("load %q: %d of %s ended, %d failed",
			load.Name, int(imports), prose.Counted(load.DataImport.Imports, "import"), int(failed))}
	}
	wanted := float64(load.DataImport.Imports) * float64(load.DataImport.Records)
	records, lost := p.Total(counterRecords), p.Total(counterRecordsFailed)
	if lost > 0 || records != wanted {
		return &Fault{v1alpha1.ReasonImportIncomplete, fmt.Sprintf("load %q: %d of %s got in, %d failed",
			load.Name, int(records), prose.Counted(int(wanted), "record"), int(lost))}
	}
	return nil
}

func checkTransactions(load v1alpha1.Load, p *payload.Payload, validity v1alpha1.Validity) *Fault {
	var all, failed int64
	for _, transaction := range p.Transactions() {
		total, _ := p.Summary(transaction, "")
		errors, _ := p.Summary(transaction, outcomeError)
		all += total.Count
		failed += errors.Count
	}
	if all == 0 {
		return &Fault{v1alpha1.ReasonResultsMissing, withoutTransactions(load, tallyOf(p).Requests.Count)}
	}
	return checkErrors(load.Name, failed, all, validity)
}

// withoutTransactions tells a load that was too short from a script whose
// requests belong to none.
func withoutTransactions(load v1alpha1.Load, requests int64) string {
	if load.Script == nil || requests == 0 {
		return fmt.Sprintf("load %q did not finish a single transaction in its window; make it longer or the warm-up shorter", load.Name)
	}
	return fmt.Sprintf("load %q made %s in its window, and none of them belongs to a transaction: put them into k6 groups, or take a tag that they have for one, for example script.transactions {by: Tag, tag: name}",
		load.Name, prose.Counted(requests, "request"))
}

func checkSummary(load string, summary *Summary, validity v1alpha1.Validity) *Fault {
	if summary.Counts[metricIterations] == 0 {
		return &Fault{v1alpha1.ReasonResultsMissing, fmt.Sprintf("load %q did not finish a single iteration", load)}
	}
	if fault := checkDropped(load, summary.Counts[metricDroppedIterations]); fault != nil {
		return fault
	}
	return checkScript(load, summary.tally(), validity)
}

func checkErrors(load string, failed, all int64, validity v1alpha1.Validity) *Fault {
	limit := validity.MaxErrorPercentOrDefault()
	if share := percent(float64(failed), float64(all)); share > float64(limit) {
		return &Fault{v1alpha1.ReasonTooManyErrors, fmt.Sprintf("load %q: %d of %d transactions failed (%s %%), more than the %d %% that validity.maxErrorPercent allows",
			load, failed, all, decimal.Format(share), limit)}
	}
	return nil
}

// checkGenerator says whether the load that was meant was put on. Where it was
// not, response times look better than they are.
func checkGenerator(load string, own Measured) *Fault {
	if fault := checkDropped(load, own.Histograms.Total(metricDroppedIterations)); fault != nil {
		return fault
	}
	if own.GeneratorPercent > mostGeneratorCPU {
		return &Fault{v1alpha1.ReasonGeneratorSaturated, fmt.Sprintf("load %q: k6 used %s %% of its CPUs, above %d %%, so its times are its own as much as the system's; give it more runners or CPUs",
			load, decimal.Format(math.Round(own.GeneratorPercent)), mostGeneratorCPU)}
	}
	return nil
}

const (
	// mostGeneratorCPU is the share, in percent of its CPUs, that a load
	// generator may use on average.
	mostGeneratorCPU = 80
	// mostServerCPU is the share of a database's or a broker's CPU above which
	// it is told to be saturated.
	mostServerCPU = 90
	// mostGap is how many intervals the collector may be silent.
	mostGap = 3
)

// CheckGap says whether the servers were sampled all the time. A source that
// told nothing, while others did, is a warning: not every cluster has them all.
func CheckGap(gap Gap) (fault *Fault, warning string) {
	if gap.Intervals() <= mostGap {
		return nil, ""
	}
	if gap.Source == SilentCollector {
		return &Fault{v1alpha1.ReasonCollectorGap, fmt.Sprintf("the servers were not sampled for %s, more than %d intervals of %s: see the collector's log, or its node's load",
			gap.Length.Round(time.Second), mostGap, gap.Interval)}, ""
	}
	return nil, fmt.Sprintf("%s told nothing of the servers for %s", gap.Source, gap.Length.Round(time.Second))
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
	var sentences []string
	for _, sentence := range Saturated(whole, mostServerCPU) {
		sentences = append(sentences, sentence+": response times tell of a system at its limit")
	}
	return sentences
}

func checkDropped(load string, dropped float64) *Fault {
	if dropped == 0 {
		return nil
	}
	return &Fault{v1alpha1.ReasonLoadNotHeld, fmt.Sprintf("load %q: k6 dropped %s iterations, so less load was put on than was meant; give it more users (maxVUs) or more runners",
		load, decimal.Format(dropped))}
}

// skewAllowed is how far the clocks of a load's node and the operator's may be
// apart, beside what the order of events allows.
const skewAllowed = 5 * time.Second

// CheckClock says whether a load's times fit those of the operator, between
// which it must have been on: made, then seen to have ended.
func CheckClock(load string, own Measured, made, ended time.Time) *Fault {
	switch {
	case own.End.Before(own.Start):
		return &Fault{v1alpha1.ReasonClockSkew, fmt.Sprintf("load %q ended %s before it started: the clock of its node jumped", load, own.Start.Sub(own.End))}
	case own.Start.Before(made.Add(-skewAllowed)):
		return &Fault{v1alpha1.ReasonClockSkew, fmt.Sprintf("load %q says it started %s before it was made: the clocks of its node and of the operator's differ; synchronise them", load, made.Sub(own.Start))}
	case own.End.After(ended.Add(skewAllowed)):
		return &Fault{v1alpha1.ReasonClockSkew, fmt.Sprintf("load %q says it ended %s after it was seen to have ended: the clocks of its node and of the operator's differ; synchronise them", load, own.End.Sub(ended))}
	default:
		return nil
	}
}
