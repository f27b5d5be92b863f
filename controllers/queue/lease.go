// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/planning/queue"
)

// renewal is the time after which a ticket is renewed: a fraction of its lifetime, so that a
// restart of the operator loses no turn.
const renewal = queue.Lifetime / 6

// line has the tickets of the experiments that run or wait.
type line struct {
	tickets []queue.Entry
	// leases hold the tickets, by the UID of their experiment.
	leases map[types.UID]*coordinationv1.Lease
	// void are the experiments whose tickets are no longer valid.
	void []types.UID
}

// takeLease reports whether it is the experiment's turn.
//
// An experiment does not start after one read: it first writes that it has its turn, then reads
// from the API server which others have one. Of two concurrent experiments, at least one sees the
// other, and returns to the queue.
func (q Queue) takeLease(ctx context.Context, w Waiter, place *Place) (bool, error) {
	known, err := q.lineFor(ctx, q.Cluster.Client, w)
	if err != nil {
		return false, err
	}
	mine := w.ticketIn(known)
	ticket := queue.Advance(known.tickets, mine, w.Starts || q.overstays(&mine, w.Now), w.Now)
	if err := q.writeTicket(ctx, known, ticket); err != nil {
		return false, err
	}
	if ticket.Acquired.IsZero() {
		w.lineUp(known, ticket, place)
		return false, nil
	}
	return q.isAlone(ctx, w, place)
}

// overstays reports whether a turn has lasted so long that even a block does not keep it.
func (q Queue) overstays(ticket *queue.Entry, now time.Time) bool {
	return q.LongestTurn > 0 && !ticket.Acquired.IsZero() && now.Sub(ticket.Acquired) >= q.LongestTurn
}

// lingers reports whether a run finished so long ago that others measure although it has not ended:
// its archive is unavailable, or something is left of its faults.
func (q Queue) lingers(finished *metav1.Time, now time.Time) bool {
	return q.LongestTurn > 0 && finished != nil && now.Sub(finished.Time) >= q.LongestTurn
}

// ticketIn returns the experiment's ticket. The experiment waits again if it needs other nodes than
// before.
func (w Waiter) ticketIn(known *line) queue.Entry {
	wanted := w.newTicket()
	i := known.index(w.Experiment)
	if i < 0 {
		return wanted
	}
	ticket := known.tickets[i]
	if !wanted.Lane.Equal(ticket.Lane) {
		ticket.Lane, ticket.Acquired = wanted.Lane, time.Time{}
	}
	return ticket
}

func (w Waiter) newTicket() queue.Entry {
	return queue.Entry{Experiment: client.ObjectKeyFromObject(w.Experiment), UID: w.Experiment.UID, Lane: w.lane(), Queued: w.Now}
}

// isAlone reports whether no other experiment has a turn on the same nodes; otherwise the
// experiment gives up its turn.
func (q Queue) isAlone(ctx context.Context, w Waiter, place *Place) (bool, error) {
	known, err := q.lineFor(ctx, q.Live, w)
	if err != nil {
		return false, err
	}
	mine := w.ticketIn(known)
	if mine.Acquired.IsZero() {
		// The ticket has changed since.
		place.requeue(time.Second)
		return false, nil
	}
	if queue.New(known.tickets, w.Now).ConflictingEntry(&mine) != nil {
		mine.Acquired = time.Time{}
		w.lineUp(known, mine, place)
		return false, q.writeTicket(ctx, known, mine)
	}
	place.Status = &v1alpha1.LaneStatus{Name: mine.Lane.String()}
	return true, q.prune(ctx, known)
}

// lineUp reports the experiment's place.
func (w Waiter) lineUp(known *line, ticket queue.Entry, place *Place) {
	order := queue.New(append(queue.Others(known.tickets, &ticket), ticket), w.Now)
	found := order.Position(&ticket)
	place.Status = &v1alpha1.LaneStatus{
		Name: ticket.Lane.String(), Behind: found.Behind.String(),
		Position: int32(found.Index), //nolint:gosec // A queue is no longer than etcd has room for.
	}
	place.requeue(renewal)
	if holder := order.ConflictingEntry(&ticket); holder != nil && known.leases[holder.UID] == nil {
		// No Lease reports the end of its turn.
		place.requeue(component.BlockedPause)
	}
}

