// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/testing/expect"
)

// labs are labs whose experiments queue.
type labs []*lab

// newLabs creates labs, each with its own namespace, in the order of the queue: those created in the
// same second are ordered by name.
func newLabs(t *testing.T, size int) labs {
	t.Helper()
	h := labs{newLab(t, complete)}
	for range size - 1 {
		h = append(h, newLabAlone(t, complete))
	}
	slices.SortFunc(h, func(a, b *lab) int { return strings.Compare(a.namespace, b.namespace) })
	for _, l := range h {
		l.lanes = h[0].namespace
	}
	return h
}

// passAll reconciles all labs, in this order.
func (h labs) passAll() {
	for _, l := range h {
		if l.line.refuse == nil {
			l.settle()
			continue
		}
		// A refused experiment does not become idle.
		l.pass()
	}
	for _, l := range h {
		l.play()
		l.now = l.now.Add(10 * time.Second)
	}
}

func (h labs) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 150 {
		h.passAll()
		if done() {
			return
		}
	}
	for _, l := range h {
		t.Log(l.describe())
	}
	t.Fatalf("timeout waiting for %s", what)
}

// on are the labs with an active run.
func (h labs) on() []int {
	var on []int
	for i, l := range h {
		if slices.ContainsFunc(l.runs(), func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() }) {
			on = append(on, i)
		}
	}
	return on
}

// tickets are the existing ones, by namespace.
func (h labs) tickets() map[string]queue.Entry {
	list := &coordinationv1.LeaseList{}
	h[0].list(list, client.HasLabels{v1alpha1.LabelTurn})
	found := map[string]queue.Entry{}
	for i := range list.Items {
		ticket := queue.Read(&list.Items[i])
		found[ticket.Experiment.Namespace] = ticket
	}
	return found
}

// Two active experiments would affect each other; and a block's runs are comparable because nothing
// ran between them.
func TestQueueAlternatesBlocks(t *testing.T) {
	h := newLabs(t, 2)
	for _, l := range h {
		l.create(login(), smallExperiment(t, twoBlocks))
	}
	var order []string
	known := map[string]bool{}
	h.until(t, "two complete experiments", func() bool {
		for i, l := range h {
			for _, run := range l.runs() {
				if name := fmt.Sprint(i, run.Name); !known[name] {
					known[name] = true
					order = append(order, fmt.Sprintf("lab %d block %d", i, run.Spec.Block))
				}
			}
		}
		if on := h.on(); len(on) > 1 {
			t.Fatalf("labs %v measure each other", on)
		}
		return !slices.ContainsFunc(h, func(l *lab) bool { return l.experiment("small").Status.Phase != v1alpha1.ExperimentComplete })
	})
	want := []string{
		"lab 0 block 1", "lab 0 block 1", "lab 1 block 1", "lab 1 block 1",
		"lab 0 block 2", "lab 0 block 2", "lab 1 block 2", "lab 1 block 2",
	}
	expect.Equal(t, want, order, "runs")
	h.until(t, "the tickets of complete experiments to be deleted", func() bool { return len(h.tickets()) == 0 })
}

func TestQueuePositionIsReported(t *testing.T) {
	h := newLabs(t, 3)
	for _, l := range h {
		l.create(login(), smallExperiment(t))
		l.settle()
	}
	first, second, third := h[0].experiment("small").Status, h[1].experiment("small").Status, h[2].experiment("small").Status
	expect.Equal(t, &v1alpha1.LaneStatus{Name: "the cluster"}, first.Lane, "of who measures")
	for _, reported := range []struct {
		status v1alpha1.PerfExperimentStatus
		want   string
	}{
		{second, "queued: first in the queue for the cluster, behind " + h[0].namespace + "/small"},
		{third, "queued: second in the queue for the cluster, behind " + h[1].namespace + "/small"},
	} {
		if reported.status.WaitingFor != reported.want || reported.status.Phase != v1alpha1.ExperimentPending {
			t.Errorf("%s, waiting for %q, want Pending and %q", reported.status.Phase, reported.status.WaitingFor, reported.want)
		}
	}
}

func TestSeparateLanesRunInParallel(t *testing.T) {
	h := newLabs(t, 2)
	for i, l := range h {
		l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
			e.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneNamed, Name: fmt.Sprint("pool-", i)}
		}))
	}
	h.passAll()
	if on := h.on(); len(on) != 2 {
		t.Errorf("labs %v measure, want both", on)
	}
}

// An operator that reads while another one takes its ticket sees that ticket after taking its own,
// and returns its own.
func TestConcurrentTicketsOneYields(t *testing.T) {
	h := newLabs(t, 2)
	for _, l := range h {
		l.create(login(), smallExperiment(t))
	}
	slow, quick := h[0], h[1]
	slow.line.before = func(_ string, object any) {
		if _, isTicket := object.(*coordinationv1.Lease); isTicket {
			slow.line.before = nil
			quick.settle()
		}
	}
	slow.settle()
	if on := h.on(); !slices.Equal(on, []int{1}) {
		t.Fatalf("labs %v measure, want the quick one", on)
	}
	if ticket := h.tickets()[slow.namespace]; !ticket.Acquired.IsZero() {
		t.Error("the slow one has kept its ticket")
	}
	h.until(t, "the slow one's turn", func() bool { return len(slow.runs()) > 0 })
}

