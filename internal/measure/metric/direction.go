// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// rising are the statistics of loads, and the resources of servers, for which higher is better.
var rising = []string{
	RecordsPerSecond, RequestsPerSecond, TransactionsPerSecond, IterationsPerSecond,
	Samples, Records, Imports, Capacity, CacheHits, MemoryFree, StorageFree,
}

// HigherIsBetter reports the metric's direction. Custom metrics are better when higher if they
// are listed.
func (m Metric) HigherIsBetter(custom []string) bool { return m.risingPart(custom) != "" }

// Direction returns the direction of a metric with a unit. It is known for metrics of loads
// and servers, for custom metrics listed in higher or lower, and for units with only one
// direction.
func (m Metric) Direction(unit string, higher, lower []string) (rising, known bool) {
	isKnown := m.Component != Custom && (m.IsServer() || Unit(m.Statistic) != "")
	switch {
	case m.HigherIsBetter(higher):
		return true, true
	case isKnown, m.Component == Custom && m.among(lower) != "":
		return false, true
	case risingUnit.MatchString(unit):
		return true, true
	}
	return false, fallingUnit.MatchString(unit)
}

// Units with a known direction: times, including those of Go's benchmarks such as p99-ns,
// allocations, and work per time.
var (
	fallingUnit = regexp.MustCompile(`^((ns|us|µs|μs|ms|s|sec|min|h)(/\S+)?|\S+-(ns|sec)|(B|allocs)/op)$`)
	risingUnit  = regexp.MustCompile(`(?i)^((` +
		`[kmgt]?i?b|bytes?|[kmgt]?bits?|[kmg]?(req|reqs|requests?|ops?|operations?|calls?|msgs?|messages?|events?|rows?|records?|recs?|items?|docs?|documents?|` +
		`txs?|txns?|transactions?|queries|query|iters?|iterations?|jobs?|tasks?|pages?|packets?|frames?|tokens?)` +
		`)( per |/)(s|secs?|seconds?|min|minutes?|h|hours?)|ops|rps|qps|tps|iops|fps|[kmgt]?bps)$`)
)

// risingPart is the part of the name for which higher is better; empty if lower is.
func (m Metric) risingPart(custom []string) string {
	switch m.Component {
	case "":
		return among(rising, m.Statistic)
	case Custom:
		return m.among(custom)
	}
	return among(rising, m.Resource)
}

// among matches the custom metric with the list, by the name of all its series or by its own.
func (m Metric) among(listed []string) string {
	first, _ := CutOwner(m.Of)
	return cmp.Or(among(listed, first), among(listed, m.Of))
}

func among(known []string, name string) string {
	if slices.Contains(known, name) {
		return name
	}
	return ""
}

// camel finds where a word begins in a name.
var camel = regexp.MustCompile("[A-Z]")

// Directions describes the directions of metrics; those listed are better when higher. Custom
// metrics have their declared names.
func Directions(higher []Metric, declared []string) string {
	var words []string
	for _, one := range higher {
		word := camel.ReplaceAllStringFunc(one.risingPart(declared), func(capital string) string { return " " + strings.ToLower(capital) })
		if one.Component == Custom {
			word = cmp.Or(one.among(declared), one.Of)
		}
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "Lower is better."
	}
	slices.Sort(words)
	return "Lower is better, except for " + strings.Join(words, ", ") + "."
}