// keepLease keeps the turn of an experiment with an active run, unless the run lingers. It creates a
// missing ticket: an older operator started the run, or the ticket expired.
func (q Queue) keepLease(ctx context.Context, w Waiter, place *Place) error {
	if q.lingers(w.Finished, w.Now) {
		return q.leaveLine(ctx, w)
	}
	known, err := q.readLine(ctx, q.Cluster.Client)
	if err != nil {
		return err
	}
	ticket := w.newTicket()
	if i := known.index(w.Experiment); i >= 0 {
		ticket = known.tickets[i]
	}
	if ticket.Acquired.IsZero() {
		ticket.Acquired = w.Now
	}
	return q.hold(ctx, w, known, ticket, place)
}

// hold renews the ticket of an experiment that has its turn.
func (q Queue) hold(ctx context.Context, w Waiter, known *line, ticket queue.Entry, place *Place) error {
	ticket.Renewed = w.Now
	place.Status = &v1alpha1.LaneStatus{Name: ticket.Lane.String()}
	place.requeue(renewal)
	return q.writeTicket(ctx, known, ticket)
}

// leaveLine deletes the ticket. Another waiting experiment of the namespace gets the time at which
// the turn ended, so that namespaces continue to alternate.
func (q Queue) leaveLine(ctx context.Context, w Waiter) error {
	lease := &coordinationv1.Lease{}
	// Past the cache, which may lack it: nothing would trigger another read.
	err := q.Live.Get(ctx, client.ObjectKey{Namespace: q.LeaseNamespace, Name: queue.LeaseName(w.Experiment.UID)}, lease)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the experiment's ticket: %w", err)
	}
	if mine := queue.Read(lease); !mine.Acquired.IsZero() || !mine.Released.IsZero() {
		if err := q.transferTurn(ctx, w); err != nil {
			return err
		}
	}
	return q.Cluster.DeleteExactly(ctx, lease)
}

// transferTurn records in the ticket of another experiment of the namespace that the namespace
// has had its turn.
func (q Queue) transferTurn(ctx context.Context, w Waiter) error {
	known, err := q.readLine(ctx, q.Cluster.Client)
	if err != nil {
		return err
	}
	for _, heir := range known.tickets {
		if heir.Experiment.Namespace == w.Experiment.Namespace && heir.Experiment.Name != w.Experiment.Name && heir.Acquired.IsZero() {
			heir.Released = w.Now
			return q.writeTicket(ctx, known, heir)
		}
	}
	return nil
}

// lineFor returns the queue as the reader has it, for an experiment that continues: with its own
// ticket, even an expired one, and with the experiments that run without a ticket.
func (q Queue) lineFor(ctx context.Context, reader client.Reader, w Waiter) (*line, error) {
	known, err := q.readLine(ctx, reader)
	if err != nil {
		return nil, err
	}
	if i := known.index(w.Experiment); i >= 0 {
		known.tickets[i].Renewed = w.Now
	}
	if err := q.dropVoid(ctx, w, known); err != nil {
		return nil, err
	}
	return known, q.addStrays(ctx, w, known)
}

func (q Queue) readLine(ctx context.Context, reader client.Reader) (*line, error) {
	list := &coordinationv1.LeaseList{}
	if err := reader.List(ctx, list, client.InNamespace(q.LeaseNamespace), client.HasLabels{v1alpha1.LabelTurn}); err != nil {
		return nil, fmt.Errorf("reading the queue: %w", err)
	}
	known := &line{leases: map[types.UID]*coordinationv1.Lease{}}
	for i := range list.Items {
		ticket := queue.Read(&list.Items[i])
		known.tickets, known.leases[ticket.UID] = append(known.tickets, ticket), &list.Items[i]
	}
	return known, nil
}

