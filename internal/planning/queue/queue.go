// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Entry is an experiment in the queue: it measures, or waits.
type Entry struct {
	// Experiment of the entry, and its UID.
	Experiment types.NamespacedName
	UID        types.UID
	// Lane that the experiment occupies while it measures.
	Lane Lane
	// Queued is when the experiment entered the queue.
	Queued time.Time
	// Acquired is since when it measures; zero if it waits.
	Acquired time.Time
	// Released is when it last stopped measuring, or when a finished experiment of its
	// namespace did; zero if never.
	Released time.Time
	// Renewed is when an operator last renewed the entry.
	Renewed time.Time
}

// Lifetime of an entry that no operator renews: the longest time that an operator may be
// unavailable before other experiments go ahead.
const Lifetime = 30 * time.Minute

// Expired reports whether the entry was not renewed in time, so that no other experiment
// waits for it.
func (t *Entry) Expired(now time.Time) bool { return now.Sub(t.Renewed) > Lifetime }

// Queue holds the experiments that measure and those that wait.
type Queue struct {
	// active entries measure. waiting entries are in their order.
	active, waiting []Entry
}

// New sorts entries into a queue. Namespaces alternate, beginning with the one that has
// waited longest since it last measured; within a namespace the oldest entry is first.
// Expired entries are left out.
func New(tickets []Entry, now time.Time) Queue {
	var line Queue
	queues := map[string][]Entry{}
	for i := range tickets {
		ticket := tickets[i]
		switch {
		case ticket.Expired(now):
		case !ticket.Acquired.IsZero():
			line.active = append(line.active, ticket)
		default:
			namespace := ticket.Experiment.Namespace
			queues[namespace] = append(queues[namespace], ticket)
		}
	}
	line.waiting = roundRobin(queues, lastReleases(tickets))
	return line
}

// lastReleases returns when each namespace last stopped measuring. A namespace that
// measures counts from its start.
func lastReleases(tickets []Entry) map[string]time.Time {
	last := map[string]time.Time{}
	for i := range tickets {
		namespace := tickets[i].Experiment.Namespace
		for _, at := range []time.Time{tickets[i].Released, tickets[i].Acquired} {
			if at.After(last[namespace]) {
				last[namespace] = at
			}
		}
	}
	return last
}

func roundRobin(queues map[string][]Entry, last map[string]time.Time) []Entry {
	namespaces := make([]string, 0, len(queues))
	for namespace, queue := range queues {
		slices.SortFunc(queue, compareQueued)
		namespaces = append(namespaces, namespace)
	}
	since := func(namespace string) time.Time {
		if ended := last[namespace]; !ended.IsZero() {
			return ended
		}
		return queues[namespace][0].Queued
	}
	slices.SortFunc(namespaces, func(a, b string) int { return cmp.Or(since(a).Compare(since(b)), cmp.Compare(a, b)) })
	var order []Entry
	for round := 0; len(namespaces) > 0; round++ {
		namespaces = slices.DeleteFunc(namespaces, func(namespace string) bool { return len(queues[namespace]) <= round })
		for _, namespace := range namespaces {
			order = append(order, queues[namespace][round])
		}
	}
	return order
}

// compareQueued orders entries by age, and entries of the same second by name.
func compareQueued(a, b Entry) int {
	return cmp.Or(a.Queued.Compare(b.Queued), cmp.Compare(a.Experiment.String(), b.Experiment.String()))
}

// Position is an experiment's position in the queue.
type Position struct {
	// Index is the number of experiments ahead; 0 if it may measure.
	Index int
	// Behind is the experiment directly ahead: for the first in the queue, the one that
	// measures.
	Behind types.NamespacedName
}

// Position returns the position of a waiting entry.
func (l Queue) Position(ticket *Entry) Position {
	var before Position
	if holder := l.ConflictingEntry(ticket); holder != nil {
		before = Position{1, holder.Experiment}
	}
	for i := range l.waiting {
		other := &l.waiting[i]
		if other.Experiment == ticket.Experiment {
			break
		}
		if other.Lane.Overlaps(ticket.Lane) {
			before = Position{before.Index + 1, other.Experiment}
		}
	}
	return before
}

// ConflictingEntry returns another experiment that measures in an overlapping lane; nil if
// there is none.
func (l Queue) ConflictingEntry(ticket *Entry) *Entry {
	for i := range l.active {
		if holder := &l.active[i]; holder.Experiment != ticket.Experiment && holder.Lane.Overlaps(ticket.Lane) {
			return holder
		}
	}
	return nil
}

// Waiting returns the waiting experiments with at most this many ahead.
func (l Queue) Waiting(most int) []types.NamespacedName {
	var next []types.NamespacedName
	for i := range l.waiting {
		if l.Position(&l.waiting[i]).Index <= most {
			next = append(next, l.waiting[i].Experiment)
		}
	}
	return next
}

// Advance returns the updated entry of an experiment that is ready to continue: acquired if it may
// measure, and released if another goes first. It yields to waiting experiments only at the
// beginning of a block.
func Advance(tickets []Entry, mine Entry, atBlock bool, now time.Time) Entry {
	mine.Renewed = now
	waits := mine
	waits.Acquired = time.Time{}
	if !mine.Acquired.IsZero() {
		if !atBlock {
			return mine
		}
		waits.Released = now
	}
	first := New(append(Others(tickets, &mine), waits), now).Position(&waits).Index == 0
	switch {
	case !first:
		return waits
	case mine.Acquired.IsZero():
		mine.Acquired = now
	}
	return mine
}

// Others returns the entries except one.
func Others(tickets []Entry, but *Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(tickets), func(ticket Entry) bool { return ticket.Experiment == but.Experiment })
}

// Equal reports whether both entries are equal except for their renewal.
func (t *Entry) Equal(other *Entry) bool {
	return t.Lane.Equal(other.Lane) && t.Acquired.Equal(other.Acquired) && t.Released.Equal(other.Released)
}
