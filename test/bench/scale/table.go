// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Units of rows.
const (
	unitMiB     = "MiB"
	unitGiB     = "GiB"
	unitKiB     = "KiB"
	unitSeconds = "s"
	unitMillis  = "ms"
	unitCount   = ""
)

// none is a value that was not measured.
var none = math.NaN()

// row is one value, measured in the smaller cluster and in one of twice the size.
type row struct {
	key, what, unit string
	small, large    float64
	// base is the value of an empty cluster. Growth excludes it.
	base float64
	// beyond means that the operator did not become idle, so the value is a lower bound.
	beyond bool
	// slack is added to both values before the division, because twice a negligible value is
	// still negligible. Values are negative if the operator's other work that is subtracted is
	// larger. They are negligible, too.
	slack float64
}

// growth returns the ratio of the larger cluster's value to the smaller one's: 2 is linear, 1
// is constant.
func (r row) growth() float64 {
	small, large := r.small-r.base, r.large-r.base
	if r.slack > 0 {
		small, large = max(small, 0)+r.slack, max(large, 0)+r.slack
	}
	return large / small
}

// table has the results.
type table struct {
	size   string
	limits limits
	rows   []row
	// empty is the cost of an operator without objects.
	empty *started
	// requests are the requests of each case.
	requests []caseRequests
	// carried are the kinds of objects for which the table prints how many fit into a memory
	// limit.
	carried []carried
}

// caseRequests has the operator's requests in one case.
type caseRequests struct {
	subject string
	found   requests
}

// carried is a kind of object, and the growth of the operator's peak memory with each.
type carried struct {
	subject     string
	peak, empty float64
}

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// pair is a kind of experiment, measured in a cluster of count experiments and in one of
// twice as many.
type pair struct {
	name        string
	count, runs int
	starts      [2]*started
	events      [2]disturbances
	stored      [2]float64
}

// addExperiments adds the rows of a kind of experiment.
func (t *table) addExperiments(p *pair) {
	at := fmt.Sprintf("%s, %d and %d experiments x %d runs", p.name, p.count, 2*p.count, p.runs)
	t.addMemory(p.name, at, p.starts)
	runs := float64(p.count * p.runs)
	t.carry(p.name+" runs", p.starts, runs)
	t.addStart(p, at)
	t.addEvents(p, at)
	perExperiment := (p.stored[1] - p.stored[0]) / float64(p.count)
	t.add(row{key: p.name + ".etcd", what: at + ": etcd for 1,000 of them", unit: unitGiB, small: none, large: 1000 * perExperiment / gib})
}

// addRetained adds what remains of each experiment in etcd, in bytes, and the operator's peak
// memory.
func (t *table) addRetained(p *pair, key, what string, each float64, kept *started) {
	at := p.name + ", " + what
	t.add(row{key: p.name + ".etcd." + key, what: at + ": etcd for 1,000 of them", unit: unitGiB, small: none, large: 1000 * each / gib, beyond: kept.late})
	t.add(row{key: p.name + ".peak." + key, what: at + ": peak memory until then", unit: unitMiB, small: none, large: kept.used.peak / mib, beyond: kept.late})
}

// addMemory adds the memory of an idle operator.
func (t *table) addMemory(name, at string, starts [2]*started) {
	of := func(read func(*started) float64) (small, large float64) { return read(starts[0]), read(starts[1]) }
	r := row{key: name + ".rss", what: at + ": idle memory", unit: unitMiB, base: t.empty.used.resident / mib, beyond: starts[1].late, slack: memoryNoise / mib}
	r.small, r.large = of(func(s *started) float64 { return s.used.resident / mib })
	t.add(r)
	r = row{key: name + ".peak", what: at + ": most memory", unit: unitMiB, base: t.empty.used.peak / mib, beyond: starts[1].late, slack: memoryNoise / mib}
	r.small, r.large = of(func(s *started) float64 { return s.used.peak / mib })
	t.add(r)
	r = row{key: name + ".live", what: at + ": live heap", unit: unitMiB, beyond: starts[1].late}
	r.small, r.large = of(func(s *started) float64 { return s.live() / mib })
	t.add(r)
}

