// SPDX-License-Identifier: Apache-2.0

package recurrence_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/recurrence"
	"perflab.dev/perflab/internal/testing/expect"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	expect.NoError(t, err)
	return parsed
}

// nightly was created at noon on March 1, and creates an experiment at two o'clock.
func nightly(t *testing.T) *v1alpha1.PerfSchedule {
	t.Helper()
	schedule := &v1alpha1.PerfSchedule{Spec: v1alpha1.PerfScheduleSpec{Schedule: "0 2 * * *", ConcurrencyPolicy: v1alpha1.ForbidConcurrent}}
	schedule.Name, schedule.UID = "nightly", "u"
	schedule.CreationTimestamp = metav1.Time{Time: at(t, "2026-03-01T12:00:00Z")}
	return schedule
}

func decide(t *testing.T, view recurrence.View) recurrence.Decision {
	t.Helper()
	decision, err := recurrence.Decide(view)
	expect.NoError(t, err)
	return decision
}

// night is the experiment of March 2.
const night = "nightly-29540280"

func TestTimes(t *testing.T) {
	on := recurrence.Child{Name: "nightly-1", UID: "1"}
	for reason, c := range map[string]struct {
		now      string
		edit     func(*v1alpha1.PerfSchedule)
		children []recurrence.Child
		// made is the created experiment, held why one is blocked, skipped the skipped times.
		made, held string
		skipped    int
		replaced   []recurrence.Child
		late       string
		look       string
	}{
		"it is not yet due":                        {now: "2026-03-02T01:59:59Z", look: "2026-03-02T02:00:00Z"},
		"it is due now":                            {now: "2026-03-02T02:00:00Z", made: night, look: "2026-03-03T02:00:00Z"},
		"it was due while no operator ran":         {now: "2026-03-02T09:00:00Z", made: night, look: "2026-03-03T02:00:00Z"},
		"the last of those missed stands for all":  {now: "2026-03-05T09:00:00Z", made: "nightly-29544600", skipped: 3, look: "2026-03-06T02:00:00Z"},
		"a hundred missed are not counted further": {now: "2027-03-01T09:00:00Z", made: "nightly-30064440", skipped: 100, look: "2027-03-02T02:00:00Z"},
		"what was acted on is not due again": {now: "2026-03-02T09:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Status.LastScheduleTime = &metav1.Time{Time: at(t, "2026-03-02T02:00:00Z")}
		}, look: "2026-03-03T02:00:00Z"},
		"the clock went back": {now: "2026-03-02T09:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Status.LastScheduleTime = &metav1.Time{Time: at(t, "2026-03-20T02:00:00Z")}
		}, look: "2026-03-21T02:00:00Z"},
		"it is too late": {now: "2026-03-02T02:10:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Spec.StartingDeadlineSeconds = ptr.To[int64](300)
		}, look: "2026-03-03T02:00:00Z"},
		"it is late, but in time": {now: "2026-03-02T02:04:59Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Spec.StartingDeadlineSeconds = ptr.To[int64](300)
		}, made: night, look: "2026-03-03T02:00:00Z"},
		"it is suspended": {now: "2026-03-02T09:00:00Z", edit: func(s *v1alpha1.PerfSchedule) { s.Spec.Suspend = true }},
		"an earlier one is on": {
			now: "2026-03-02T02:00:00Z", children: []recurrence.Child{on},
			held: "the experiment for 2026-03-02T02:00:00Z waits for nightly-1 to finish: concurrencyPolicy is Forbid", look: "2026-03-03T02:00:00Z",
		},
		"an earlier one is on, and there is a deadline": {
			now: "2026-03-02T02:00:00Z", children: []recurrence.Child{on}, edit: func(s *v1alpha1.PerfSchedule) {
				s.Spec.StartingDeadlineSeconds = ptr.To[int64](300)
			},
			held: "the experiment for 2026-03-02T02:00:00Z waits for nightly-1 to finish: concurrencyPolicy is Forbid", look: "2026-03-02T02:05:01Z",
		},
		"an earlier one is being taken down": {
			now: "2026-03-02T02:00:00Z", children: []recurrence.Child{{Name: "nightly-1", State: recurrence.Succeeded, Deleting: true}},
			held: "the experiment for 2026-03-02T02:00:00Z waits for nightly-1 to finish: concurrencyPolicy is Forbid", look: "2026-03-03T02:00:00Z",
		},
		"an earlier one is complete, another stalled": {
			now:      "2026-03-02T02:00:00Z",
			children: []recurrence.Child{{Name: "nightly-1", State: recurrence.Succeeded}, {Name: "nightly-2", State: recurrence.Failed}},
			made:     night, look: "2026-03-03T02:00:00Z",
		},
		"an earlier one is on, which is allowed": {
			now: "2026-03-02T02:00:00Z", children: []recurrence.Child{on}, edit: func(s *v1alpha1.PerfSchedule) {
				s.Spec.ConcurrencyPolicy = v1alpha1.AllowConcurrent
			}, made: night, look: "2026-03-03T02:00:00Z",
		},
		"an earlier one is on, and replaced": {
			now: "2026-03-02T02:00:00Z", children: []recurrence.Child{on, {Name: "nightly-2", Deleting: true}}, edit: func(s *v1alpha1.PerfSchedule) {
				s.Spec.ConcurrencyPolicy = v1alpha1.ReplaceConcurrent
			}, made: night, replaced: []recurrence.Child{on}, look: "2026-03-03T02:00:00Z",
		},
		"one was written down and never made": {now: "2026-03-02T09:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Status.LastScheduleTime = &metav1.Time{Time: at(t, "2026-03-02T02:00:00Z")}
			s.Status.Making = &v1alpha1.DueExperiment{Name: night, Trigger: v1alpha1.TriggerSchedule, Time: *s.Status.LastScheduleTime}
		}, made: night, look: "2026-03-03T02:00:00Z"},
		"one was written down, and is too late by now": {now: "2026-03-02T09:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Spec.StartingDeadlineSeconds = ptr.To[int64](300)
			s.Status.LastScheduleTime = &metav1.Time{Time: at(t, "2026-03-02T02:00:00Z")}
			s.Status.Making = &v1alpha1.DueExperiment{Name: night, Trigger: v1alpha1.TriggerSchedule, Time: *s.Status.LastScheduleTime}
		}, late: night, look: "2026-03-03T02:00:00Z"},
		"one that can't be made gives way to the next": {now: "2026-03-03T02:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Status.LastScheduleTime = &metav1.Time{Time: at(t, "2026-03-02T02:00:00Z")}
			s.Status.Making = &v1alpha1.DueExperiment{Name: night, Trigger: v1alpha1.TriggerSchedule, Time: *s.Status.LastScheduleTime}
		}, made: "nightly-29541720", look: "2026-03-04T02:00:00Z"},
		"in another time zone": {now: "2026-03-02T01:00:00Z", edit: func(s *v1alpha1.PerfSchedule) {
			s.Spec.TimeZone = "Europe/Berlin"
		}, made: "nightly-29540220", look: "2026-03-03T01:00:00Z"},
	} {
		t.Run(reason, func(t *testing.T) {
			schedule := nightly(t)
			if c.edit != nil {
				c.edit(schedule)
			}
			d := decide(t, recurrence.View{Schedule: schedule, Children: c.children, Now: at(t, c.now)})
			made, late := "", ""
			if d.Create {
				made = d.Due.Name
			}
			if d.Missed != nil {
				late = d.Missed.Name
			}
			if made != c.made || d.Blocked != c.held || d.Skipped != c.skipped || late != c.late {
				t.Errorf("made %q, held %q, skipped %d, late %q", made, d.Blocked, d.Skipped, late)
			}
			expect.Equal(t, c.replaced, d.Replaced, "replaced")
			look := ""
			if !d.Requeue.IsZero() {
				look = d.Requeue.Format(time.RFC3339)
			}
			expect.Equal(t, c.look, look, "looks again at")
		})
	}
}

