// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/stats"
	"perflab.dev/perflab/internal/verdict"
)

// overview says what was compared, on what, and how far it came.
func overview(r *record) section {
	made := section{ID: "overview", Title: "Overview"}
	var others []string
	for _, arm := range r.arms {
		if !arm.Baseline && !arm.Twin {
			others = append(others, arm.Name)
		}
	}
	system := "the system it declares"
	if reference := r.Experiment.Spec.SystemRef; reference != nil {
		system = "PerfSystem " + reference.Name
	}
	if len(others) > 0 {
		made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf("This experiment compares %s with the baseline %s, on %s, under %s.",
			listed(others), r.baseline(), system, prose.Counted(len(r.scenarios), "scenario"))))
	} else {
		made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf("This experiment measures %s, on %s, under %s. There is no other arm to compare it with.",
			r.baseline(), system, prose.Counted(len(r.scenarios), "scenario"))))
	}
	made.Blocks = append(made.Blocks, block{Table: armsTable(r)}, block{Table: scenariosTable(r)})
	return made
}

// mostDifferences are listed per arm; a heap that differs in ninety modules is
// told once.
const mostDifferences = 8

func armsTable(r *record) *table {
	made := &table{Caption: "Arms: what differs from the baseline", Columns: words("Arm", "Setting", "Baseline", "Arm's")}
	for _, arm := range r.arms {
		switch {
		case arm.Baseline:
			made.Rows = append(made.Rows, row{First: true, Cells: []cell{name(arm.Name), {Text: "the baseline"}, {}, {}}})
			continue
		case arm.Twin:
			made.Rows = append(made.Rows, row{First: true, Cells: []cell{name(arm.Name), {Text: "nothing: the baseline's twin, which shows the noise"}, {}, {}}})
			continue
		}
		changes, unlisted := r.changes(arm)
		if len(changes) == 0 {
			made.Rows = append(made.Rows, row{First: true, Cells: []cell{name(arm.Name), {Text: "nothing that was recorded"}, {}, {}}})
			continue
		}
		for i, change := range changes[:min(len(changes), mostDifferences)] {
			made.Rows = append(made.Rows, row{First: i == 0, Cells: []cell{
				name(arm.Name), {Text: change.Setting}, {Text: change.Baseline}, {Text: change.Arm},
			}})
		}
		if more := max(len(changes)-mostDifferences, 0) + unlisted; more > 0 {
			made.Rows = append(made.Rows, row{Cells: []cell{name(arm.Name), {Text: fmt.Sprintf("and %d more", more)}, {}, {}}})
		}
	}
	return made
}

// changes of an arm from the baseline, by what their runs were given. Without
// such runs they are those of the status, which leaves some unlisted.
func (r *record) changes(of arm) (changes []arms.Change, unlisted int) {
	baseline, system := arms.SystemOf(r.Runs, r.baseline()), arms.SystemOf(r.Runs, of.Name)
	if baseline == nil || system == nil {
		return arms.Changes(of.Differences), int(of.MoreDifferences)
	}
	return arms.Changes(arms.Differences(*baseline, *system)), 0
}

func scenariosTable(r *record) *table {
	made := &table{Caption: "Scenarios: what was put on", Columns: words("Scenario", "Load", "What it does")}
	for _, scenario := range r.scenarios {
		for i, load := range scenario.Loads {
			made.Rows = append(made.Rows, row{First: i == 0, Cells: []cell{name(scenario.Name), name(load.Name), {Text: capital(describeLoad(load))}}})
		}
	}
	return made
}

// summary tells the verdicts in sentences, the sure and the bad ones first.
func summary(r *record) section {
	made := section{ID: "summary", Title: "Summary"}
	valid, invalid, other := r.counts()
	if valid == 0 {
		made.Blocks = append(made.Blocks, paragraph("No run counts yet, so there is nothing to compare."))
		return made
	}
	made.Blocks = append(made.Blocks, paragraph(r.progress(valid, invalid, other)))
	if len(r.answer.Comparisons) == 0 {
		made.Blocks = append(made.Blocks, paragraph("There is no arm with valid runs beside the baseline, so nothing is compared."))
		return made
	}
	made.Blocks = append(made.Blocks,
		paragraph(fmt.Sprintf("Deltas are the arm's value less the baseline's: + is more than the baseline, %s is less. Percentages are of the baseline. A difference below %s%s%% does not matter here.",
			minus, plain(r.answer.marginPercent), space)),
		block{List: r.verdicts()})
	if exploratory := r.exploratory(); len(exploratory) > 0 {
		made.Blocks = append(made.Blocks,
			paragraph("What else differs, among metrics that were not chosen to decide:"),
			block{List: exploratory})
	}
	if servers := r.servers(); len(servers) > 0 {
		made.Blocks = append(made.Blocks, paragraph("What the servers did:"), block{List: servers})
	}
	return made
}