// live returns the heap after the last garbage collection. The goal of the next collection is
// that heap plus GOGC percent.
func (s *started) live() float64 {
	percent := s.metrics.sum("go_gc_gogc_percent", nil)
	if percent == 0 {
		percent = 100
	}
	return s.metrics.sum("go_memstats_next_gc_bytes", nil) / (1 + percent/100)
}

// addStart adds the cost of an operator's start.
func (t *table) addStart(p *pair, at string) {
	late := p.starts[1].late
	pair := func(key, what, unit string, read func(*started) float64) {
		t.add(row{key: p.name + "." + key, what: at + ": " + what, unit: unit, small: read(p.starts[0]), large: read(p.starts[1]), beyond: late})
	}
	pair("start.cpu", "CPU to start", unitSeconds, func(s *started) float64 { return s.used.cpu })
	pair("start.allocated", "allocated to start", unitMiB, func(s *started) float64 { return s.metrics.sum("go_memstats_alloc_bytes_total", nil) / mib })
	pair("start.passes", "passes to start", unitCount, func(s *started) float64 { return s.metrics.sum(passesMetric, nil) })
	pair("start.runPasses", "reconciles of runs to start", unitCount, func(s *started) float64 { return s.metrics.sum(passesMetric, ofRuns) })
	pair("start.reads", "reads past the cache to start", unitCount, func(s *started) float64 { return float64(s.requests.reads()) })
	pair("start.writes", "writes to start", unitCount, func(s *started) float64 { return float64(s.requests.written()) })
	for _, share := range []float64{0.5, 0.99} {
		name := fmt.Sprintf("p%.0f", 100*share)
		pair("experiment."+name, "reconcile of an experiment, "+name, unitMillis, func(s *started) float64 {
			return 1000 * s.metrics.times(ofExperiments).quantile(share)
		})
	}
	t.requests = append(t.requests, caseRequests{"start beside " + fmt.Sprintf("%d %s experiments", 2*p.count, p.name), p.starts[1].requests})
}

// addEvents adds the costs of single events.
func (t *table) addEvents(p *pair, at string) {
	for _, one := range []struct {
		key, what string
		subject   func(disturbances) *cost
	}{
		{"active", "a change of an active run", func(e disturbances) *cost { return e.active }},
		{"foreign", "a change of an unrelated pod", func(e disturbances) *cost { return e.foreign }},
		{"own", "a change of an experiment's pod", func(e disturbances) *cost { return e.own }},
		{"scrape", "a scrape of the metrics", func(e disturbances) *cost { return e.scrape }},
	} {
		small, large := one.subject(p.events[0]), one.subject(p.events[1])
		if small == nil || large == nil {
			continue
		}
		pair := func(key, what, unit string, slack float64, read func(*cost) float64) {
			t.add(row{key: p.name + "." + one.key + "." + key, what: at + ": " + one.what + ", " + what, unit: unit, small: read(small), large: read(large), slack: slack})
		}
		pair("cpu", "CPU", unitMillis, 5, func(c *cost) float64 { return 1000 * c.cpu })
		pair("allocated", "allocated", unitKiB, 512, func(c *cost) float64 { return c.allocated / kib })
		if one.key == "scrape" {
			continue
		}
		pair("requests", "requests", unitCount, 1, func(c *cost) float64 { return c.reads + c.writes })
		pair("passes", "passes", unitCount, 1, func(c *cost) float64 { return c.experimentPasses + c.runPasses })
		if one.key == "active" {
			pair("experimentPasses", "passes over experiments", unitCount, 1, func(c *cost) float64 { return c.experimentPasses })
			t.requests = append(t.requests, caseRequests{fmt.Sprintf("%s with %d %s experiments", one.what, 2*p.count, p.name), large.requests})
		}
	}
}

