// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Ticket is an experiment's place in the line: it measures, or waits for its turn.
type Ticket struct {
	// Experiment that has the ticket, and its UID.
	Experiment types.NamespacedName
	UID        types.UID
	// Lane is what it takes up when it measures.
	Lane Lane
	// Arrived is when it first asked for a turn.
	Arrived time.Time
	// Held is since when it has its turn; zero: it waits.
	Held time.Time
	// Ended is when its last turn ended, or that of another experiment of its
	// namespace which is over; zero: there was none.
	Ended time.Time
	// Renewed is when an operator last cared for it.
	Renewed time.Time
}

// Lifetime is how long a ticket is good for that no operator cares for: as long as an
// operator may be away before others go ahead.
const Lifetime = 30 * time.Minute

// Expired reports whether nobody has cared for the ticket for so long that nobody
// waits for it any more.
func (t *Ticket) Expired(now time.Time) bool { return now.Sub(t.Renewed) > Lifetime }

// Line is who measures and who waits.
type Line struct {
	// holding have their turn. waiting are in the order of their turns.
	holding, waiting []Ticket
}

// LineOf puts tickets in line. Namespaces take turns, beginning with the one that
// has waited longest since its last turn; within a namespace who came first goes
// first. Expired tickets are left out.
func LineOf(tickets []Ticket, now time.Time) Line {
	var line Line
	queues := map[string][]Ticket{}
	for i := range tickets {
		ticket := tickets[i]
		switch {
		case ticket.Expired(now):
		case !ticket.Held.IsZero():
			line.holding = append(line.holding, ticket)
		default:
			namespace := ticket.Experiment.Namespace
			queues[namespace] = append(queues[namespace], ticket)
		}
	}
	line.waiting = takeTurns(queues, ends(tickets))
	return line
}

// ends are when the last turn of each namespace ended. One that has its turn now
// has it until now.
func ends(tickets []Ticket) map[string]time.Time {
	last := map[string]time.Time{}
	for i := range tickets {
		namespace := tickets[i].Experiment.Namespace
		for _, at := range []time.Time{tickets[i].Ended, tickets[i].Held} {
			if at.After(last[namespace]) {
				last[namespace] = at
			}
		}
	}
	return last
}

func takeTurns(queues map[string][]Ticket, last map[string]time.Time) []Ticket {
	namespaces := make([]string, 0, len(queues))
	for namespace, queue := range queues {
		slices.SortFunc(queue, byArrival)
		namespaces = append(namespaces, namespace)
	}
	since := func(namespace string) time.Time {
		if ended := last[namespace]; !ended.IsZero() {
			return ended
		}
		return queues[namespace][0].Arrived
	}
	slices.SortFunc(namespaces, func(a, b string) int { return cmp.Or(since(a).Compare(since(b)), cmp.Compare(a, b)) })
	var order []Ticket
	for round := 0; len(namespaces) > 0; round++ {
		namespaces = slices.DeleteFunc(namespaces, func(namespace string) bool { return len(queues[namespace]) <= round })
		for _, namespace := range namespaces {
			order = append(order, queues[namespace][round])
		}
	}
	return order
}

// byArrival orders tickets that arrived in the same second by name.
func byArrival(a, b Ticket) int {
	return cmp.Or(a.Arrived.Compare(b.Arrived), cmp.Compare(a.Experiment.String(), b.Experiment.String()))
}

// Place is where in the line an experiment is.
type Place struct {
	// Position is how many turns it is until its own: 0, it is its turn.
	Position int
	// Behind is the experiment just before it: the one that measures, for the first
	// in line.
	Behind types.NamespacedName
}

// PlaceOf is where somebody stands in the line who is in it and waits.
func (l Line) PlaceOf(ticket *Ticket) Place {
	var before Place
	if holder := l.HolderBeside(ticket); holder != nil {
		before = Place{1, holder.Experiment}
	}
	for i := range l.waiting {
		other := &l.waiting[i]
		if other.Experiment == ticket.Experiment {
			break
		}
		if other.Lane.Meets(ticket.Lane) {
			before = Place{before.Position + 1, other.Experiment}
		}
	}
	return before
}

// HolderBeside is another experiment that has its turn where this one would measure;
// nil: there is none.
func (l Line) HolderBeside(ticket *Ticket) *Ticket {
	for i := range l.holding {
		if holder := &l.holding[i]; holder.Experiment != ticket.Experiment && holder.Lane.Meets(ticket.Lane) {
			return holder
		}
	}
	return nil
}

// Waiting are those who wait and for whom it can be their turn before many others'.
func (l Line) Waiting(most int) []types.NamespacedName {
	var next []types.NamespacedName
	for i := range l.waiting {
		if l.PlaceOf(&l.waiting[i]).Position <= most {
			next = append(next, l.waiting[i].Experiment)
		}
	}
	return next
}

// Next is the ticket of somebody who wants to go on, as it is to be now: with a turn
// if it is its own, and without one if it is another's. Only at the beginning of a block
// is a turn given up for others who wait.
func Next(tickets []Ticket, mine Ticket, atBlock bool, now time.Time) Ticket {
	mine.Renewed = now
	waits := mine
	waits.Held = time.Time{}
	if !mine.Held.IsZero() {
		if !atBlock {
			return mine
		}
		waits.Ended = now
	}
	first := LineOf(append(Others(tickets, &mine), waits), now).PlaceOf(&waits).Position == 0
	switch {
	case !first:
		return waits
	case mine.Held.IsZero():
		mine.Held = now
	}
	return mine
}

// Others are the tickets but one.
func Others(tickets []Ticket, but *Ticket) []Ticket {
	return slices.DeleteFunc(slices.Clone(tickets), func(ticket Ticket) bool { return ticket.Experiment == but.Experiment })
}

// Same reports whether both tickets say the same, whenever they were renewed.
func (t *Ticket) Same(other *Ticket) bool {
	return t.Lane.Same(other.Lane) && t.Held.Equal(other.Held) && t.Ended.Equal(other.Ended)
}