// The queue waits for a run that an operator without queues has started, and gives it a ticket.
func TestRunWithoutTicketIsWaitedFor(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.underLoad()
	l.lanes = l.namespace
	l.create(smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Name = "after" }))
	reconciler, _ := l.operator()
	for range 3 {
		if _, err := reconciler.Reconcile(t.Context(), request(l.experiment("after"))); err != nil {
			t.Fatal(err)
		}
	}
	want := "queued: first in the queue for the cluster, behind " + l.namespace + "/small"
	expect.Equal(t, want, l.experiment("after").Status.WaitingFor, "waits for")
	l.settle()
	if held := (labs{l}).tickets()[l.namespace]; held.Acquired.IsZero() && held.Experiment.Name == "small" {
		t.Error("the run's experiment has no ticket")
	}
	l.untilPhase("after", v1alpha1.ExperimentComplete)
}

// Anyone who can change an experiment could set the name of a missing operator.
func TestUnclaimedRunsDoNotBlockQueue(t *testing.T) {
	l := newLab(t, complete)
	l.lanes = l.namespace
	l.create(login(), smallExperiment(t, oneArm))
	l.underLoad()
	stopped := l.experiment("small")
	metav1.SetMetaDataAnnotation(&stopped.ObjectMeta, v1alpha1.AnnotationOperator, "nowhere")
	expect.NoError(t, l.admin.Update(t.Context(), stopped))
	l.create(smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Name = "after" }))
	l.untilPhase("after", v1alpha1.ExperimentComplete)
}

// A deadline of a hundred years is limited by the operator, and others continue.
func TestTurnHasTimeLimit(t *testing.T) {
	h := newLabs(t, 2)
	first, second := h[0], h[1]
	for _, l := range h {
		l.longestTurn = 2 * time.Hour
	}
	const forever = 876000 * time.Hour
	first.outside.held["cico"] = true
	first.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Deadlines.Load = &metav1.Duration{Duration: forever}
	}))
	h.until(t, "a run under load", func() bool { run := first.run(); return run != nil && run.Status.Phase == v1alpha1.RunLoading })
	second.create(login(), smallExperiment(t, oneArm))
	h.passAll()
	for _, l := range h {
		l.now = l.now.Add(3 * time.Hour)
	}
	h.until(t, "the end of the turn", func() bool { return second.experiment("small").Status.Phase == v1alpha1.ExperimentComplete })
	invalid := first.runs()[0]
	first.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonDeadline,
		"the run took longer than 2h, the limit of this operator's --longest-turn")
}

// A run that has been measured, and waits for its archive without a deadline, does not keep others
// waiting for longer.
func TestLingeringRunLosesItsTurn(t *testing.T) {
	h := newLabs(t, 2)
	first, second := h[0], h[1]
	for _, l := range h {
		l.longestTurn = 2 * time.Hour
	}
	kept := withArchive(first)
	kept.broken = syscall.ECONNREFUSED
	first.create(login(), smallExperiment(t, oneArm))
	h.until(t, "a run that waits for its archive", func() bool { return first.run() != nil && first.run().Status.Timings.Finish != nil })
	second.create(login(), smallExperiment(t, oneArm))
	h.passAll()
	expect.Equal(t, 0, len(second.runs()), "runs of the other one before the end of the turn")
	for _, l := range h {
		l.now = l.now.Add(3 * time.Hour)
	}
	h.until(t, "the end of the turn", func() bool { return second.experiment("small").Status.Phase == v1alpha1.ExperimentComplete })
	kept.broken = nil
	h.until(t, "the first one", func() bool { return first.experiment("small").Status.Phase == v1alpha1.ExperimentComplete })
}

// A ticket is valid for as long as an operator may be down.
func TestAbandonedTicketExpires(t *testing.T) {
	h := newLabs(t, 2)
	gone, there := h[0], h[1]
	gone.create(login(), smallExperiment(t))
	gone.settle()
	there.create(login(), smallExperiment(t, oneArm))
	there.settle()
	if runs := there.runs(); len(runs) != 0 {
		t.Fatal("no experiment has waited")
	}
	there.now = there.now.Add(queue.Lifetime + time.Minute)
	there.settle()
	if runs := there.runs(); len(runs) != 1 {
		t.Fatalf("%d runs were made after the ticket had expired, want one", len(runs))
	}
}

