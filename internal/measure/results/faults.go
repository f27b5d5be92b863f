// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

// SetDisturbed ends the measured time without a window at the begin of the first fault.
func SetDisturbed(measured map[string]Measured, faults []v1alpha1.RunFault) {
	for name, own := range measured {
		for _, fault := range faults {
			if fault.Begin != nil && (own.Disturbed.IsZero() || fault.Begin.Time.Before(own.Disturbed)) {
				own.Disturbed = fault.Begin.Time
			}
		}
		measured[name] = own
	}
}

// CheckFaults returns the fault of a run whose declared faults did not happen while the loads ran,
// or nil.
func CheckFaults(scenario *v1alpha1.Scenario, statuses []v1alpha1.RunFault, measured map[string]Measured) *Fault {
	run := v1alpha1.PerfRunStatus{Faults: statuses}
	for _, declared := range scenario.Faults {
		status := run.Fault(declared.Name)
		if status == nil || status.Begin == nil || status.End == nil {
			return kind.Faultf(v1alpha1.ReasonFaultNotInjected, "the loads ended before fault %q began: lengthen them, or lower the fault's after", declared.Name)
		}
		for _, load := range scenario.Loads {
			own := measured[load.Name]
			if missing := status.End.Sub(own.End); own.isOn(status.Begin.Time) && !kinds.IsBatch(load) && missing > 0 {
				return kind.Faultf(v1alpha1.ReasonFaultNotInjected, "load %q ended %s before the observation of fault %q: lengthen the load, or shorten the fault's observe",
					load.Name, prose.Duration(missing.Round(100*time.Millisecond)), declared.Name)
			}
		}
	}
	return nil
}

// ObserveFaults returns the cost of faults for each load of a scenario that is not a batch, and
// sentences about unknown costs. The reference is the time from the load's warm-up to the first
// fault.
func ObserveFaults(scenario *v1alpha1.Scenario, measured map[string]Measured, measurement v1alpha1.Measurement, faults []v1alpha1.RunFault) (observations []v1alpha1.Observation, sentences []string) {
	for _, load := range scenario.Loads {
		own := measured[load.Name]
		if kinds.IsBatch(load) || own.Histograms == nil {
			continue
		}
		for _, fault := range faults {
			if fault.Begin == nil || fault.End == nil || !own.isOn(fault.Begin.Time) {
				continue
			}
			objective := scenario.Objective(fault.Name)
			normal := newNormal(load, measured, measurement, objective)
			if normal.rate == 0 {
				sentences = append(sentences, fmt.Sprintf("load %q: no transaction succeeded%s before fault %q, so its cost is unknown", load.Name, withinText(objective), fault.Name))
				continue
			}
			after := afterFault(own.Histograms, fault)
			cost, sentence := normal.cost(load.Name, own.Histograms, after)
			if sentence != "" {
				sentences = append(sentences, fmt.Sprintf("load %q, fault %q: %s", load.Name, fault.Name, sentence))
			}
			for i := range cost {
				cost[i].Metric = metric.In(cost[i].Metric, after.Name)
			}
			observations = append(append(observations, cost...), observeTransactions(load.Name, own.Histograms, after)...)
		}
	}
	return observations, sentences
}

// withinText is empty without an objective.
func withinText(objective time.Duration) string {
	if objective == 0 {
		return ""
	}
	return fmt.Sprintf(" within its objective of %s", prose.Duration(objective))
}

// Recovery is the rate of successful transactions, within the fault's objective, at a time after the
// fault.
type Recovery struct {
	// After is the time since the fault's begin.
	After time.Duration
	// Percent of the undisturbed rate.
	Percent float64
}

// mostRecoveries limits the points of ObserveRecovery.
const mostRecoveries = 120

// ObserveRecovery returns the rates of a load's successful transactions from a fault's begin to the
// end of its observation; none without an undisturbed rate.
func ObserveRecovery(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, objective time.Duration, fault v1alpha1.RunFault) []Recovery {
	own := measured[load.Name]
	if own.Histograms == nil || fault.Begin == nil || fault.End == nil {
		return nil
	}
	normal, window := newNormal(load, measured, measurement, objective), afterFault(own.Histograms, fault)
	if normal.rate == 0 {
		return nil
	}
	width := time.Duration(own.Histograms.BucketSeconds) * time.Second
	for window.To.Sub(window.From) > mostRecoveries*width {
		width *= 2
	}
	var points []Recovery
	for from := window.From; !from.Add(width).After(window.To); from = from.Add(width) {
		done := normal.count(own.Histograms.Between(from, from.Add(width))).done
		points = append(points, Recovery{After: from.Add(width / 2).Sub(window.From), Percent: 100 * float64(done) / (normal.rate * width.Seconds())})
	}
	return points
}

// afterFault is the window of a fault, from the start of the time bucket in which it began.
func afterFault(p *payload.Payload, fault v1alpha1.RunFault) Window {
	width := int64(p.BucketSeconds)
	from := time.Unix(fault.Begin.Unix()/width*width, 0)
	return Window{Name: metric.AfterFault(fault.Name), From: later(from, p.Start), To: fault.End.Time}
}

// normal is the undisturbed behavior of a load.
type normal struct {
	// objective is the longest response time of a transaction that counts as done; 0: any.
	objective time.Duration
	// rate of transactions that are done, per second.
	rate float64
	// errors is the share of transactions that fail.
	errors float64
	// mean response time of successful transactions, in seconds, by transaction.
	mean map[string]float64
}