// addPods adds the rows of unrelated pods.
func (t *table) addPods(count int, starts [2]*started, beside *started) {
	at := fmt.Sprintf("%d and %d unrelated pods", count, 2*count)
	t.addMemory("pods", at, starts)
	t.carry("unrelated pods", starts, float64(count))
	t.add(row{key: "pods.beside.rss", what: fmt.Sprintf("%d unrelated pods and one complete experiment: idle memory", 2*count), unit: unitMiB, small: none, large: beside.used.resident / mib, beyond: beside.late})
	t.requests = append(t.requests, caseRequests{fmt.Sprintf("start with %d unrelated pods and an experiment", 2*count), beside.requests})
}

func (t *table) addHostile(beside *started) {
	what := fmt.Sprintf("%d records and %d runs of 1.3 MiB, %d of the largest declarations, GOMEMLIMIT=%s: ", bombs, bombs, largest, shippedMemory)
	t.add(row{key: "hostile.rss", what: what + "memory at rest", unit: unitMiB, small: none, large: beside.used.resident / mib, beyond: beside.late})
	t.add(row{key: "hostile.peak", what: what + "most memory", unit: unitMiB, small: none, large: beside.used.peak / mib, beyond: beside.late})
	t.requests = append(t.requests, caseRequests{"start with objects that are large in memory", beside.requests})
}

// addRuns adds the rows of completed experiments with this number of runs per block.
func (t *table) addRuns(long time.Duration, runs float64, written map[string]float64, before, after families) {
	t.add(row{key: "runs.writes.one", what: fmt.Sprintf("writes of one more run, %s of load", shortRun), small: none, large: (written["twice"] - written["short"]) / runs})
	t.add(row{key: "runs.writes.short", what: fmt.Sprintf("writes of an experiment of two runs, for each, %s of load", shortRun), small: none, large: written["short"] / runs})
	t.add(row{key: "runs.writes.long", what: fmt.Sprintf("the same, %s of load", long), small: none, large: written["long"] / runs})
	more := (written["long"] - written["short"]) / runs / (long - shortRun).Seconds()
	t.add(row{key: "runs.writes.more", what: "writes of one run for each further 10 s of load", small: none, large: 10 * more})
	for _, labels := range []map[string]string{ofExperiments, ofRuns} {
		name := strings.TrimPrefix(labels["controller"], "perf")
		later, err := after.times(labels).since(before.times(labels))
		for _, share := range []float64{0.5, 0.99} {
			r := row{key: fmt.Sprintf("runs.%s.p%.0f", name, 100*share), what: fmt.Sprintf("reconcile of an active %s, p%.0f", name, 100*share), unit: unitMillis, small: none, large: none}
			if err == nil {
				r.large = 1000 * later.quantile(share)
			}
			t.add(r)
		}
	}
}

// addStatuses adds how long the API server took to write statuses. This time is part of
// reconciles.
func (t *table) addStatuses(took map[string][]float64) {
	for _, name := range []string{"experiment", "run"} {
		for _, share := range []float64{0.5, 0.99} {
			t.add(row{
				key:  fmt.Sprintf("runs.status.%s.p%.0f", name, 100*share),
				what: fmt.Sprintf("of which status writes of the %s in the API server, p%.0f", name, 100*share),
				unit: unitMillis, small: none, large: quantile(took[name], share),
			})
		}
	}
}

// addOthers adds how long runs of many namespaces wait, with and without targets that never
// answer.
func (t *table) addOthers(namespaces int, alone, beside waited) {
	at := fmt.Sprintf("%d namespaces, without and with %d targets that never answer", namespaces, mutes)
	t.add(row{key: "others.delay", what: at + ": wait of a new run, p50", unit: unitSeconds, small: alone.queued, large: beside.queued})
	t.add(row{key: "others.begun", what: at + ": from an experiment to its first load, p50", unit: unitSeconds, small: alone.begun, large: beside.begun})
}

