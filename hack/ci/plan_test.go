// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// table is one check of each kind, and three slow ones.
func table() []check {
	return []check{
		{Name: "quick", Tier: tierTest, Seconds: 10},
		{Name: "lint", Tier: tierLanding, Seconds: 10},
		{Name: "archive", Tier: tierTurn, Seconds: 60, Own: []string{"test/archive", "docs/archive.md"}},
		{Name: "release", Tier: tierTurn, Seconds: 60, Own: []string{"hack/release"}},
		{Name: "chaos", Tier: tierTurn, Seconds: 60, Own: []string{"test/e2e/chaos_test.go"}},
	}
}

// everywhere is a state in which each slow check has passed, the first one longest ago.
func everywhere(changed ...string) *state {
	s := &state{budget: 90 * time.Second, passed: map[string]pass{}, changed: map[string][]string{}, depends: map[string]map[string]bool{}}
	for i, c := range table() {
		if c.Tier != tierTurn {
			continue
		}
		s.passed[c.Name] = pass{Commit: "0123456789abcdef", At: monday.AddDate(0, 0, i), Seconds: 60}
		s.changed[c.Name] = changed
		s.depends[c.Name] = map[string]bool{"api/v1alpha1": true, "internal/planning/plan": true}
	}
	return s
}

// ran are the checks that run, in order.
func ran(decisions []decision) string {
	var names []string
	for _, d := range decisions {
		if d.run {
			names = append(names, d.check.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestWhatRuns(t *testing.T) {
	for name, c := range map[string]struct {
		state *state
		want  string
	}{
		"nothing has changed: no slow check":                                     {everywhere(), "quick lint"},
		"a page that no check depends on":                                        {everywhere("docs/concepts.md"), "quick lint"},
		"its own page":                                                           {everywhere("docs/archive.md"), "quick lint archive"},
		"its own folder, though another is older":                                {everywhere("hack/release/build.go"), "quick lint release"},
		"a name with its own as a prefix":                                        {everywhere("test/archived.go"), "quick lint"},
		"a common dependency: the checks not run for longest, within the budget": {everywhere("internal/planning/plan/plan.go"), "quick lint archive"},
		"test data of a common dependency":                                       {everywhere("internal/planning/plan/testdata/fuzz/one"), "quick lint archive"},
		"the build of everything":                                                {everywhere("Makefile"), "quick lint archive"},
		"its own change, and the turn of another":                                {everywhere("internal/planning/plan/plan.go", "test/e2e/chaos_test.go"), "quick lint archive chaos"},
		"two turns fit the budget":                                               {with(everywhere("api/v1alpha1/types.go"), func(s *state) { s.budget = 2 * time.Minute }), "quick lint archive release"},
		"one check runs even beyond the budget":                                  {with(everywhere("api/v1alpha1/types.go"), func(s *state) { s.budget = time.Second }), "quick lint archive"},
		"without records, the commit's number selects the first":                 {with(&state{budget: time.Minute}, func(s *state) { s.commits = 4 }), "quick lint release"},
		"a check that never passed runs first":                                   {with(everywhere("internal/planning/plan/plan.go"), func(s *state) { delete(s.passed, "chaos"); delete(s.changed, "chaos") }), "quick lint chaos"},
		"all":                                                                    {with(everywhere(), func(s *state) { s.all = true }), "quick lint archive release chaos"},
	} {
		t.Run(name, func(t *testing.T) {
			decisions := plan(table(), c.state)
			expect.Equal(t, c.want, ran(decisions), "ran")
			for _, d := range decisions {
				if d.why == "" {
					t.Errorf("no reason why %s runs: %t", d.check.Name, d.run)
				}
			}
		})
	}
}

func with(s *state, change func(*state)) *state {
	change(s)
	return s
}

// After a few landings that each change a common dependency, every check has run.
func TestEachSlowCheckTakesTurns(t *testing.T) {
	s, seen := &state{budget: 90 * time.Second, passed: map[string]pass{}}, map[string]bool{}
	for landing := range 3 {
		for _, d := range plan(table(), s) {
			if d.run && d.check.Tier == tierTurn {
				seen[d.check.Name] = true
				s.passed[d.check.Name] = pass{Commit: "0123456789abcdef", At: monday.AddDate(0, 0, landing), Seconds: 60}
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("three landings ran %v", seen)
	}
}

// A skipped check names the commit at which it last passed.
func TestSkippedCheckNamesLastPass(t *testing.T) {
	for _, d := range plan(table(), everywhere()) {
		if !d.run && !strings.Contains(d.why, "since 0123456789ab, at which it passed on 2026-03-0") {
			t.Errorf("%s: %s", d.check.Name, d.why)
		}
	}
}
