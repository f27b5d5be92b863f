// SPDX-License-Identifier: Apache-2.0

package section

import (
	"math"
	"slices"

	"perflab.dev/perflab/payload"
)

// levels of quantiles: even steps for the body, and logarithmic steps for the tail, as in
// HdrHistogram's plots.
var levels = quantileLevels()

func quantileLevels() []float64 {
	// These are in the tables.
	all := []float64{0.95, 0.99}
	for percent := 0.0; percent < 90; percent += 5 {
		all = append(all, percent/100)
	}
	for nines := 5; nines <= 20; nines++ {
		all = append(all, 1-math.Pow(10, -float64(nines)/5))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newQuantiles are the quantiles of a transaction's successful samples.
func newQuantiles(own *payload.Payload, transaction string) (quantiles, bool) {
	at, samples := own.Quantiles(transaction, payload.OK, levels...)
	found := quantiles{samples: samples}
	for _, duration := range at {
		found.at = append(found.at, milliseconds(duration))
	}
	return found, samples > 0
}

// supports reports whether there is a sample beyond a level.
func (q quantiles) supports(level float64) bool { return float64(q.samples)*(1-level) >= 1-1e-9 }
