// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/text/prose"
)

// renewal is the time after which a ticket is renewed: a fraction of its life, so
// that an operator may be away for a while.
const renewal = queue.Lifetime / 6

// line is who measures and who waits, as it was read.
type line struct {
	tickets []queue.Entry
	// leases hold the tickets, by the UID of their experiment.
	leases map[types.UID]*coordinationv1.Lease
	// void are the experiments whose tickets count no more.
	void []types.UID
}

// takeTurn reports whether it is the experiment's turn to start the next run. If it
// is not, the scope knows its place in the line.
//
// Nobody begins on what it has read once: it first notes that it has its turn, then
// asks the API server who else has. Of two that do so at once, one at least sees
// the other, and goes back into the line.
func (r *Reconciler) takeTurn(ctx context.Context, s *scope) (bool, error) {
	switch {
	case s.byKueue():
		return r.isAdmitted(ctx, s)
	case r.Lanes == "":
		return true, nil
	}
	known, err := r.lineFor(ctx, r.Cluster.Client, s)
	if err != nil {
		return false, err
	}
	mine := s.ticketIn(known)
	ticket := queue.Advance(known.tickets, mine, s.atBlock() || r.overstays(&mine, s.now), s.now)
	if err := r.writeTicket(ctx, known, ticket); err != nil {
		return false, err
	}
	if ticket.Acquired.IsZero() {
		s.queueUp(known, ticket)
		return false, nil
	}
	return r.isAlone(ctx, s)
}

// overstays reports whether a turn has lasted so long that not even a block keeps it.
func (r *Reconciler) overstays(ticket *queue.Entry, now time.Time) bool {
	return r.LongestTurn > 0 && !ticket.Acquired.IsZero() && now.Sub(ticket.Acquired) >= r.LongestTurn
}

// ticketIn is the experiment's ticket in the line. It begins to wait anew if it takes
// up something else than it did.
func (s *scope) ticketIn(known *line) queue.Entry {
	wanted := s.newTicket()
	i := known.index(s.experiment)
	if i < 0 {
		return wanted
	}
	ticket := known.tickets[i]
	if !wanted.Lane.Equal(ticket.Lane) {
		ticket.Lane, ticket.Acquired = wanted.Lane, time.Time{}
	}
	return ticket
}

func (s *scope) newTicket() queue.Entry {
	return queue.Entry{Experiment: client.ObjectKeyFromObject(s.experiment), UID: s.experiment.UID, Lane: s.lane(), Queued: s.now}
}

// isAlone reports whether nobody else has a turn where the experiment would measure;
// else it gives its own up.
func (r *Reconciler) isAlone(ctx context.Context, s *scope) (bool, error) {
	known, err := r.lineFor(ctx, r.Live, s)
	if err != nil {
		return false, err
	}
	mine := s.ticketIn(known)
	if mine.Acquired.IsZero() {
		// Somebody has taken it away since.
		s.again(time.Second)
		return false, nil
	}
	if queue.New(known.tickets, s.now).ConflictingEntry(&mine) != nil {
		mine.Acquired = time.Time{}
		s.queueUp(known, mine)
		return false, r.writeTicket(ctx, known, mine)
	}
	s.place = &v1alpha1.LaneStatus{Name: mine.Lane.String()}
	return true, r.sweep(ctx, known)
}

// queueUp notes where the experiment is in line.
func (s *scope) queueUp(known *line, ticket queue.Entry) {
	order := queue.New(append(queue.Others(known.tickets, &ticket), ticket), s.now)
	place := order.Position(&ticket)
	s.place = &v1alpha1.LaneStatus{
		Name: ticket.Lane.String(), Behind: place.Behind.String(),
		Position: int32(place.Index), //nolint:gosec // A line is no longer than etcd has room for.
	}
	s.again(renewal)
	if holder := order.ConflictingEntry(&ticket); holder != nil && known.leases[holder.UID] == nil {
		// Nobody tells of the end of its turn.
		s.again(blockedPause)
	}
}

// keepTurn keeps the turn of an experiment with a run on. One that was begun without
// a ticket, or outlived it, gets one.
func (r *Reconciler) keepTurn(ctx context.Context, s *scope) error {
	if r.Lanes == "" || s.byKueue() {
		return nil
	}
	known, err := r.readLine(ctx, r.Cluster.Client)
	if err != nil {
		return err
	}
	var ticket queue.Entry
	if i := known.index(s.experiment); i >= 0 {
		ticket = known.tickets[i]
	} else {
		ticket = s.newTicket()
	}
	if ticket.Acquired.IsZero() {
		ticket.Acquired = s.now
	}
	return r.hold(ctx, s, known, ticket)
}

