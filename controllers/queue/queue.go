// SPDX-License-Identifier: Apache-2.0

// Package queue lets one experiment at a time run on the same nodes: by its own Leases, or as Kueue
// admits it.
package queue

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/text/prose"
)

// Queue decides which experiment runs.
type Queue struct{ *component.Tools }

// Waiter is an experiment that needs a turn, as one reconcile sees it.
type Waiter struct {
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// Arms of the plan, and its next or running Block. Starts means that the block has no run yet.
	// Blocks are not interrupted: their runs are comparable because they ran together.
	Arms   []arms.Arm
	Block  int32
	Starts bool
	// Finished is when the active run finished, which only waits for its archive or the end of its
	// faults; nil: it has not, or there is none.
	Finished *metav1.Time
}

// Place is the place of an experiment in a queue.
type Place struct {
	// Status is the place in a queue of Leases; nil: it is in none.
	Status *v1alpha1.LaneStatus
	// Kueue is why Kueue does not admit the experiment; empty: it does, or is not used.
	Kueue string
	// After is the time until the next read of the queue; zero: a watch triggers it.
	After time.Duration
}

// IsWaiting reports whether the experiment has to wait.
func (p Place) IsWaiting() bool { return p.Status != nil && p.Status.Position > 0 || p.Kueue != "" }

// Message describes what the experiment waits for.
func (p Place) Message() string {
	if p.Kueue != "" {
		return p.Kueue
	}
	return fmt.Sprintf("queued: %s in the queue for %s, behind %s", prose.Ordinal(p.Status.Position), p.Status.Name, p.Status.Behind)
}

func (p *Place) requeue(after time.Duration) { p.After = component.MinRequeueAfter(p.After, after) }

// Take reports whether the experiment may start its next run.
func (q Queue) Take(ctx context.Context, w Waiter) (place Place, isNext bool, err error) {
	switch {
	case w.byKueue():
		isNext, err = q.isAdmitted(ctx, w, &place)
	case q.LeaseNamespace == "":
		return place, true, nil
	default:
		isNext, err = q.takeLease(ctx, w, &place)
	}
	return place, isNext, err
}

// Keep keeps the turn of an experiment with an active run.
func (q Queue) Keep(ctx context.Context, w Waiter) (place Place, err error) {
	if q.LeaseNamespace == "" || w.byKueue() {
		return place, nil
	}
	err = q.keepLease(ctx, w, &place)
	return place, err
}

// Finish keeps the turn of a complete experiment while its environment is being deleted, and then
// ends it.
func (q Queue) Finish(ctx context.Context, w Waiter, isTearingDown bool) (place Place, err error) {
	switch {
	case !isTearingDown:
		return place, q.Leave(ctx, w)
	case q.LeaseNamespace == "" || w.byKueue():
		return place, nil
	}
	known, err := q.readLine(ctx, q.Cluster.Client)
	if err != nil {
		return place, err
	}
	if i := known.index(w.Experiment); i >= 0 && !known.tickets[i].Acquired.IsZero() {
		return place, q.hold(ctx, w, known, known.tickets[i], &place)
	}
	return place, q.Leave(ctx, w)
}

// Yield gives up an unused turn if others wait. It keeps Kueue's quota, as Jobs do whose pods are
// refused.
func (q Queue) Yield(ctx context.Context, w Waiter) (hasYielded bool, err error) {
	if q.LeaseNamespace == "" || w.byKueue() {
		return false, nil
	}
	known, err := q.lineFor(ctx, q.Cluster.Client, w)
	if err != nil || !queue.Advance(known.tickets, w.ticketIn(known), true, w.Now).Acquired.IsZero() {
		return false, err
	}
	return true, q.Leave(ctx, w)
}

// Leave ends the turn, or the wait, of an experiment that starts no run for now.
func (q Queue) Leave(ctx context.Context, w Waiter) error {
	switch {
	case w.byKueue():
		return q.leaveKueue(ctx, w)
	case q.LeaseNamespace == "":
		return nil
	}
	return q.leaveLine(ctx, w)
}

// Waiting are the experiments that are next in the queues of Leases.
func (q Queue) Waiting(ctx context.Context, now time.Time) ([]types.NamespacedName, error) {
	known, err := q.readLine(ctx, q.Cluster.Client)
	if err != nil {
		return nil, err
	}
	return queue.New(known.tickets, now).Waiting(soon), nil
}

// soon is how many experiments read the queue again when it moves. Later ones do so when they renew
// their tickets.
const soon = 10

// systems are the systems of the arms.
func (w Waiter) systems() []v1alpha1.System {
	systems := make([]v1alpha1.System, 0, len(w.Arms))
	for i := range w.Arms {
		systems = append(systems, w.Arms[i].System)
	}
	return systems
}

// Cleans reports whether the environment of a complete experiment is being deleted at once, which
// disturbs runs on the same nodes.
func Cleans(experiment *v1alpha1.PerfExperiment, now time.Time) bool {
	cleanup, status := experiment.Spec.Cleanup, &experiment.Status
	if cleanup.Policy == v1alpha1.CleanupRetain || cleanup.TTLOrDefault() > 0 || status.TornDown != nil {
		return false
	}
	return status.CompletionTime == nil || now.Sub(status.CompletionTime.Time) < maxCleaning
}

// maxCleaning bounds how long others wait for the environment of a complete experiment to be
// deleted: if that hangs, they run anyway.
const maxCleaning = 5 * time.Minute