// dropVoid leaves out the tickets of experiments that are gone, cleaned up or another operator's: a
// reconcile with an outdated cache may have left them.
func (q Queue) dropVoid(ctx context.Context, w Waiter, known *line) error {
	var failure error
	known.tickets = slices.DeleteFunc(known.tickets, func(ticket queue.Entry) bool {
		if ticket.UID == w.Experiment.UID || failure != nil {
			return false
		}
		holder := &v1alpha1.PerfExperiment{}
		err := q.Cluster.Client.Get(ctx, ticket.Experiment, holder, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			failure = fmt.Errorf("reading experiment %q, which has a ticket: %w", ticket.Experiment, err)
			return false
		}
		void := err != nil || holder.UID != ticket.UID || q.IsHeldByAnother(holder) || isDone(holder) && !Cleans(holder, w.Now)
		if void {
			known.void = append(known.void, ticket.UID)
		}
		return void
	})
	return failure
}

// isDone reports whether nothing of the experiment's current spec is left to do.
func isDone(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Status.Settled != "" && experiment.Status.ObservedGeneration == experiment.Generation
}

// addStrays adds the experiments with an active run and no turn: an older operator started the run,
// or their ticket expired.
func (q Queue) addStrays(ctx context.Context, w Waiter, known *line) error {
	runs, err := kubecache.ListActiveRuns(ctx, q.Cluster.Client, "")
	if err != nil {
		return err
	}
	for i := range runs {
		run := &runs[i]
		stray := queue.Entry{
			Experiment: client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment},
			Acquired:   run.CreationTimestamp.Time, Renewed: w.Now,
		}
		if run.DeletionTimestamp != nil || stray.Experiment == client.ObjectKeyFromObject(w.Experiment) || known.holds(stray.Experiment, w.Now) || q.lingers(run.Status.Timings.Finish, w.Now) {
			continue
		}
		underway, err := q.IsUnderway(ctx, run)
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

// writeTicket writes a ticket that changed, or is due for renewal.
func (q Queue) writeTicket(ctx context.Context, known *line, ticket queue.Entry) error {
	before := known.leases[ticket.UID]
	if before == nil {
		return q.makeTicket(ctx, ticket)
	}
	written := queue.Read(before)
	if ticket.Equal(&written) && ticket.Renewed.Sub(written.Renewed) < renewal {
		return nil
	}
	lease := before.DeepCopy()
	if err := ticket.Write(lease); err != nil {
		return err
	}
	return q.Cluster.PatchIfUnchanged(ctx, lease, before)
}

// makeTicket creates the ticket of an experiment that still needs one. A reconcile with a stale
// cache, which gets a conflict, would leave a ticket behind.
func (q Queue) makeTicket(ctx context.Context, ticket queue.Entry) error {
	experiment, old := &v1alpha1.PerfExperiment{}, errors.New("the cache is stale")
	conflict := apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("perfexperiments").GroupResource(), ticket.Experiment.Name, old)
	err := q.Live.Get(ctx, ticket.Experiment, experiment)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("reading experiment %q: %w", ticket.Experiment, err)
	case err != nil || experiment.UID != ticket.UID || experiment.DeletionTimestamp != nil || isDone(experiment):
		return conflict
	}
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = q.LeaseNamespace, queue.LeaseName(ticket.UID)
	if err := ticket.Write(lease); err != nil {
		return err
	}
	err = q.Cluster.Create(ctx, lease)
	if apierrors.IsAlreadyExists(err) {
		return conflict
	}
	return err
}

// prune deletes the tickets that are no longer valid.
func (q Queue) prune(ctx context.Context, known *line) error {
	for _, experiment := range known.void {
		if err := q.Cluster.DeleteExactly(ctx, known.leases[experiment]); err != nil {
			return err
		}
	}
	return nil
}

// lane is the set of nodes that the experiment's runs occupy.
func (w Waiter) lane() queue.Lane {
	return queue.NewLane(w.Experiment.Spec.Lane, w.systems())
}