// A recorded experiment that exists is settled, even if the schedule is suspended.
func TestDecideSettlesCreatedExperiment(t *testing.T) {
	schedule := nightly(t)
	schedule.Spec.Suspend = true
	schedule.Status.Making = &v1alpha1.DueExperiment{Name: night}
	d := decide(t, recurrence.View{Schedule: schedule, Children: []recurrence.Child{{Name: night}}, Now: at(t, "2026-03-02T09:00:00Z")})
	if d.Created == nil || d.Due != nil || d.Create {
		t.Errorf("%+v", d)
	}
}

func TestDecideRejectsInvalidSchedule(t *testing.T) {
	for schedule, c := range map[string]struct{ zone, wrong string }{
		"61 * * * *":             {"", "write minute, hour, day of the month, month and day of the week"},
		"* * * *":                {"", "write minute, hour"},
		"0 0 2 * * *":            {"", "write minute, hour"},
		"CRON_TZ=UTC 0 2 * * *":  {"", "write it into timeZone"},
		"TZ=UTC 0 2 * * *":       {"", "write it into timeZone"},
		"@every 1h":              {"", "*/30 * * * *"},
		"@fortnightly":           {"", "@daily"},
		"0 0 31 2 *":             {"", "never occurs"},
		"0 2 * * *":              {"Europe/Atlantis", "Europe/Berlin"},
		"@daily":                 {"Local", `"Local" is the operator's own time zone`},
		strings.Repeat("1,", 99): {"", "write minute"},
	} {
		if _, err := recurrence.NewTimes(schedule, c.zone); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q (%s): %v, want %q", schedule, c.zone, err, c.wrong)
		}
	}
	for _, schedule := range []string{"0 2 * * 1-5", "*/15 8-18 * * MON", "@daily", "@weekly", "0 0 29 2 *"} {
		if _, err := recurrence.NewTimes(schedule, "America/New_York"); err != nil {
			t.Errorf("%q: %v", schedule, err)
		}
	}
}

