// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/internal/text/prose"
)

// jmeterParts removes sub-results, which JMeter writes as rows: those of a redirect of
// login are login-0 and login-1, on the same thread and within its time.
type jmeterParts struct {
	tally *tally
	// open are samples by thread whose sub-results may follow.
	open map[string]*jmeterFamily
	// parts counts removed sub-results.
	parts int64
	// nested describes the first row within the time of another of its thread.
	nested string
}

// jmeterFamily is a sample with its possible sub-results, in any order.
type jmeterFamily struct {
	root       string
	rows       []jmeterRow
	start, end time.Time
}

type jmeterRow struct {
	sample
	line int
}

func (r *jmeterRow) end() time.Time { return r.start.Add(r.took) }

// costOfThread is the memory per thread, in bytes.
const costOfThread = 256

func (p *jmeterParts) add(thread string, row jmeterRow) error {
	p.tally.span(row.start, row.end())
	family := p.open[thread]
	if family == nil {
		p.open[strings.Clone(thread)] = newFamily(row)
		return p.tally.memory.Spend(costOfThread + len(thread))
	}
	if family.takes(&row) {
		family.take(row)
		return nil
	}
	if whole := &family.rows[0]; p.nested == "" && thread != "" && row.isInside(whole) {
		p.nested = fmt.Sprintf("%s is within the time of %s on the same thread, and both are counted: if it is a sub-result, set jmeter.save.saveservice.subresults=false in JMeter", shorten(row.transaction), shorten(whole.transaction))
	}
	over := *family
	*family = *newFamily(row)
	return p.close(&over)
}

func newFamily(row jmeterRow) *jmeterFamily {
	return &jmeterFamily{root: rootName(row.transaction), rows: []jmeterRow{row}, start: row.start, end: row.end()}
}

// cutNumber returns the sample of a sub-result, whose label is that of the sample and a
// number.
func cutNumber(label string) (sample string, found bool) {
	sample = strings.TrimRight(label, "0123456789")
	if sample == label || len(sample) < 2 {
		return label, false
	}
	return strings.CutSuffix(sample, "-")
}

// rootName removes the numbers at the end of a label.
func rootName(label string) string {
	for {
		sample, found := cutNumber(label)
		if !found {
			return label
		}
		label = sample
	}
}

// takes reports whether a row belongs to the family: it has the same root and another
// number, and overlaps in time.
func (f *jmeterFamily) takes(row *jmeterRow) bool {
	return rootName(row.transaction) == f.root && f.find(row.transaction) == nil && !row.start.After(f.end) && !row.end().Before(f.start)
}

func (f *jmeterFamily) take(row jmeterRow) {
	f.rows = append(f.rows, row)
	if row.start.Before(f.start) {
		f.start = row.start
	}
	if row.end().After(f.end) {
		f.end = row.end()
	}
}

// isPart reports whether a row is a sub-result: its sample, and the first sub-result of
// that, overlap in time.
func (f *jmeterFamily) isPart(row *jmeterRow) bool {
	label, found := cutNumber(row.transaction)
	whole := f.find(label)
	return found && whole != nil && row.isWithin(whole) && f.find(label+"-0") != nil
}

// isWithin reports whether a row is within the time of another. A row without duration may
// be at either end.
func (r *jmeterRow) isWithin(whole *jmeterRow) bool {
	return r.start.Before(whole.end()) && r.end().After(whole.start) || r.start.Equal(whole.start) || r.took == 0 && r.start.Equal(whole.end())
}

// isInside reports whether a request is within the time of another.
func (r *jmeterRow) isInside(whole *jmeterRow) bool {
	return !r.inner && !whole.inner && r.took > 0 && r.took < whole.took && !r.start.Before(whole.start) && !r.end().After(whole.end())
}

func (f *jmeterFamily) find(label string) *jmeterRow {
	at := slices.IndexFunc(f.rows, func(row jmeterRow) bool { return row.transaction == label })
	if at < 0 {
		return nil
	}
	return &f.rows[at]
}

// close counts the samples of a family that are not sub-results.
func (p *jmeterParts) close(family *jmeterFamily) error {
	for _, row := range family.rows {
		if family.isPart(&row) {
			p.parts++
			continue
		}
		if err := p.tally.add(row.sample); err != nil {
			return atLine(row.line, err)
		}
	}
	return nil
}

func (p *jmeterParts) measured() (*Measured, error) {
	for _, family := range p.open {
		if err := p.close(family); err != nil {
			return nil, err
		}
	}
	made, err := jmeterMeasured(p.tally)
	if err != nil {
		return nil, err
	}
	if p.nested != "" {
		made.Notes = append(made.Notes, p.nested)
	}
	if p.parts > 0 {
		made.Notes = append(made.Notes, fmt.Sprintf("%s omitted, such as login-0 of login: the time of the sample includes theirs", prose.Counted(p.parts, "sub-result")))
	}
	return made, nil
}
