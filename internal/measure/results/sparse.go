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

// minCovered is how much of a window the points of a quantity with a reach have to tell
// of. The rest of it may have been otherwise.
const minCovered = 0.5

// maxReach bounds what a log may say.
const maxReach = 24 * 60 * 60

func reachOf(series []payload.SampleSeries) time.Duration {
	var longest float64
	for _, one := range series {
		longest = min(max(longest, one.Reach), maxReach)
	}
	return time.Duration(longest * float64(time.Second))
}

// within are the quantity's points of a window. Where a point's value may be of a time
// before the window it is none of it; and two that tell of different stretches are the
// least, over half of the window: fewer would be taken for all of it.
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

// Sparse says, one sentence for each server, that figures of it were taken too seldom, or
// came too late, to tell of the window.
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
		sentences = append(sentences, fmt.Sprintf("%s of %s %s too few values in the measured window: it must be at least %d minutes long, and half of it known by the end",
			prose.Counted(missed[server], "figure"), server, prose.Verb(missed[server], "has", "have"), int(math.Ceil(shortest[server].Minutes()))))
	}
	return sentences
}
