// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// rising are the statistics of loads, and the resources of servers, that get
// better when higher.
var rising = []string{
	RecordsPerSecond, RequestsPerSecond, TransactionsPerSecond, IterationsPerSecond,
	Samples, Records, Imports, CacheHits, MemoryFree, StorageFree,
}

// HigherIsBetter tells which way the metric gets better. Of custom metrics those
// listed do when higher.
func (m Metric) HigherIsBetter(custom []string) bool { return m.risingPart(custom) != "" }

// Direction tells which way a metric gets better whose unit is given. It is known of
// loads' and servers' metrics, of custom ones that are listed as better when higher
// or lower, and of units that have but one direction.
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

// Units of which the direction is known: of times, those that Go's benchmarks name such
// as p99-ns included, and of what they allocate; of the work that is done in some time.
var (
	fallingUnit = regexp.MustCompile(`^((ns|us|µs|μs|ms|s|sec|min|h)(/\S+)?|\S+-(ns|sec)|(B|allocs)/op)$`)
	risingUnit  = regexp.MustCompile(`(?i)^((` +
		`[kmgt]?i?b|bytes?|[kmgt]?bits?|[kmg]?(req|reqs|requests?|ops?|operations?|calls?|msgs?|messages?|events?|rows?|records?|recs?|items?|docs?|documents?|` +
		`txs?|txns?|transactions?|queries|query|iters?|iterations?|jobs?|tasks?|pages?|packets?|frames?|tokens?)` +
		`)( per |/)(s|secs?|seconds?|min|minutes?|h|hours?)|ops|rps|qps|tps|iops|fps|[kmgt]?bps)$`)
)

// risingPart is the part of the name for which higher is better; empty where
// lower is.
func (m Metric) risingPart(custom []string) string {
	switch m.Component {
	case "":
		return among(rising, m.Statistic)
	case Custom:
		return m.among(custom)
	}
	return among(rising, m.Resource)
}

// among the custom metrics that are listed, by the name of all its series or by its
// own.
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

// camel finds where a word begins in what a metric is called.
var camel = regexp.MustCompile("[A-Z]")

// Directions say which way metrics get better, of which those listed do when higher.
// Custom ones are named as they are declared.
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