// A deleted experiment whose operator did not remove its finalizer does not block the queue.
// Neither does a finished one with another ticket from a stale cache.
func TestStaleTicketsAreDeleted(t *testing.T) {
	for name, end := range map[string]func(l *lab){
		"gone": func(l *lab) {
			l.settle()
			one := l.experiment("small")
			expect.NoError(l.t, l.admin.Delete(l.t.Context(), one))
			one = l.experiment("small")
			one.Finalizers = nil
			l.update(one)
		},
		"done": func(l *lab) {
			l.until("an experiment that has cleared up", func() bool { return l.experiment("small").Status.TornDown != nil })
			l.settle()
			left := queue.Entry{Experiment: client.ObjectKeyFromObject(l.experiment("small")), UID: l.experiment("small").UID, Acquired: l.now, Renewed: l.now}
			lease := &coordinationv1.Lease{}
			lease.Name, lease.Namespace = queue.LeaseName(left.UID), l.lanes
			expect.NoError(l.t, errors.Join(left.Write(lease), l.admin.Create(l.t.Context(), lease)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newLabs(t, 2)
			first, next := h[0], h[1]
			first.create(login(), smallExperiment(t, oneArm))
			end(first)
			if _, left := h.tickets()[first.namespace]; !left {
				t.Fatal("no ticket to delete")
			}
			next.create(login(), smallExperiment(t, oneArm))
			next.settle()
			if runs := next.runs(); len(runs) != 1 {
				t.Errorf("%d runs were made beside the ticket, want one", len(runs))
			}
			if _, left := h.tickets()[first.namespace]; left {
				t.Error("the ticket still exists")
			}
		})
	}
}

// A cleanup disturbs others' measurements: the next experiment starts when it is finished, or after a
// time limit.
func TestNextExperimentWaitsForCleanup(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.PerfExperiment)
		// after must hold before the next one starts; nil: nothing.
		after func(l *lab)
	}{
		"gone":                {func(*v1alpha1.PerfExperiment) {}, func(l *lab) { l.allowModuleDeletion() }},
		"hangs":               {func(*v1alpha1.PerfExperiment) {}, func(l *lab) { l.now = l.now.Add(6 * time.Minute) }},
		"stays":               {func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }, nil},
		"is kept for a while": {func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.TTL = hours(1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newLabs(t, 2)
			first, next := h[0], h[1]
			first.create(login(), smallExperiment(t, oneArm, test.change))
			first.until("a load", func() bool { return len(first.runs()) > 0 && first.run().Status.Phase == v1alpha1.RunLoading })
			first.blockModuleDeletion()
			next.create(login(), smallExperiment(t, oneArm))
			first.untilPhase("small", v1alpha1.ExperimentComplete)
			for range 5 {
				h.passAll()
			}
			if test.after == nil {
				if len(next.runs()) == 0 {
					t.Fatalf("the next one waits: %+v", next.experiment("small").Status.Lane)
				}
				return
			}
			if waits := next.experiment("small").Status.Lane; len(next.runs()) > 0 || waits == nil || waits.Behind != first.namespace+"/small" {
				t.Fatalf("%d runs were created during the other environment's cleanup, behind %+v", len(next.runs()), waits)
			}
			test.after(first)
			h.until(t, "the next one's run", func() bool { return len(next.runs()) > 0 })
			if _, left := h.tickets()[first.namespace]; left {
				t.Error("the ticket of the first one still exists")
			}
			if place := first.experiment("small").Status.Lane; place != nil {
				t.Errorf("the first one has a position in the queue: %+v", place)
			}
		})
	}
}

// blockModuleDeletion adds a finalizer to the modules.
func (l *lab) blockModuleDeletion() { l.setModuleFinalizers("perflab.dev/test") }

// allowModuleDeletion removes it.
func (l *lab) allowModuleDeletion() { l.setModuleFinalizers() }

func (l *lab) setModuleFinalizers(finalizers ...string) {
	l.t.Helper()
	modules := &appsv1.DeploymentList{}
	l.list(modules)
	if len(modules.Items) == 0 {
		l.t.Fatal("no modules")
	}
	for i := range modules.Items {
		modules.Items[i].Finalizers = finalizers
		l.update(&modules.Items[i])
	}
}

// An experiment that starts nothing does not block the queue.
func TestIdleExperimentLeavesQueue(t *testing.T) {
	for name, stop := range map[string]func(l *lab){
		"suspended": func(l *lab) {
			l.mustChange("small", func(e *v1alpha1.PerfExperiment) { e.Spec.Suspend = true })
		},
		"deleted": func(l *lab) {
			expect.NoError(l.t, l.admin.Delete(l.t.Context(), l.experiment("small")))
		},
		"refused": func(l *lab) {
			l.line.refuse = func(what string) error {
				if strings.HasPrefix(what, "create") && strings.Contains(what, "PerfRun") {
					return injected{apierrors.NewForbidden(schema.GroupResource{Resource: "perfruns"}, "small", errors.New("exceeded quota"))}
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newLabs(t, 2)
			stops, waits := h[0], h[1]
			stops.create(login(), smallExperiment(t, oneArm, twoBlocks))
			if name != "refused" {
				stops.settle()
			}
			waits.create(login(), smallExperiment(t, oneArm))
			stop(stops)
			h.until(t, "the other one's run", func() bool { return len(waits.runs()) > 0 })
			if ticket, left := h.tickets()[stops.namespace]; left && !ticket.Acquired.IsZero() {
				t.Errorf("the first one still has its ticket: %+v", ticket)
			}
		})
	}
}
