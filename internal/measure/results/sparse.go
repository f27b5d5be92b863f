// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// minCovered is the share of a window that the points of a quantity with a reach must cover. The
// rest may differ.
const minCovered = 0.5

// maxReach limits the value in a log.
const maxReach = 24 * 60 * 60

func sampleReach(series []payload.SampleSeries) time.Duration {
	var longest float64
	for _, one := range series {
		longest = min(max(longest, one.Reach), maxReach)
	}
	return time.Duration(longest * float64(time.Second))
}

// within returns the quantity's points in a window. A point whose value may cover time before the
// window is omitted. At least two points of different periods must cover half of the window: fewer
// would represent all of it.
func (q quantity) within(window Window) payload.Points {
	if q.reach == 0 {
		return within(q.points, window)
	}
	points := within(q.points, Window{From: window.From.Add(q.reach), To: window.To})
	if len(points) < 2 {
		return nil
	}
	span := length(points)
	if span < q.reach || (span+q.reach).Seconds() < minCovered*window.To.Sub(window.From).Seconds() {
		return nil
	}
	return points
}

// Sparse describes, in one sentence for each server, metrics that were sampled too rarely or
// too late for the window.
func Sparse(samples *payload.Samples, window Window) []string {
	missed, shortest := map[string]int{}, map[string]time.Duration{}
	for _, quantity := range quantities(samples) {
		if quantity.reach == 0 || len(quantity.within(window)) > 0 {
			continue
		}
		m := metric.Parse(quantity.name)
		server := metric.Name(m.Component, m.Of)
		missed[server]++
		shortest[server] = max(shortest[server], 2*quantity.reach)
	}
	var sentences []string
	for _, server := range slices.Sorted(maps.Keys(missed)) {
		sentences = append(sentences, fmt.Sprintf("%s of %s %s too few values in the measured window: the window must be at least %d minutes long, and half of its values available at its end",
			prose.Counted(missed[server], "figure"), server, prose.Verb(missed[server], "has", "have"), int(math.Ceil(shortest[server].Minutes()))))
	}
	return sentences
}
