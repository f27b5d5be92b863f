// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Entry is an experiment's place in the line: it measures, or waits for its turn.
type Entry struct {
	// Experiment that has the ticket, and its UID.
	Experiment types.NamespacedName
	UID        types.UID
	// Lane is what it takes up when it measures.
	Lane Lane
	// Queued is when it first asked for a turn.
	Queued time.Time
	// Acquired is since when it has its turn; zero: it waits.
	Acquired time.Time
	// Released is when its last turn ended, or that of another experiment of its
	// namespace which is over; zero: there was none.
	Released time.Time
	// Renewed is when an operator last cared for it.
	Renewed time.Time
}

// Lifetime is how long a ticket is good for that no operator cares for: as long as an
// operator may be away before others go ahead.
const Lifetime = 30 * time.Minute

// Expired reports whether nobody has cared for the ticket for so long that nobody
// waits for it any more.
func (t *Entry) Expired(now time.Time) bool { return now.Sub(t.Renewed) > Lifetime }

// Queue is who measures and who waits.
type Queue struct {
	// active have their turn. waiting are in the order of their turns.
	active, waiting []Entry
}

// New puts tickets in line. Namespaces take turns, beginning with the one that
// has waited longest since its last turn; within a namespace who came first goes
// first. Expired tickets are left out.
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

// lastReleases are when the last turn of each namespace ended. One that has its turn now
// has it until now.
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

// compareQueued orders tickets that arrived in the same second by name.
func compareQueued(a, b Entry) int {
	return cmp.Or(a.Queued.Compare(b.Queued), cmp.Compare(a.Experiment.String(), b.Experiment.String()))
}

// Position is where in the line an experiment is.
type Position struct {
	// Index is how many turns it is until its own: 0, it is its turn.
	Index int
	// Behind is the experiment just before it: the one that measures, for the first
	// in line.
	Behind types.NamespacedName
}

// Position is where somebody stands in the line who is in it and waits.
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

// ConflictingEntry is another experiment that has its turn where this one would measure;
// nil: there is none.
func (l Queue) ConflictingEntry(ticket *Entry) *Entry {
	for i := range l.active {
		if holder := &l.active[i]; holder.Experiment != ticket.Experiment && holder.Lane.Overlaps(ticket.Lane) {
			return holder
		}
	}
	return nil
}

// Waiting are those who wait and for whom it can be their turn before many others'.
func (l Queue) Waiting(most int) []types.NamespacedName {
	var next []types.NamespacedName
	for i := range l.waiting {
		if l.Position(&l.waiting[i]).Index <= most {
			next = append(next, l.waiting[i].Experiment)
		}
	}
	return next
}

// Advance is the ticket of somebody who wants to go on, as it is to be now: with a turn
// if it is its own, and without one if it is another's. Only at the beginning of a block
// is a turn given up for others who wait.
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

// Others are the tickets but one.
func Others(tickets []Entry, but *Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(tickets), func(ticket Entry) bool { return ticket.Experiment == but.Experiment })
}

// Equal reports whether both tickets say the same, whenever they were renewed.
func (t *Entry) Equal(other *Entry) bool {
	return t.Lane.Equal(other.Lane) && t.Acquired.Equal(other.Acquired) && t.Released.Equal(other.Released)
}