func (r *record) progress(valid, invalid, other int) string {
	text := fmt.Sprintf("%s counted", prose.Counted(valid, "run"))
	if planned := r.Experiment.Status.Runs; planned != nil && int(planned.Planned) != valid {
		text += fmt.Sprintf(" of %d planned", planned.Planned)
	}
	if invalid > 0 {
		text += fmt.Sprintf("; %s did not and %s repeated", prose.Counted(invalid, "attempt"), prose.Verb(invalid, "is", "are"))
	}
	if other > 0 {
		text += fmt.Sprintf("; %s %s on, so these results are not the last", prose.Counted(other, "run"), prose.Verb(other, "is", "are"))
	}
	text += "."
	if analysis := r.Experiment.Status.Analysis; analysis != nil && analysis.Stopped != nil {
		text += " " + capital(analysis.Stopped.Message) + "."
	}
	if len(r.answer.Comparisons) > 0 {
		text += fmt.Sprintf(" The comparison rests on %s.", prose.Counted(r.answer.Blocks, "complete block"))
	}
	return text
}

// urgency is the order in which verdicts are told.
var urgency = []verdict.Verdict{verdict.Worse, verdict.Better, verdict.Inconclusive, verdict.None, verdict.Equivalent}

// verdicts are the primary comparisons in sentences.
func (r *record) verdicts() []item {
	var primary []told
	for i := range r.answer.Comparisons {
		if c := &r.answer.Comparisons[i]; c.Primary && !c.Twin {
			primary = append(primary, tell(c))
		}
	}
	slices.SortStableFunc(primary, func(a, b told) int {
		return cmp.Compare(slices.Index(urgency, a.Verdict), slices.Index(urgency, b.Verdict))
	})
	return r.items(primary)
}

func (r *record) items(all []told) []item {
	items := make([]item, 0, len(all))
	for _, one := range all {
		items = append(items, item{Verdict: one.verdict(), Text: one.sentence(&r.answer)})
	}
	return items
}

// mostExploratory is how many differences nobody asked for are told.
const mostExploratory = 6

// exploratory are the differences that the runs show in other metrics, the
// largest first.
func (r *record) exploratory() []item {
	var found []told
	for i := range r.answer.Comparisons {
		c := &r.answer.Comparisons[i]
		isSure := c.Verdict == verdict.Better || c.Verdict == verdict.Worse
		if one := tell(c); !c.Primary && !c.Twin && isSure && one.metric.IsTelling() && !one.metric.Restates() {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b told) int { return cmp.Compare(surprise(b), surprise(a)) })
	more := len(found) - mostExploratory
	items := r.items(found[:min(len(found), mostExploratory)])
	if more > 0 {
		items = append(items, item{Text: fmt.Sprintf("And %d more; the comparison lists them.", more)})
	}
	return items
}

// surprise is how far a delta is from none, in half widths of its interval.
func surprise(t told) float64 {
	half := (t.High - t.Low) / 2
	if half <= 0 {
		return 0
	}
	return max(t.Delta, -t.Delta) / half
}

// servers tells which modules took most, what PostgreSQL used, what failed and
// whether memory grew.
func (r *record) servers() []item {
	var items []item
	for _, scenario := range r.scenarios {
		for _, resource := range []struct{ name, phrase string }{{metric.CPU, "CPU"}, {metric.Memory, "Memory"}} {
			if top := r.top(scenario.Name, resource.name); len(top) > 0 {
				items = append(items, item{Text: fmt.Sprintf("%s under %s is used most, on average, by %s (%s).", resource.phrase, scenario.Name, listed(top), r.baseline())})
			}
		}
		if used := r.database(scenario.Name); used != "" {
			items = append(items, item{Text: used})
		}
		if failed := r.failed(scenario); failed != "" {
			items = append(items, item{Text: failed})
		}
		if growing, known := r.growing(scenario.Name); known {
			items = append(items, item{Text: r.leakStatement(scenario.Name, growing)})
		}
	}
	return items
}

