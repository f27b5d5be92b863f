// SPDX-License-Identifier: Apache-2.0

// Package recurrence decides which experiment a PerfSchedule is to make next, and when to
// look again. It is pure: what is there, what was written down and the time go in, and
// what to write down and to do comes out. What is decided twice is the same experiment,
// by its name.
package recurrence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// View is what there is at a time.
type View struct {
	Schedule *v1alpha1.PerfSchedule
	// Children are the experiments that the schedule owns.
	Children []Child
	// Workloads are those of spec.onImageChange, in its order.
	Workloads []Workload
	// Archive: the operator has one, which is to have what is complete before it is
	// deleted.
	Archive bool
	Now     time.Time
}

// State is how far an experiment is.
type State int

const (
	// Active has not ended.
	Active State = iota
	// Succeeded is complete.
	Succeeded
	// Failed is stalled: it waits for a person.
	Failed
)

// Child is an experiment that the schedule owns.
type Child struct {
	Name    string
	UID     types.UID
	Created time.Time
	State   State
	// Unarchived: an archive would be about to have it, and does not yet.
	Unarchived bool
	// Deleting: it is on its way out, with its environment.
	Deleting bool
}

// IsActive says that it has not ended, or is not gone yet.
func (c Child) IsActive() bool { return c.State == Active || c.Deleting }

// Record is what the schedule remembers. It is written down before anything is done.
type Record struct {
	// LastScheduleTime is the last time of the schedule that was acted on; nil: none.
	LastScheduleTime *metav1.Time
	// Images are those that were seen last, and ImageChanges is how often they have
	// changed.
	Images       []v1alpha1.SeenImage
	ImageChanges int64
	// Due is the experiment that is to be made; nil: none.
	Due *v1alpha1.DueExperiment
}

// Decision is what to write down and to do.
type Decision struct {
	Record
	// Create what is in Making, now.
	Create bool
	// Created is one that was written down before and is there.
	Created *v1alpha1.DueExperiment
	// Missed is one that was written down before, and can't be made in time any more.
	Missed *v1alpha1.DueExperiment
	// Replaced are the experiments to delete before one is made.
	Replaced []Child
	// Blocked is what keeps an experiment that is due from being made; empty: nothing.
	Blocked string
	// Skipped is how many times of the schedule pass without an experiment of their own
	// when this one is made, [Many] for more than 100.
	Skipped int
	// Expired are experiments that the limits of history leave no room for.
	Expired []Child
	// Next is the next time of the schedule; zero: there is none.
	Next time.Time
	// Requeue is when something changes by time alone; zero: never.
	Requeue time.Time
}

// Decide what the schedule is to do now. The error is of a schedule that can't be read,
// which admission refuses.
func Decide(view View) (Decision, error) {
	times, err := scheduleTimes(&view.Schedule.Spec)
	if err != nil {
		return Decision{}, err
	}
	status := &view.Schedule.Status
	d := &decider{View: view}
	d.LastScheduleTime, d.ImageChanges = status.LastScheduleTime, status.ImageChanges
	d.checkImages(status.Images)
	d.settleDue(status.Making)
	d.checkTimes(times)
	if !view.Schedule.Spec.Suspend {
		d.createDue()
	}
	d.pruneHistory()
	return d.Decision, nil
}

type decider struct {
	View
	Decision
	// last is the latest time of the schedule that has come and was not acted on; zero:
	// there is none. passed is how many there are, up to Many.
	last   time.Time
	passed int
	// images are those there are now, changed the ones among them that are other than
	// the ones remembered.
	images, changed []v1alpha1.SeenImage
}

// checkImages compares what is there with what was remembered. What is seen for the
// first time is remembered at once, and changes nothing.
func (d *decider) checkImages(remembered []v1alpha1.SeenImage) {
	rolling := false
	for _, workload := range d.Workloads {
		seen := workload.Images
		if !workload.IsSettled() {
			rolling = rolling || workload.Waiting != ""
			seen = workload.among(remembered)
		}
		for _, image := range seen {
			if find(d.images, image) != nil {
				continue
			}
			known := find(remembered, image)
			if known == nil || identity(known.Image) == identity(image.Image) {
				known = &image
			} else {
				d.changed = append(d.changed, image)
			}
			d.images, d.Images = append(d.images, image), append(d.Images, *known)
		}
	}
	if rolling {
		d.changed = nil
	}
}

// settleDue what was written down before: it is there, to be made still, or too late.
func (d *decider) settleDue(written *v1alpha1.DueExperiment) {
	deadline, bounded := d.deadline()
	switch {
	case written == nil:
	case slices.ContainsFunc(d.Children, func(child Child) bool { return child.Name == written.Name }):
		d.Created = written
	case written.Trigger == v1alpha1.TriggerSchedule && bounded && d.Now.Sub(written.Time.Time) > deadline:
		d.Missed = written
	default:
		d.Due = written
	}
}

