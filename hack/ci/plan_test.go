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

// everywhere is a state in which each slow check has passed, the first one first.
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

// ran are the checks that run, in their order.
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
		"nothing has changed: no slow check":                                 {everywhere(), "quick lint"},
		"a page that no check depends on":                                    {everywhere("docs/concepts.md"), "quick lint"},
		"its own page":                                                       {everywhere("docs/archive.md"), "quick lint archive"},
		"its own folder, though another is older":                            {everywhere("hack/release/build.go"), "quick lint release"},
		"a name that only begins like its own":                               {everywhere("test/archived.go"), "quick lint"},
		"what all depend on: the longest not run, as far as the budget goes": {everywhere("internal/planning/plan/plan.go"), "quick lint archive"},
		"test data below what all depend on":                                 {everywhere("internal/planning/plan/testdata/fuzz/one"), "quick lint archive"},
		"how everything is built":                                            {everywhere("Makefile"), "quick lint archive"},
		"its own change comes beside the turn of another":                    {everywhere("internal/planning/plan/plan.go", "test/e2e/chaos_test.go"), "quick lint archive chaos"},
		"two turns fit the budget":                                           {with(everywhere("api/v1alpha1/types.go"), func(s *state) { s.budget = 2 * time.Minute }), "quick lint archive release"},
		"what takes more than the budget still comes":                        {with(everywhere("api/v1alpha1/types.go"), func(s *state) { s.budget = time.Second }), "quick lint archive"},
		"nothing is known: it begins with the commit's number":               {with(&state{budget: time.Minute}, func(s *state) { s.commits = 4 }), "quick lint release"},
		"what never passed comes before what did":                            {with(everywhere("internal/planning/plan/plan.go"), func(s *state) { delete(s.passed, "chaos"); delete(s.changed, "chaos") }), "quick lint chaos"},
		"all": {with(everywhere(), func(s *state) { s.all = true }), "quick lint archive release chaos"},
	} {
		t.Run(name, func(t *testing.T) {
			decisions := plan(table(), c.state)
			expect.Equal(t, c.want, ran(decisions), "ran")
			for _, d := range decisions {
				if d.why == "" {
					t.Errorf("nothing says why %s runs: %t", d.check.Name, d.run)
				}
			}
		})
	}
}

func with(s *state, change func(*state)) *state {
	change(s)
	return s
}

// A handful of landings, each of which changes what all depend on, runs every check.
func TestEachSlowCheckHasItsTurn(t *testing.T) {
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

// What is skipped names the commit at which it passed.
func TestASkippedCheckSaysWhenItPassed(t *testing.T) {
	for _, d := range plan(table(), everywhere()) {
		if !d.run && !strings.Contains(d.why, "since 0123456789ab, where it passed on 2026-03-0") {
			t.Errorf("%s: %s", d.check.Name, d.why)
		}
	}
}