// hold renews the ticket of who has its turn.
func (r *Reconciler) hold(ctx context.Context, s *scope, known *line, ticket queue.Entry) error {
	ticket.Renewed = s.now
	s.place = &v1alpha1.LaneStatus{Name: ticket.Lane.String()}
	s.again(renewal)
	return r.writeTicket(ctx, known, ticket)
}

// endTurn gives up the turn of a complete experiment once its environment is gone.
func (r *Reconciler) endTurn(ctx context.Context, s *scope) error {
	switch {
	case !s.tearingDown || !clears(s.experiment, s.now):
		return r.leaveLine(ctx, s)
	case s.byKueue() || r.Lanes == "":
		return nil
	}
	known, err := r.readLine(ctx, r.Cluster.Client)
	if err != nil {
		return err
	}
	if i := known.index(s.experiment); i >= 0 && !known.tickets[i].Acquired.IsZero() {
		return r.hold(ctx, s, known, known.tickets[i])
	}
	return r.leaveLine(ctx, s)
}

// letOthersPass gives up a turn that nothing comes of, if others wait for theirs. What
// Kueue has admitted is kept, as Jobs do whose pods are refused.
func (r *Reconciler) letOthersPass(ctx context.Context, s *scope) error {
	if r.Lanes == "" || s.byKueue() {
		return nil
	}
	known, err := r.lineFor(ctx, r.Cluster.Client, s)
	if err != nil || !queue.Advance(known.tickets, s.ticketIn(known), true, s.now).Acquired.IsZero() {
		return err
	}
	s.place = nil
	return r.leaveLine(ctx, s)
}

// leaveLine gives up the turn, or the wait for one, of an experiment that starts no
// run for now. Another one of its namespace that waits inherits when the turn ended,
// so that namespaces go on taking turns.
func (r *Reconciler) leaveLine(ctx context.Context, s *scope) error {
	switch {
	case s.byKueue():
		return r.leaveKueue(ctx, s)
	case r.Lanes == "":
		return nil
	}
	lease := &coordinationv1.Lease{}
	// Past the cache, which may not know of it yet: nobody would look again.
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: r.Lanes, Name: queue.LeaseName(s.experiment.UID)}, lease)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the experiment's place in line: %w", err)
	}
	if mine := queue.Read(lease); !mine.Acquired.IsZero() || !mine.Released.IsZero() {
		if err := r.bequeath(ctx, s); err != nil {
			return err
		}
	}
	return r.Cluster.DeleteExactly(ctx, lease)
}

// bequeath tells one that waits in the experiment's namespace that the namespace has
// had its turn.
func (r *Reconciler) bequeath(ctx context.Context, s *scope) error {
	known, err := r.readLine(ctx, r.Cluster.Client)
	if err != nil {
		return err
	}
	for _, heir := range known.tickets {
		if heir.Experiment.Namespace == s.experiment.Namespace && heir.Experiment.Name != s.experiment.Name && heir.Acquired.IsZero() {
			heir.Released = s.now
			return r.writeTicket(ctx, known, heir)
		}
	}
	return nil
}

// lineFor is the line as the reader knows it, for an experiment that wants to go on:
// with its own ticket, however long its operator was away, and with those who
// measure without one.
func (r *Reconciler) lineFor(ctx context.Context, reader client.Reader, s *scope) (*line, error) {
	known, err := r.readLine(ctx, reader)
	if err != nil {
		return nil, err
	}
	if i := known.index(s.experiment); i >= 0 {
		known.tickets[i].Renewed = s.now
	}
	if err := r.dropVoid(ctx, s, known); err != nil {
		return nil, err
	}
	return known, r.addStrays(ctx, s, known)
}

func (r *Reconciler) readLine(ctx context.Context, reader client.Reader) (*line, error) {
	list := &coordinationv1.LeaseList{}
	if err := reader.List(ctx, list, client.InNamespace(r.Lanes), client.HasLabels{v1alpha1.LabelTurn}); err != nil {
		return nil, fmt.Errorf("reading who waits for a turn: %w", err)
	}
	known := &line{leases: map[types.UID]*coordinationv1.Lease{}}
	for i := range list.Items {
		ticket := queue.Read(&list.Items[i])
		known.tickets, known.leases[ticket.UID] = append(known.tickets, ticket), &list.Items[i]
	}
	return known, nil
}

// dropVoid leaves out the tickets of experiments that are gone, done and cleared up, or another
// operator's: a pass with an old view of one may have left it.
func (r *Reconciler) dropVoid(ctx context.Context, s *scope, known *line) error {
	var failure error
	known.tickets = slices.DeleteFunc(known.tickets, func(ticket queue.Entry) bool {
		if ticket.UID == s.experiment.UID || failure != nil {
			return false
		}
		holder := &v1alpha1.PerfExperiment{}
		err := r.Cluster.Client.Get(ctx, ticket.Experiment, holder, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			failure = fmt.Errorf("reading experiment %q, which has a ticket: %w", ticket.Experiment, err)
			return false
		}
		void := err != nil || holder.UID != ticket.UID || r.isElsewhere(holder) || isDone(holder) && !clears(holder, s.now)
		if void {
			known.void = append(known.void, ticket.UID)
		}
		return void
	})
	return failure
}

