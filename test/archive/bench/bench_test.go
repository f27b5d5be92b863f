// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestFilledArchiveIsValid checks that the measured archive is valid and has the specified
// series.
func TestFilledArchiveIsValid(t *testing.T) {
	root := t.TempDir()
	of := size{Experiments: 20, Runs: 20, Namespaces: 2, Series: 3, Observations: 8, Deep: 40, Modules: 10}
	expect.NoError(t, fill(t.Context(), root, of, func(int) {}))
	location, err := archive.ParseLocation("file://" + root)
	expect.NoError(t, err)
	store, err := stores.Open(t.Context(), location, archive.Options{})
	expect.NoError(t, err)
	for experiment, points := range map[string]int{"": 3, "heap-00000": 4} {
		found, err := contents.History(t.Context(), store, contents.HistoryQuery{Namespace: "team-0", Experiment: experiment})
		if err != nil || len(found.Measurements) != points {
			t.Errorf("%q has %d points, %v, want %d", experiment, len(found.Measurements), err, points)
		}
		history, err := releases.NewHistory(found.Measurements, releases.Options{})
		if err != nil || len(history.Series) != arms*scenarios*2 {
			t.Errorf("%+v, %v", history, err)
		}
	}
	sum, err := store.Collect(t.Context(), archive.CollectionPolicy{DryRun: true}, nil)
	if err != nil || sum.RecordsKept != 20+400 || sum.Objects > 0 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// TestConcurrentWritersOfOneRecord checks that concurrent writers of the same object do not
// fail.
func TestConcurrentWritersOfOneRecord(t *testing.T) {
	root := t.TempDir()
	store, err := open(t.Context(), root)
	expect.NoError(t, err)
	for n := range 2000 {
		var group errgroup.Group
		for range 4 {
			group.Go(func() error {
				_, err := store.Put(t.Context(), fmt.Appendf(nil, "object %d", n))
				return err
			})
		}
		expect.NoError(t, group.Wait())
	}
}

// TestPatternsMatchRecords checks that records from the pattern equal those of the
// operator.
func TestPatternsMatchRecords(t *testing.T) {
	of := size{Experiments: 20, Runs: 20, Namespaces: 2, Series: 3, Observations: 30, Deep: 40, Modules: 10}
	for nth := range 9 {
		input := draw(of, 0, nth)
		alike, err := newPattern(&input.Experiment, &input.Runs[0])
		expect.NoError(t, err)
		for i := range input.Runs {
			want, err := contents.RunRecord(&input.Experiment, &input.Runs[i], nil)
			expect.NoError(t, err)
			if diff := cmp.Diff(want, alike.newRecord(&input.Runs[i])); diff != "" {
				t.Fatalf("run %d (-as it is kept +by the pattern):\n%s", i, diff)
			}
		}
	}
}

func TestMissedGoals(t *testing.T) {
	found := result{rows: []row{
		{what: "slow", took: 3 * time.Second, within: 2 * time.Second, most: 10},
		{what: "large", took: time.Second, peak: 20 * megabyte, within: 2 * time.Second, most: 10 * megabyte},
		{what: "without a goal", took: time.Hour, peak: 1 << 40},
	}}
	missed := strings.Join(found.missed(), "\n")
	if len(found.missed()) != 2 || !strings.Contains(missed, "slow takes 3.00 s, goal 2") || !strings.Contains(missed, "large takes 20 MB, goal 10") {
		t.Errorf("missed are\n%s", missed)
	}
}
