// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

const (
	// maxSlices is the number of parts of the counted window; with fewer than minSlices of
	// sliceSamples transactions each, an apparent fall may be chance.
	maxSlices    = 20
	minSlices    = 8
	sliceSamples = 15
	// slowTimes is the ratio to the median response time of the last third from which a part is
	// still warming up.
	slowTimes = 1.25
	// warmPercent is the increase of the overall mean by the first parts, in percent, from which it
	// matters.
	warmPercent = 5
	// minSlow is the minimum number of transactions in a single slow part: fewer may be a pause.
	minSlow = 5
	// heldShare is the minimum ratio of the transactions of the last third to those of the first:
	// otherwise the load itself has fallen.
	heldShare = 0.8
)

// Warming is a load whose response times still fell after the warm-up.
type Warming struct {
	// WarmUp that the load needs.
	WarmUp time.Duration
	// Message describes it.
	Message string
}

// StillWarming finds the loads whose response times still fell after the warm-up. It ignores times
// when another load started, stopped or was a batch: response times fall there for other reasons.
func StillWarming(loads []v1alpha1.Load, measured map[string]Measured, measurement v1alpha1.Measurement) []Warming {
	var warming []Warming
	for _, load := range loads {
		own := measured[load.Name].Histograms
		if own == nil || kinds.IsBatch(load) {
			continue
		}
		window := undisturbed(load, loads, measured, Whole(load, measured, measurement))
		if window.empty() {
			continue
		}
		part := own.Between(window.From, window.To)
		found, any := longestFall(part)
		if !any {
			continue
		}
		needed := rounded(part.Start.Sub(measured[load.Name].Start) + found.lasts)
		warming = append(warming, Warming{needed, fmt.Sprintf("load %q: %s took %s ms on average in the first measured %s and %s ms afterwards: the system was still warming up; set measurement.warmUp to %s, and lengthen the load by the difference",
			load.Name, found.transaction, milliseconds(found.first), prose.Duration(found.lasts.Round(time.Second)), milliseconds(found.after), prose.Duration(needed))})
	}
	return warming
}

// undisturbed is the first part of a window, in which the other loads neither start nor end; empty
// during a batch.
func undisturbed(load v1alpha1.Load, loads []v1alpha1.Load, measured map[string]Measured, window Window) Window {
	for _, other := range loads {
		own, known := measured[other.Name]
		if !known || other.Name == load.Name {
			continue
		}
		if kinds.IsBatch(other) && !own.Start.After(window.From) && own.End.After(window.From) {
			return Window{}
		}
		for _, change := range []time.Time{own.Start, own.End} {
			if change.After(window.From) {
				window.To = earlier(window.To, change)
			}
		}
	}
	return window
}

// fall describes how a transaction's response times settled.
type fall struct {
	transaction string
	// lasts is the time until they settled.
	lasts time.Duration
	// first is the mean until then, after the mean after it.
	first, after time.Duration
}

// longestFall returns the fall of the transaction that took longest to settle.
func longestFall(p *payload.Payload) (fall, bool) {
	var longest fall
	for _, transaction := range p.Transactions() {
		if own, found := fallOf(p, transaction); found && own.lasts > longest.lasts {
			longest = own
		}
	}
	return longest, longest.lasts > 0
}

// fallOf reports whether the first parts of a transaction's time were markedly slower than the
// rest. Medians determine the parts, because a single pause does not affect them; means
// determine whether it matters.
func fallOf(p *payload.Payload, transaction string) (fall, bool) {
	all, _ := p.Summary(transaction, payload.OK)
	parts := cut(p, transaction, int(min(maxSlices, all.Count/sliceSamples)))
	if len(parts) < minSlices || !isHeld(parts) {
		return fall{}, false
	}
	slow := leadingSlow(parts)
	first, after := joined(parts[:slow]), joined(parts[slow:])
	isPause := slow == 1 && first.Count < minSlow
	if slow == 0 || isPause || float64(all.Mean) < float64(after.Mean)*(1+warmPercent/100.0) {
		return fall{}, false
	}
	return fall{transaction: transaction, lasts: parts[slow].from.Sub(p.Start), first: first.Mean, after: after.Mean}, true
}

// slice is a part of a transaction's time.
type slice struct {
	from time.Time
	payload.Summary
}

// cut returns about count parts of whole buckets.
func cut(p *payload.Payload, transaction string, count int) []slice {
	if count < minSlices {
		return nil
	}
	bucket := time.Duration(p.BucketSeconds) * time.Second
	buckets := float64(p.End.Sub(p.Start)) / float64(bucket)
	width := bucket * time.Duration(max(1, math.Ceil(buckets/float64(count))))
	seconds := p.Start.Unix() / int64(p.BucketSeconds) * int64(p.BucketSeconds)
	var parts []slice
	for from := time.Unix(seconds, 0); from.Before(p.End); from = from.Add(width) {
		own, _ := p.Between(from, from.Add(width)).Summary(transaction, payload.OK)
		parts = append(parts, slice{from: from, Summary: own})
	}
	return parts
}

// isHeld reports whether the load did not fall, which would lower response times as well.
func isHeld(parts []slice) bool {
	third := len(parts) / 3
	return float64(joined(parts[len(parts)-third:]).Count) >= heldShare*float64(joined(parts[:third]).Count)
}

// leadingSlow returns how many parts at the beginning are slower than the last third. A part
// without transactions is slow.
func leadingSlow(all []slice) int {
	var medians []time.Duration
	for _, one := range all[len(all)-len(all)/3:] {
		if one.Count > 0 {
			medians = append(medians, one.P50)
		}
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	settled := float64(medians[len(medians)/2])
	return slices.IndexFunc(all, func(one slice) bool {
		return one.Count > 0 && float64(one.P50) <= slowTimes*settled
	})
}

// joined returns the count and mean of several parts.
func joined(parts []slice) payload.Summary {
	var sum payload.Summary
	var took time.Duration
	for _, part := range parts {
		sum.Count += part.Count
		took += part.Mean * time.Duration(part.Count)
	}
	if sum.Count > 0 {
		sum.Mean = took / time.Duration(sum.Count)
	}
	return sum
}

// rounded rounds up to a common duration.
func rounded(d time.Duration) time.Duration {
	step := time.Minute
	switch {
	case d <= time.Minute:
		step = 10 * time.Second
	case d <= 10*time.Minute:
		step = 30 * time.Second
	}
	return (d + step - 1) / step * step
}

func milliseconds(d time.Duration) string {
	return decimal.Format(math.Round(float64(d) / float64(time.Millisecond)))
}
