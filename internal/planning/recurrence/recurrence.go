// SPDX-License-Identifier: Apache-2.0

// Package recurrence decides which experiment a PerfSchedule creates next, and when to
// reconcile again. It is pure: a function of the observed state, the recorded status and
// the time. A repeated decision gives an experiment of the same name.
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

// View is the observed state at a time.
type View struct {
	Schedule *v1alpha1.PerfSchedule
	// Children are the experiments that the schedule owns.
	Children []Child
	// Workloads are those of spec.onImageChange, in its order.
	Workloads []Workload
	// Archive: the operator has an archive, to which complete experiments go before they
	// are deleted.
	Archive bool
	Now     time.Time
}

// State of an experiment.
type State int

const (
	// Active has not ended.
	Active State = iota
	// Succeeded is complete.
	Succeeded
	// Failed is stalled: manual action required.
	Failed
)

// Child is an experiment that the schedule owns.
type Child struct {
	Name    string
	UID     types.UID
	Created time.Time
	State   State
	// Unarchived: it is to be archived, and is not yet.
	Unarchived bool
	// Deleting: it is being deleted, with its environment.
	Deleting bool
}

// IsActive reports whether the experiment has not ended, or is still being deleted.
func (c Child) IsActive() bool { return c.State == Active || c.Deleting }

// Record is the recorded status of the schedule. It is written before any action.
type Record struct {
	// LastScheduleTime is the last time of the schedule that was handled; nil if none was.
	LastScheduleTime *metav1.Time
	// Images are the last seen ones, and ImageChanges counts their changes.
	Images       []v1alpha1.SeenImage
	ImageChanges int64
	// Due is the experiment to create; nil if there is none.
	Due *v1alpha1.DueExperiment
}

// Decision is the status to record and the action to take.
type Decision struct {
	Record
	// Create the experiment in Due now.
	Create bool
	// Created is a due experiment that now exists.
	Created *v1alpha1.DueExperiment
	// Missed is a due experiment that can no longer start in time.
	Missed *v1alpha1.DueExperiment
	// Replaced are the experiments to delete before the next is created.
	Replaced []Child
	// Blocked is why a due experiment can't be created; empty if it can.
	Blocked string
	// Skipped is the number of scheduled times without an experiment once this one is created,
	// [Many] for more than 100.
	Skipped int
	// Expired are experiments beyond the history limits.
	Expired []Child
	// Next is the next time of the schedule; zero if there is none.
	Next time.Time
	// Requeue is when time alone changes the decision; zero if never.
	Requeue time.Time
}

// Decide returns what the schedule does now. It fails if the schedule can't be parsed,
// which admission rejects.
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
	// last is the latest time of the schedule that has come and was not handled; zero if
	// there is none. passed counts them, up to Many.
	last   time.Time
	passed int
	// images are the current ones, changed those that differ from the recorded ones.
	images, changed []v1alpha1.SeenImage
}

// checkImages compares current images with the recorded ones. An image that is new is
// recorded and triggers nothing.
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

// settleDue decides on the recorded due experiment: it exists, is still to be created, or
// was missed.
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

// checkTimes finds the last and the next time of the schedule.
func (d *decider) checkTimes(times *Times) {
	if times == nil || d.Schedule.Spec.Suspend {
		return
	}
	since := d.Schedule.CreationTimestamp.Time
	if last := d.LastScheduleTime; last != nil {
		since = last.Time
	}
	// After the clock went back, handled times do not recur.
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

// createDue creates the due experiment, or records what blocks it. A blocked one is
// replaced by a later one of the same trigger.
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

// blockedBy records why an experiment waits, and requeues at its deadline.
func (d *decider) blockedBy(due *v1alpha1.DueExperiment, active []Child) {
	names := make([]string, 0, len(active))
	for _, child := range active {
		names = append(names, child.Name)
	}
	d.Blocked = fmt.Sprintf("the experiment %s waits for %s to finish: concurrencyPolicy is Forbid", title(due), prose.Enumerate(names[:min(len(names), 3)]))
	if deadline, bounded := d.deadline(); bounded && due.Trigger == v1alpha1.TriggerSchedule {
		if end := due.Time.Add(deadline + time.Second); d.Requeue.IsZero() || end.Before(d.Requeue) {
			d.Requeue = end
		}
	}
}

// title describes the trigger of a due experiment.
func title(due *v1alpha1.DueExperiment) string {
	if due.Trigger == v1alpha1.TriggerImageChange {
		return fmt.Sprintf("for the image change to %q", due.Release)
	}
	return "for " + due.Time.UTC().Format(time.RFC3339)
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

// pruneHistory finds the oldest experiments beyond the history limits.
func (d *decider) pruneHistory() {
	spec := &d.Schedule.Spec
	newest := slices.Clone(d.Children)
	slices.SortFunc(newest, func(a, b Child) int {
		// Names order those created within a second.
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
