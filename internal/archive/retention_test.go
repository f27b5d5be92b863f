// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// daysOld returns records of an experiment that ended this many days ago.
func daysOld(days ...int) []StoredRecord {
	var group []StoredRecord
	for i, day := range days {
		identity := Identity{Namespace: "lab", Experiment: "heap", ExperimentUID: "e", Run: fmt.Sprintf("run-%d", i)}
		group = append(group, StoredRecord{Reference: identity.reference(Digest{byte(i)}), Manifest: &Manifest{At: noon.AddDate(0, 0, -day)}})
	}
	return group
}

func TestWhatIsRetained(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		days      []int
		rested    []int
		retention Retention
		goes      []int
	}{
		"all, where nothing is said":         {days: []int{1, 900}},
		"none is there":                      {retention: Retention{Count: 1}},
		"the last two":                       {days: []int{5, 2, 9, 3}, retention: Retention{Count: 2}, goes: []int{0, 2}},
		"fewer than may stay":                {days: []int{5, 2}, retention: Retention{Count: 2}},
		"those of ten days":                  {days: []int{10, 11, 9}, retention: Retention{Age: 10 * day}, goes: []int{1}},
		"either takes":                       {days: []int{2, 3, 30}, retention: Retention{Count: 1, Age: 10 * day}, goes: []int{1, 2}},
		"what is rested on":                  {days: []int{30, 40, 50}, rested: []int{1}, retention: Retention{Count: 1, Age: 10 * day}, goes: []int{0, 2}},
		"what is rested on takes a place":    {days: []int{2, 3, 4}, rested: []int{0}, retention: Retention{Count: 1}, goes: []int{1, 2}},
		"what is younger than the grace":     {days: []int{0, 0, 0}, retention: Retention{Count: 1, Age: time.Hour}},
		"one of two that ended at one time ": {days: []int{3, 3}, retention: Retention{Count: 1}, goes: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			group := daysOld(test.days...)
			isRestedOn := func(reference Reference) bool {
				return slices.ContainsFunc(test.rested, func(i int) bool { return group[i].Reference == reference })
			}
			want := map[Reference]bool{}
			for _, i := range test.goes {
				want[group[i].Reference] = true
			}
			got := map[Reference]bool{}
			for reference := range selectRemovals(group, isRestedOn, test.retention, day, noon) {
				got[reference] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v go, want %v", got, want)
			}
		})
	}
}

func TestWhatIsSweptAway(t *testing.T) {
	marked, other := Sum([]byte("marked")), Sum([]byte("other"))
	marks := marks{}
	marks.add(marked)
	reference := Identity{Namespace: "lab", Experiment: "heap", ExperimentUID: "e"}.reference(other).String()
	const old, young = 25 * time.Hour, 23 * time.Hour
	for name, test := range map[string]struct {
		key  string
		age  time.Duration
		want string
	}{
		"what is referred to":                     {marked.key(), old, ""},
		"what is not":                             {other.key(), old, whyUnreachable},
		"what is not yet":                         {other.key(), young, ""},
		"what comes from the future":              {other.key(), -old, ""},
		"a reference":                             {reference, old, ""},
		"an object whose write was broken off":    {marked.key() + ".18b2a6f1c3d4e5f6.tmp", old, whyBrokenOff},
		"one that is still being written":         {marked.key() + ".18b2a6f1c3d4e5f6.tmp", young, ""},
		"a reference whose write was broken off":  {reference + ".18b2a6f1c3d4e5f6.tmp", old, whyBrokenOff},
		"another program's file":                  {"objects/sha256/README", old, ""},
		"another program's temporary file":        {"objects/sha256/ab/notes.18b2a6f1c3d4e5f6.tmp", old, ""},
		"an object that is not in its own folder": {objectsPrefix + "zz/" + other.hex(), old, ""},
	} {
		t.Run(name, func(t *testing.T) {
			object := Object{Key: test.key, Modified: noon.Add(-test.age)}
			expect.Equal(t, test.want, removalReason(object, marks, 24*time.Hour, noon), "it goes because")
		})
	}
}