// zones include some whose clocks change, by an hour and by half an hour, also at midnight, and
// some whose clocks don't.
var zones = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu", "Africa/Casablanca"}

var schedules = []string{"30 2 * * *", "* * * * *", "0 0 * * *", "*/20 1-3 * * *", "0 2 * * 0", "@hourly", "59 23 31 12 *"}

// around returns a time near a change of the clocks, or anywhere in two years.
func around(random *rand.Rand) time.Time {
	day := []string{"2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z", "2026-11-01T04:00:00Z", "2026-03-08T05:00:00Z", "2026-04-04T13:00:00Z", "2026-09-06T03:00:00Z"}[random.IntN(6)]
	moment, _ := time.Parse(time.RFC3339, day)
	if random.IntN(4) == 0 {
		return moment.Add(time.Duration(random.IntN(365*24)) * time.Hour)
	}
	return moment.Add(time.Duration(random.IntN(8*3600)-4*3600) * time.Second)
}

// The last past time and the number of past times equal those of a linear search, in any zone and
// across any change of clocks.
func TestPassedCountsTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 6))
	for range 400 {
		schedule, zone := schedules[random.IntN(len(schedules))], zones[random.IntN(len(zones))]
		times, err := recurrence.NewTimes(schedule, zone)
		expect.NoError(t, err)
		since := around(random)
		now := since.Add(time.Duration(random.IntN(3*24*3600)) * time.Second)
		var want time.Time
		count := 0
		for next := times.After(since); !next.After(now); next = times.After(next) {
			if !next.After(want) {
				t.Fatalf("%s (%s): %s comes after %s", schedule, zone, next, want)
			}
			want, count = next, count+1
		}
		last, got := times.Passed(since, now)
		if !last.Equal(want) || got != min(count, recurrence.Many) {
			t.Errorf("%s (%s) from %s to %s: %s and %d, want %s and %d", schedule, zone, since, now, last, got, want, count)
		}
	}
}

// world is a cluster with a schedule, whose operator can be killed at any time.
type world struct {
	schedule *v1alpha1.PerfSchedule
	now      time.Time
	children []recurrence.Child
	image    string
	// made counts the creations of each name.
	made map[string]int
}

func (w *world) view() recurrence.View {
	view := recurrence.View{Schedule: w.schedule, Children: slices.Clone(w.children), Now: w.now}
	for _, source := range w.schedule.Spec.OnImageChange {
		view.Workloads = append(view.Workloads, recurrence.Workload{
			Source: source, Images: []v1alpha1.SeenImage{{Kind: source.Kind, Name: source.Name, Container: "c", Image: w.image}},
		})
	}
	return view
}

// pass is one reconcile, killed after this many writes.
func (w *world) pass(t *testing.T, writes int) {
	t.Helper()
	d := decide(t, w.view())
	remember := func(memory recurrence.Record) {
		status := &w.schedule.Status
		status.LastScheduleTime, status.Images, status.ImageChanges, status.Making = memory.LastScheduleTime, memory.Images, memory.ImageChanges, memory.Due
	}
	if d.Create {
		if writes--; writes < 0 {
			return
		}
		remember(d.Record)
		if writes--; writes < 0 {
			return
		}
		name := d.Due.Name
		if !slices.ContainsFunc(w.children, func(child recurrence.Child) bool { return child.Name == name }) {
			w.children = append(w.children, recurrence.Child{Name: name, Created: w.now})
			w.made[name]++
		}
		d.Due = nil
	}
	if writes--; writes >= 0 {
		remember(d.Record)
	}
}