// newNormal summarizes a load's time from its warm-up to the first fault.
func newNormal(load v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement, objective time.Duration) normal {
	before := steady(load, measured, measurement)
	p := measured[load.Name].Histograms.Between(before.From, before.To)
	found := normal{objective: objective, mean: map[string]float64{}}
	counts := found.count(p)
	if seconds := p.End.Sub(p.Start).Seconds(); seconds > 0 {
		found.rate = float64(counts.done) / seconds
	}
	if all := counts.all(); all > 0 {
		found.errors = float64(counts.failed) / float64(all)
	}
	for _, transaction := range topTransactions(p) {
		if summary, any := p.Summary(transaction, payload.OK); any {
			found.mean[transaction] = summary.Mean.Seconds()
		}
	}
	return found
}

// topTransactions are those that are not within others.
func topTransactions(p *payload.Payload) []string {
	return slices.DeleteFunc(p.Transactions(), func(transaction string) bool { return !isTop(transaction) })
}

func isTop(transaction string) bool {
	path, _ := label.Cut(transaction)
	return len(path) == 1
}

// outcomes are numbers of transactions that are not within others.
type outcomes struct {
	// done: successful within the objective; slow: successful after it.
	done, slow, failed int64
}

func (o outcomes) all() int64 { return o.done + o.slow + o.failed }

func (n normal) count(p *payload.Payload) (counts outcomes) {
	for _, series := range p.Series {
		if series.Request != "" || !isTop(series.Transaction) {
			continue
		}
		for _, bucket := range series.Buckets {
			if series.Outcome != payload.OK {
				counts.failed += bucket.Count
				continue
			}
			done := n.within(bucket)
			counts.done += done
			counts.slow += bucket.Count - done
		}
	}
	return counts
}

// within returns the number of durations that meet the objective.
func (n normal) within(bucket payload.Bucket) (count int64) {
	if n.objective == 0 || bucket.Max <= n.objective {
		return bucket.Count
	}
	for took, some := range bucket.Histogram.All() {
		if took <= n.objective {
			count += int64(some)
		}
	}
	return count
}

// cost returns the difference between a load in a window and the undisturbed load, and a sentence
// about the recovery time if it is not known exactly.
func (n normal) cost(load string, all *payload.Payload, window Window) ([]v1alpha1.Observation, string) {
	part := all.Between(window.From, window.To)
	seconds := part.End.Sub(part.Start).Seconds()
	counts := n.count(part)
	var excess float64
	for _, transaction := range topTransactions(part) {
		if summary, any := part.Summary(transaction, payload.OK); any && n.mean[transaction] > 0 {
			excess += float64(summary.Count) * (summary.Mean.Seconds() - n.mean[transaction])
		}
	}
	observations := []v1alpha1.Observation{
		observation.New(load, metric.LostTime, seconds-float64(counts.done)/n.rate, counts.all()),
		observation.New(load, metric.ExcessErrors, float64(counts.failed)-n.errors*float64(counts.all()), counts.all()),
		observation.New(load, metric.ExcessTime, excess, counts.done+counts.slow),
	}
	outage, sentence := n.outages(all, part.Start, part.End)
	if !math.IsNaN(outage.start) {
		observations = append(observations, observation.New(load, metric.OutageStart, outage.start, counts.all()))
	}
	if !math.IsNaN(outage.end) {
		observations = append(observations, observation.New(load, metric.RecoveryTime, outage.end, counts.all()))
	}
	return observations, sentence
}

const (
	// slotCount is the minimum number of expected successes in a slot: in a Poisson process, fewer
	// than half of them occur by chance once in ten thousand slots.
	slotCount = 50
	// fewestSlots of a window; with fewer, a recovery time would be too coarse.
	fewestSlots = 4
	// outageShare of the undisturbed successes, below which there is an outage.
	outageShare = 0.5
	// outageErrors is the share of transactions that fail in an outage, beyond the undisturbed one.
	outageErrors = 0.1
)

// outageTimes are in seconds since a fault's begin: to the begin of the first slot with an outage, NaN
// if there is none, and to the end of the last one, 0 if there is none.
type outageTimes struct{ start, end float64 }

// outages returns the outages in a window; NaN if the load is too small for it. An outage at the
// window's end has lasted for at least that long.
func (n normal) outages(all *payload.Payload, from, to time.Time) (outageTimes, string) {
	width := time.Duration(all.BucketSeconds) * time.Second
	slot := width * time.Duration(max(1, math.Ceil(slotCount/(n.rate*width.Seconds()))))
	slots := int(to.Sub(from) / slot)
	if slots < fewestSlots {
		return outageTimes{math.NaN(), math.NaN()}, fmt.Sprintf("with %.2g transactions a second the recovery time is unknown: raise the load, or the fault's observe to %s", n.rate, prose.Duration(fewestSlots*slot))
	}
	found, recovered := outageTimes{start: math.NaN()}, 0
	for i := range slots {
		begin := from.Add(time.Duration(i) * slot)
		counts := n.count(all.Between(begin, begin.Add(slot)))
		isMissing := float64(counts.done) < outageShare*n.rate*slot.Seconds()
		isFailing := float64(counts.failed) > (n.errors+outageErrors)*float64(counts.all())
		if !isMissing && !isFailing {
			continue
		}
		if recovered = i + 1; math.IsNaN(found.start) {
			found.start = float64(i) * slot.Seconds()
		}
	}
	found.end = float64(recovered) * slot.Seconds()
	if recovered == slots {
		return found, "it had not recovered at the end of the observation, so its recovery time is longer: raise the fault's observe"
	}
	return found, ""
}
