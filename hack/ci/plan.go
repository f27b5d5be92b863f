// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/internal/text/prose"
)

// pass is when a check last passed on this machine.
type pass struct {
	Commit  string    `json:"commit"`
	At      time.Time `json:"at"`
	Seconds int       `json:"seconds"`
}

// state is the input of a plan.
type state struct {
	// passed are the last passes by check.
	passed map[string]pass
	// changed are the files that differ between the commit at which a check last passed
	// and the working tree, by check. A check without an entry has no such commit.
	changed map[string][]string
	// depends are the directories that the packages of a check depend on, by check.
	depends map[string]map[string]bool
	// commits is the number of the commit, which selects the first check if there are no records.
	commits int
	// budget is the time for slow checks that are not known to be affected.
	budget time.Duration
	// all runs every check.
	all bool
}

// decision is whether a check runs, and why.
type decision struct {
	check *check
	run   bool
	why   string
}

// plan decides which of the checks run. Checks of the tiers test and landing always run. Slow ones
// run if their own files have changed. Of the others that a change may have broken, those with the
// oldest run come first, within the budget.
func plan(checks []check, s *state) []decision {
	decisions := make([]decision, len(checks))
	var waiting []*decision
	for i := range checks {
		decisions[i] = s.decide(&checks[i])
		if decisions[i].why == "" {
			waiting = append(waiting, &decisions[i])
		}
	}
	s.takeTurns(waiting)
	return decisions
}

// decide leaves why empty if a check must wait for its turn.
func (s *state) decide(c *check) decision {
	changed, known := s.changed[c.Name]
	switch {
	case s.all:
		return decision{c, true, "all checks are selected"}
	case c.Tier != tierTurn:
		return decision{c, true, "every landing runs it"}
	case known && len(s.owned(c, changed)) > 0:
		return decision{c, true, "changed: " + prose.Enumerate(s.owned(c, changed))}
	case known && len(s.affecting(c, changed)) == 0:
		last := s.passed[c.Name]
		return decision{c, false, fmt.Sprintf("its inputs have not changed since %.12s, at which it passed on %s", last.Commit, last.At.Format(time.DateOnly))}
	default:
		return decision{check: c}
	}
}

// takeTurns selects the checks with the oldest runs. It selects one even beyond the budget.
func (s *state) takeTurns(waiting []*decision) {
	rotate(waiting, s.commits)
	slices.SortStableFunc(waiting, func(a, b *decision) int {
		return s.passed[a.check.Name].At.Compare(s.passed[b.check.Name].At)
	})
	left := s.budget
	for i, d := range waiting {
		took := expected(d.check, s.passed)
		if i > 0 && took > left {
			d.why = "slow, and not its turn"
			continue
		}
		left -= took
		d.run, d.why = true, "its turn: "+s.lastRun(d.check)
	}
}

// expected is how long a check took when it last passed here, or else the catalogue's
// value.
func expected(c *check, passed map[string]pass) time.Duration {
	return time.Duration(cmp.Or(passed[c.Name].Seconds, c.Seconds)) * time.Second
}

func (s *state) lastRun(c *check) string {
	last, known := s.passed[c.Name]
	if !known {
		return "it has not passed on this machine yet"
	}
	return "it last passed on " + last.At.Format(time.DateOnly)
}

// rotate moves the first n to the end.
func rotate(waiting []*decision, n int) {
	if len(waiting) == 0 {
		return
	}
	n %= len(waiting)
	copy(waiting, slices.Concat(waiting[n:], waiting[:n]))
}

// owned returns the changed files among the check's own.
func (s *state) owned(c *check, changed []string) []string {
	return matching(changed, func(file string) bool {
		return slices.ContainsFunc(c.Own, func(own string) bool { return under(file, own) })
	})
}

// affecting are the changed files that the check's packages depend on.
func (s *state) affecting(c *check, changed []string) []string {
	return matching(changed, func(file string) bool {
		for directory := range parents(file) {
			if s.depends[c.Name][directory] {
				return true
			}
		}
		return affectsAll(file)
	})
}

// affectsAll reports whether the file determines how everything is built and checked.
func affectsAll(file string) bool {
	return slices.Contains([]string{"go.mod", "go.sum", "Makefile", "hack/lib.sh"}, file) || under(file, ".ci") || under(file, "hack/ci")
}

func under(file, path string) bool { return file == path || strings.HasPrefix(file, path+"/") }

// parents are the directories above a file: test data belongs to the package above it.
func parents(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
			if !yield(file[:at]) {
				return
			}
		}
	}
}

func matching(files []string, holds func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !holds(file) })
}