// memoryNoise is the difference in an operator's memory that can occur between two starts, in
// bytes.
const memoryNoise = 2 * mib

func (t *table) carry(of string, starts [2]*started, count float64) {
	if starts[1].used.peak-starts[0].used.peak < memoryNoise {
		t.carried = append(t.carried, carried{subject: of})
		return
	}
	each := (starts[1].used.peak - starts[0].used.peak) / count
	t.carried = append(t.carried, carried{subject: of, peak: each, empty: starts[0].used.peak - each*count})
}

// print writes the table as Markdown.
func (t *table) print(w io.Writer, title string) {
	var text strings.Builder
	text.WriteString(title + "\n\n| what | at the size | at twice the size | growth | goal | |\n|---|---:|---:|---:|---:|---|\n")
	for _, r := range t.rows {
		own := t.limits[r.key].withGoal(t.size)
		fmt.Fprintf(&text, "| %s | %s | %s%s | %s | %s | %s |\n", r.what,
			figure(r.small, r.unit), strings.Repeat("> ", btoi(r.beyond)), figure(r.large, r.unit), figure(r.growth(), "x"), own.goal(r.unit), own.in(t.size).judge(r.large, r.growth()))
	}
	text.WriteString("\n| memory limit |")
	for _, one := range t.carried {
		text.WriteString(" " + one.subject + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---:|", len(t.carried)) + "\n")
	for _, bound := range []float64{128, 256, 512, 1024, 2048} {
		fmt.Fprintf(&text, "| %.0f MiB |", bound)
		for _, one := range t.carried {
			text.WriteString(" " + one.under(bound*mib) + " |")
		}
		text.WriteString("\n")
	}
	text.WriteString("\nRequests of the operator; for single events, of all events together.\n\n| for | requests |\n|---|---|\n")
	for _, one := range t.requests {
		fmt.Fprintf(&text, "| %s | %s |\n", one.subject, one.found)
	}
	_, _ = io.WriteString(w, text.String())
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// String lists the requests by kind, the most frequent first.
func (r requests) String() string {
	var parts []string
	for _, kind := range r.sorted() {
		if r[kind] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", r[kind], kind))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// under returns how many objects fit into a limit.
func (c carried) under(bound float64) string {
	switch {
	case c.peak <= 0:
		return "no bound found"
	case bound <= c.empty:
		return "0"
	default:
		return fmt.Sprintf("%.0f", math.Floor((bound-c.empty)/c.peak))
	}
}

// figure formats a number with its significant digits and unit.
func figure(value float64, unit string) string {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return ""
	case unit == "x":
		return fmt.Sprintf("%.2f", value)
	}
	text := fmt.Sprintf("%.3g", value)
	if math.Abs(value) >= 100 {
		text = fmt.Sprintf("%.0f", value)
	}
	return strings.TrimSpace(text + " " + unit)
}

func (l limit) goal(unit string) string {
	var parts []string
	if l.Goal != nil {
		parts = append(parts, strings.TrimSpace("<= "+figure(*l.Goal, unit)+" "+l.At))
	}
	if l.GrowthGoal != nil {
		parts = append(parts, "growth <= "+figure(*l.GrowthGoal, "x"))
	}
	return strings.Join(parts, ", ")
}

// verdict returns an error if a limit is exceeded. If strict is set, it also returns an error
// if a goal is missed.
func (t *table) verdict(strict bool) error {
	var failures []error
	for _, r := range t.rows {
		found := t.limits[r.key].in(t.size).judge(r.large, r.growth())
		if found == broken || strict && found == overGoal {
			failures = append(failures, fmt.Errorf("%s: %s, growth %s, is %s", r.what, figure(r.large, r.unit), figure(r.growth(), "x"), strings.Trim(found.String(), "*")))
		}
	}
	return errors.Join(failures...)
}