// checkTimes finds the times of the schedule around now.
func (d *decider) checkTimes(times *Times) {
	if times == nil || d.Schedule.Spec.Suspend {
		return
	}
	since := d.Schedule.CreationTimestamp.Time
	if last := d.LastScheduleTime; last != nil {
		since = last.Time
	}
	// Where the clock went back, what was acted on does not come again.
	d.Next = times.After(latest(since, d.Now))
	d.Requeue = d.Next
	if deadline, bounded := d.deadline(); bounded {
		since = latest(since, d.Now.Add(-deadline))
	}
	d.last, d.passed = times.Passed(since, d.Now)
}

func (d *decider) deadline() (time.Duration, bool) {
	seconds := d.Schedule.Spec.StartingDeadlineSeconds
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds) * time.Second, true
}

// createDue makes what is due, or says what holds it. What was written down and could not be
// made gives way to a later one of the same trigger.
func (d *decider) createDue() {
	due, memory := d.Due, d.Record
	switch {
	case !d.last.IsZero() && (due == nil || due.Trigger == v1alpha1.TriggerSchedule):
		memory.LastScheduleTime = &metav1.Time{Time: d.last}
		due = d.experiment(naming.ScheduledExperiment(d.Schedule.Name, d.last), v1alpha1.TriggerSchedule, d.last)
	case len(d.changed) > 0 && (due == nil || due.Trigger == v1alpha1.TriggerImageChange):
		memory.Images, memory.ImageChanges = d.images, memory.ImageChanges+1
		due = d.experiment(naming.ImageChangeExperiment(d.Schedule, memory.ImageChanges, d.images), v1alpha1.TriggerImageChange, d.Now)
	}
	if due == nil {
		return
	}
	active := d.active()
	switch d.Schedule.Spec.ConcurrencyPolicy {
	case v1alpha1.AllowConcurrent:
	case v1alpha1.ReplaceConcurrent:
		d.Replaced = slices.DeleteFunc(active, func(child Child) bool { return child.Deleting })
	default:
		if len(active) > 0 {
			d.blockedBy(due, active)
			return
		}
	}
	memory.Due = due
	d.Record, d.Create, d.Skipped = memory, true, max(d.passed-1, 0)
}

// blockedBy says why an experiment waits, and looks again when its time is over.
func (d *decider) blockedBy(due *v1alpha1.DueExperiment, active []Child) {
	names := make([]string, 0, len(active))
	for _, child := range active {
		names = append(names, child.Name)
	}
	d.Blocked = fmt.Sprintf("experiment %s waits for the end of %s, with concurrencyPolicy Forbid", title(due), prose.Enumerate(names[:min(len(names), 3)]))
	if deadline, bounded := d.deadline(); bounded && due.Trigger == v1alpha1.TriggerSchedule {
		if end := due.Time.Add(deadline + time.Second); d.Requeue.IsZero() || end.Before(d.Requeue) {
			d.Requeue = end
		}
	}
}

// title says what an experiment that is due was brought about by.
func title(due *v1alpha1.DueExperiment) string {
	if due.Trigger == v1alpha1.TriggerImageChange {
		return fmt.Sprintf("of the images' change to %q", due.Release)
	}
	return "of " + due.Time.UTC().Format(time.RFC3339)
}

func (d *decider) active() []Child {
	var active []Child
	for _, child := range d.Children {
		if child.IsActive() {
			active = append(active, child)
		}
	}
	return active
}

func (d *decider) experiment(name string, trigger v1alpha1.Trigger, due time.Time) *v1alpha1.DueExperiment {
	images := d.images
	if trigger == v1alpha1.TriggerImageChange {
		images = d.changed
	}
	return &v1alpha1.DueExperiment{
		Name: name, Trigger: trigger, Time: metav1.Time{Time: due.Truncate(time.Second)},
		Release: Release(&d.Schedule.Spec, trigger, due, images),
	}
}

// pruneHistory finds what the limits of history leave no room for: the oldest.
func (d *decider) pruneHistory() {
	spec := &d.Schedule.Spec
	newest := slices.Clone(d.Children)
	slices.SortFunc(newest, func(a, b Child) int {
		// Names tell the order of those made within a second.
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Name, a.Name))
	})
	limits := map[State]*int32{Succeeded: spec.SuccessfulExperimentsHistoryLimit, Failed: spec.FailedExperimentsHistoryLimit}
	kept := map[State]int32{}
	for _, child := range newest {
		limit := limits[child.State]
		if limit == nil || child.Deleting {
			continue
		}
		kept[child.State]++
		if kept[child.State] > *limit && (!d.Archive || !child.Unarchived) {
			d.Expired = append(d.Expired, child)
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