// However often the operator is killed or the clock changes, no experiment is created twice, no two
// are active at once, and the last time and the last image are measured eventually.
func TestDecideIsIdempotent(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		schedule := nightly(t)
		schedule.Spec.Schedule, schedule.Spec.TimeZone = schedules[random.IntN(len(schedules)-1)], zones[random.IntN(len(zones))]
		schedule.Spec.OnImageChange = []v1alpha1.ImageSource{{Kind: "Deployment", Name: "d"}}
		schedule.CreationTimestamp = metav1.Time{Time: around(random)}
		w := &world{schedule: schedule, now: schedule.CreationTimestamp.Time, image: "a:0", made: map[string]int{}}
		w.pass(t, 9)
		for step := range 150 {
			w.now = w.now.Add(time.Duration(random.IntN(90)-5) * time.Minute)
			if random.IntN(20) == 0 {
				w.image = fmt.Sprintf("a:%d", random.IntN(3))
			}
			if random.IntN(3) == 0 {
				for i := range w.children {
					w.children[i].State = recurrence.Succeeded
				}
			}
			w.pass(t, random.IntN(4))
			on := 0
			for _, child := range w.children {
				if child.IsActive() {
					on++
				}
			}
			if on > 1 {
				t.Fatalf("seed %d, step %d: %d are on at once", seed, step, on)
			}
		}
		for range 4 {
			for i := range w.children {
				w.children[i].State = recurrence.Succeeded
			}
			w.pass(t, 9)
		}
		for name, count := range w.made {
			if count > 1 {
				t.Errorf("seed %d: %s was made %d times", seed, name, count)
			}
		}
		if d := decide(t, w.view()); d.Create || d.Blocked != "" {
			t.Errorf("seed %d: it does not come to rest: %+v", seed, d)
		}
		if image := w.schedule.Status.Images[0].Image; image != w.image {
			t.Errorf("seed %d: %s is there, and %s was measured last", seed, w.image, image)
		}
	}
}

func TestDecidePrunesOldestHistory(t *testing.T) {
	day := func(n int) time.Time { return at(t, "2026-03-01T00:00:00Z").AddDate(0, 0, n) }
	children := []recurrence.Child{
		{Name: "oldest", State: recurrence.Succeeded, Created: day(0)},
		{Name: "older", State: recurrence.Succeeded, Created: day(1), Unarchived: true},
		{Name: "failed-older", State: recurrence.Failed, Created: day(2)},
		{Name: "going", State: recurrence.Succeeded, Created: day(3), Deleting: true},
		{Name: "newer", State: recurrence.Succeeded, Created: day(4)},
		{Name: "failed-newer", State: recurrence.Failed, Created: day(5), Unarchived: true},
		{Name: "on", Created: day(6)},
	}
	for reason, c := range map[string]struct {
		successful, failed *int32
		archive            bool
		want               []string
	}{
		"all stay":                              {},
		"the newest complete one stays":         {successful: ptr.To[int32](1), want: []string{"older", "oldest"}},
		"what the archive lacks stays":          {successful: ptr.To[int32](1), archive: true, want: []string{"oldest"}},
		"none of the complete ones stays":       {successful: ptr.To[int32](0), want: []string{"newer", "older", "oldest"}},
		"failed ones have their own limit":      {failed: ptr.To[int32](1), want: []string{"failed-older"}},
		"failed ones without a run may go":      {failed: ptr.To[int32](0), archive: true, want: []string{"failed-older"}},
		"there is room for more than there are": {successful: ptr.To[int32](9), failed: ptr.To[int32](9)},
	} {
		t.Run(reason, func(t *testing.T) {
			schedule := nightly(t)
			schedule.Spec.SuccessfulExperimentsHistoryLimit, schedule.Spec.FailedExperimentsHistoryLimit = c.successful, c.failed
			var got []string
			for _, child := range decide(t, recurrence.View{Schedule: schedule, Children: children, Archive: c.archive, Now: day(0)}).Expired {
				got = append(got, child.Name)
			}
			expect.Equal(t, c.want, got, "taken away")
		})
	}
}

// The documented times on days when clocks change.
func TestTimesAcrossDaylightSaving(t *testing.T) {
	times, err := recurrence.NewTimes("30 2 * * *", "Europe/Berlin")
	expect.NoError(t, err)
	for since, want := range map[string]string{
		"2026-03-28T12:00:00Z": "2026-03-30T00:30:00Z", // There is no half past two on the 29th.
		"2026-10-24T12:00:00Z": "2026-10-25T00:30:00Z", // It is half past two twice.
		"2026-10-25T00:30:00Z": "2026-10-25T01:30:00Z", // The second.
	} {
		expect.Equal(t, want, times.After(at(t, since)).Format(time.RFC3339), "after %s", since)
	}
}
