// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Merge adds up what several runners of the same load measured. The result is
// what one runner would have measured that saw all samples: counts, sums,
// extremes and histograms add, percentiles are never averaged. Buckets are
// brought to the widest width among ps. It fails with ErrNone without payloads
// and with ErrMismatch for different loads or runs or the same runner twice.
func Merge(ps ...*Payload) (*Payload, error) {
	if len(ps) == 0 {
		return nil, fmt.Errorf("merging payloads: %w", ErrNone)
	}
	if err := mergeable(ps); err != nil {
		return nil, err
	}
	sum := New(ps[0].Load, ps[0].Run, runners(ps), time.Time{})
	sum.Start, sum.End = extent(ps)
	sum.Final = true
	for _, p := range ps {
		sum.BucketSeconds = max(sum.BucketSeconds, p.BucketSeconds)
	}
	for _, p := range ps {
		sum.add(p)
	}
	sum.sort()
	sum.narrow()
	return sum, nil
}

func mergeable(ps []*Payload) error {
	seen := map[string]bool{}
	for _, p := range ps {
		if p.Load != ps[0].Load || p.Run != ps[0].Run {
			return fmt.Errorf("merging load %q of run %q with load %q of run %q: %w",
				ps[0].Load, ps[0].Run, p.Load, p.Run, ErrMismatch)
		}
		if err := p.validate(); err != nil {
			return fmt.Errorf("merging load %q of run %q: %w", p.Load, p.Run, err)
		}
		for _, r := range strings.Split(p.Runner, ",") {
			if seen[r] {
				return fmt.Errorf("merging load %q of run %q: runner %q would count twice: %w", p.Load, p.Run, r, ErrMismatch)
			}
			seen[r] = true
		}
	}
	return nil
}

func runners(ps []*Payload) string {
	var names []string
	for _, p := range ps {
		names = append(names, strings.Split(p.Runner, ",")...)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// extent is from the first start to the last end. A runner that had nothing to
// do, as where there are more runners than users, has no say in it.
func extent(ps []*Payload) (start, end time.Time) {
	busy := keep(ps, func(p *Payload) bool { return p.span() > 0 })
	if len(busy) == 0 {
		busy = ps
	}
	start, end = busy[0].Start, busy[0].End
	for _, p := range busy {
		start, end = earlier(start, p.Start), later(end, p.End)
	}
	return start, end
}

// add adds p to sum, whose buckets are at least as wide.
func (sum *Payload) add(p *Payload) {
	sum.Final = sum.Final && p.Final
	factor := int64(sum.BucketSeconds / p.BucketSeconds)
	for _, s := range p.Series {
		into := sum.series(s.Transaction, s.Outcome)
		for _, b := range s.Buckets {
			into.bucket(floorDiv(b.Index, factor)).add(b)
		}
	}
	for _, c := range p.Counters {
		into := sum.counter(c.Name)
		for _, b := range c.Buckets {
			into.bucket(floorDiv(b.Index, factor)).Sum += b.Sum
		}
	}
}

// sort puts series and counters into the order of their names, so that equal
// contents make equal bytes.
func (p *Payload) sort() {
	sort.Slice(p.Series, func(i, j int) bool {
		a, b := p.Series[i], p.Series[j]
		if a.Transaction != b.Transaction {
			return a.Transaction < b.Transaction
		}
		return a.Outcome < b.Outcome
	})
	sort.Slice(p.Counters, func(i, j int) bool { return p.Counters[i].Name < p.Counters[j].Name })
}