// isDone: nothing is left to do of the experiment, as it was asked for last.
func isDone(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Status.Settled != "" && experiment.Status.ObservedGeneration == experiment.Generation
}

// addStrays adds those that have a run on but no turn: an operator that knew of no
// turns has begun it, or it has outlived its ticket.
func (r *Reconciler) addStrays(ctx context.Context, s *scope, known *line) error {
	runs, err := component.RunsOn(ctx, r.Cluster.Client, "")
	if err != nil {
		return err
	}
	for i := range runs {
		run := &runs[i]
		stray := queue.Entry{
			Experiment: client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment},
			Acquired:   run.CreationTimestamp.Time, Renewed: s.now,
		}
		if run.DeletionTimestamp != nil || stray.Experiment == client.ObjectKeyFromObject(s.experiment) || known.holds(stray.Experiment, s.now) {
			continue
		}
		underway, err := r.isUnderway(ctx, run)
		if err != nil {
			return err
		}
		if underway {
			known.tickets = append(known.tickets, stray)
		}
	}
	return nil
}

func (l *line) index(experiment *v1alpha1.PerfExperiment) int {
	return slices.IndexFunc(l.tickets, func(ticket queue.Entry) bool { return ticket.UID == experiment.UID })
}

func (l *line) holds(experiment client.ObjectKey, now time.Time) bool {
	return slices.ContainsFunc(l.tickets, func(ticket queue.Entry) bool {
		return ticket.Experiment == experiment && !ticket.Acquired.IsZero() && !ticket.Expired(now)
	})
}

// writeTicket writes a ticket that says something new, or was not renewed for long.
func (r *Reconciler) writeTicket(ctx context.Context, known *line, ticket queue.Entry) error {
	before := known.leases[ticket.UID]
	if before == nil {
		return r.makeTicket(ctx, ticket)
	}
	written := queue.Read(before)
	if ticket.Equal(&written) && ticket.Renewed.Sub(written.Renewed) < renewal {
		return nil
	}
	lease := before.DeepCopy()
	if err := ticket.Write(lease); err != nil {
		return err
	}
	return r.Cluster.PatchIfUnchanged(ctx, lease, before)
}

// makeTicket makes a ticket for an experiment that still wants one: a pass with an old
// view, which it is a conflict to have, would leave it behind.
func (r *Reconciler) makeTicket(ctx context.Context, ticket queue.Entry) error {
	experiment, old := &v1alpha1.PerfExperiment{}, errors.New("the cache is behind")
	conflict := apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("perfexperiments").GroupResource(), ticket.Experiment.Name, old)
	err := r.Live.Get(ctx, ticket.Experiment, experiment)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("reading experiment %q: %w", ticket.Experiment, err)
	case err != nil || experiment.UID != ticket.UID || experiment.DeletionTimestamp != nil || isDone(experiment):
		return conflict
	}
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = r.Lanes, queue.LeaseName(ticket.UID)
	if err := ticket.Write(lease); err != nil {
		return err
	}
	err = r.Cluster.Create(ctx, lease)
	if apierrors.IsAlreadyExists(err) {
		return conflict
	}
	return err
}

// sweep takes tickets away that count no more.
func (r *Reconciler) sweep(ctx context.Context, known *line) error {
	for _, experiment := range known.void {
		if err := r.Cluster.DeleteExactly(ctx, known.leases[experiment]); err != nil {
			return err
		}
	}
	return nil
}

// lane is what the experiment's runs take up.
func (s *scope) lane() queue.Lane {
	return queue.NewLane(s.experiment.Spec.Lane, s.systems())
}

// systems are those of the arms.
func (s *scope) systems() []v1alpha1.System {
	systems := make([]v1alpha1.System, 0, len(s.planned.Arms))
	for i := range s.planned.Arms {
		systems = append(systems, s.planned.Arms[i].System)
	}
	return systems
}

// atBlock reports whether the next run is a block's first. Blocks are not broken off:
// their runs are compared because they were done together.
func (s *scope) atBlock() bool {
	return !slices.ContainsFunc(s.runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block == s.decision.Run.Block })
}

// isInLine reports whether the experiment waits for its turn.
func (s *scope) isInLine() bool { return s.place != nil && s.place.Position > 0 || s.unadmitted != "" }

// turnWaitedFor says for whom the experiment waits.
func (s *scope) turnWaitedFor() string {
	if s.unadmitted != "" {
		return s.unadmitted
	}
	return fmt.Sprintf("queued: %s in line for %s, behind %s", prose.Ordinal(s.place.Position), s.place.Name, s.place.Behind)
}