const topModules = 3

func (r *record) top(scenario, resource string) []string {
	type used struct {
		module string
		values *values
	}
	var all []used
	for _, m := range r.metrics[scenario] {
		if m.IsUse(metric.Module, resource, metric.Average) {
			if found := r.at(scenario, m.Name, r.baseline()); found != nil {
				all = append(all, used{m.Of, found})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.values.mean(), a.values.mean()) })
	var names []string
	for _, one := range all[:min(len(all), topModules)] {
		names = append(names, fmt.Sprintf("%s with %s", one.module, withUnit(one.values.shown(r.confidence()), one.values.unit)))
	}
	return names
}

// database tells what PostgreSQL's primary used in the baseline.
func (r *record) database(scenario string) string {
	var used []string
	for _, of := range []struct{ resource, noun string }{{metric.CPU, ""}, {metric.Connections, " connections"}} {
		if found := r.at(scenario, metric.Name(metric.Primary, of.resource, metric.Average), r.baseline()); found != nil {
			used = append(used, withUnit(found.shown(r.confidence()), found.unit)+of.noun)
		}
	}
	if len(used) == 0 {
		return ""
	}
	return fmt.Sprintf("PostgreSQL's primary used %s on average under %s (%s).", listed(used), scenario, r.baseline())
}

// failed tells the largest share of a transaction's samples that failed in any arm.
func (r *record) failed(scenario v1alpha1.Scenario) string {
	var most *values
	where := ""
	for _, load := range scenario.Loads {
		for _, transaction := range r.transactionsOf(scenario.Name, load.Name) {
			for _, arm := range r.arms {
				found := r.at(scenario.Name, metric.Name(load.Name, transaction, metric.Errors), arm.Name)
				if found != nil && (most == nil || found.mean() > most.mean()) {
					most, where = found, transaction+" in "+arm.Name
				}
			}
		}
	}
	switch {
	case most == nil:
		return ""
	case most.mean() == 0:
		return fmt.Sprintf("No transaction failed under %s.", scenario.Name)
	}
	return fmt.Sprintf("Most errors under %s: %s, of which %s failed.", scenario.Name, where, withUnit(most.shown(r.confidence()), most.unit))
}

// leastGrowth is the growth of memory per hour, as a share of the memory used,
// that is worth telling.
const leastGrowth = 0.01

// growing finds the modules whose memory grew, run after run: in some arm, the
// interval of the slope lies above none. It says false where none was measured.
func (r *record) growing(scenario string) (growing []string, known bool) {
	for _, m := range r.metrics[scenario] {
		if !m.IsUse(metric.Module, metric.Memory, metric.Slope) {
			continue
		}
		var in []string
		for _, arm := range r.arms {
			found := r.at(scenario, m.Name, arm.Name)
			if found == nil || len(found.numbers) < 2 {
				continue
			}
			known = true
			used := r.at(scenario, metric.Name(metric.Module, m.Of, metric.Memory, metric.Average), arm.Name).mean()
			if low, _ := stats.Mean(found.numbers).Interval(r.confidence()); low > 0 && !(found.mean() < used*leastGrowth) {
				in = append(in, fmt.Sprintf("+%s in %s", withUnit(found.shown(r.confidence()), found.unit), arm.Name))
			}
		}
		if len(in) > 0 {
			growing = append(growing, fmt.Sprintf("%s (%s)", m.Of, strings.Join(in, ", ")))
		}
	}
	return growing, known
}

func (r *record) leakStatement(scenario string, growing []string) string {
	if len(growing) == 0 {
		return fmt.Sprintf("No module's memory grew by more than %s%s%% per hour under %s: no sign of a leak within the length of a run.", plain(leastGrowth*100), space, scenario)
	}
	const most = 5
	more := ""
	if len(growing) > most {
		more = fmt.Sprintf(", and of %d more", len(growing)-most)
		growing = growing[:most]
	}
	return fmt.Sprintf("Memory grew while load was on under %s, of %s%s. That is a leak, or caches that were still filling; a longer run tells.", scenario, listed(growing), more)
}

// differing counts verdicts.
func differing(comparisons []comparison.Comparison, of verdict.Verdict) int {
	number := 0
	for i := range comparisons {
		if comparisons[i].Verdict == of {
			number++
		}
	}
	return number
}
