// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// hall are labs whose experiments take turns.
type hall []*lab

// newHall makes as many labs, each a namespace of its own, in the order in which they
// take their turns: of those who came in one second, by their names.
func newHall(t *testing.T, size int) hall {
	t.Helper()
	h := hall{newLab(t, complete)}
	for range size - 1 {
		h = append(h, newLabAlone(t, complete))
	}
	slices.SortFunc(h, func(a, b *lab) int { return strings.Compare(a.namespace, b.namespace) })
	for _, l := range h {
		l.lanes = h[0].namespace
	}
	return h
}

// turn lets everybody go on, in this order.
func (h hall) turn() {
	for _, l := range h {
		if l.line.refuse == nil {
			l.settle()
			continue
		}
		// Who is refused does not come to rest.
		l.pass()
	}
	for _, l := range h {
		l.play()
		l.now = l.now.Add(10 * time.Second)
	}
}

func (h hall) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 150 {
		h.turn()
		if done() {
			return
		}
	}
	for _, l := range h {
		t.Log(l.describe())
	}
	t.Fatalf("%s did not come about", what)
}

// on are the labs with a run that is on.
func (h hall) on() []int {
	var on []int
	for i, l := range h {
		if slices.ContainsFunc(l.runs(), func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() }) {
			on = append(on, i)
		}
	}
	return on
}

// tickets are those there are, by namespace.
func (h hall) tickets() map[string]queue.Ticket {
	list := &coordinationv1.LeaseList{}
	h[0].list(list, client.HasLabels{v1alpha1.LabelTurn})
	found := map[string]queue.Ticket{}
	for i := range list.Items {
		ticket := queue.Read(&list.Items[i])
		found[ticket.Experiment.Namespace] = ticket
	}
	return found
}

// Two at once would measure each other; and a block's runs are compared because
// nothing came between them.
func TestExperimentsTakeTurnsABlockAtATime(t *testing.T) {
	h := newHall(t, 2)
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
	h.until(t, "the tickets of complete experiments to be given back", func() bool { return len(h.tickets()) == 0 })
}

func TestWhoWaitsIsToldForWhom(t *testing.T) {
	h := newHall(t, 3)
	for _, l := range h {
		l.create(login(), smallExperiment(t))
		l.settle()
	}
	first, second, third := h[0].experiment("small").Status, h[1].experiment("small").Status, h[2].experiment("small").Status
	expect.Equal(t, &v1alpha1.LaneStatus{Name: "the cluster"}, first.Lane, "of who measures")
	for _, told := range []struct {
		status v1alpha1.PerfExperimentStatus
		want   string
	}{
		{second, "queued: first in line for the cluster, behind " + h[0].namespace + "/small"},
		{third, "queued: second in line for the cluster, behind " + h[1].namespace + "/small"},
	} {
		if told.status.WaitingFor != told.want || told.status.Phase != v1alpha1.ExperimentPending {
			t.Errorf("%s, waiting for %q, want Pending and %q", told.status.Phase, told.status.WaitingFor, told.want)
		}
	}
}

func TestLanesThatAreApartKeepNobodyWaiting(t *testing.T) {
	h := newHall(t, 2)
	for i, l := range h {
		l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
			e.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneNamed, Name: fmt.Sprint("pool-", i)}
		}))
	}
	h.turn()
	if on := h.on(); len(on) != 2 {
		t.Errorf("labs %v measure, want both", on)
	}
}

// Who looks while another one takes its turn sees it when it has taken its own, and
// goes back.
func TestOfTwoWhoTakeTheirTurnAtOnceOneGoesBack(t *testing.T) {
	h := newHall(t, 2)
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
	if ticket := h.tickets()[slow.namespace]; !ticket.Held.IsZero() {
		t.Error("the slow one has kept its turn")
	}
	h.until(t, "the slow one's turn", func() bool { return len(slow.runs()) > 0 })
}

// An operator that knew of no turns has begun a run, which is waited for, and which
// gets a ticket.
func TestARunThatWasBegunWithoutATicketIsWaitedFor(t *testing.T) {
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
	want := "queued: first in line for the cluster, behind " + l.namespace + "/small"
	expect.Equal(t, want, l.experiment("after").Status.WaitingFor, "waits for")
	l.settle()
	if held := (hall{l}).tickets()[l.namespace]; held.Held.IsZero() && held.Experiment.Name == "small" {
		t.Error("the run's experiment has no turn")
	}
	l.untilPhase("after", v1alpha1.ExperimentComplete)
}

// Whoever may change an experiment could write the name of an operator that is not there.
func TestRunsThatNoOperatorDoesKeepNobodyWaiting(t *testing.T) {
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

// A deadline of a hundred years ends when the operator says, and others go ahead.
func TestATurnHasAnEnd(t *testing.T) {
	h := newHall(t, 2)
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
	h.turn()
	for _, l := range h {
		l.now = l.now.Add(3 * time.Hour)
	}
	h.until(t, "the end of the turn", func() bool { return second.experiment("small").Status.Phase == v1alpha1.ExperimentComplete })
	invalid := first.runs()[0]
	first.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonDeadline,
		"the run took longer than 2h, the limit of this operator's --longest-turn")
}

// A ticket is good for as long as an operator may be away.
func TestATicketThatNobodyCaresForExpires(t *testing.T) {
	h := newHall(t, 2)
	gone, there := h[0], h[1]
	gone.create(login(), smallExperiment(t))
	gone.settle()
	there.create(login(), smallExperiment(t, oneArm))
	there.settle()
	if runs := there.runs(); len(runs) != 0 {
		t.Fatal("nobody has waited")
	}
	there.now = there.now.Add(queue.Lifetime + time.Minute)
	there.settle()
	if runs := there.runs(); len(runs) != 1 {
		t.Fatalf("%d runs were made after the ticket had expired, want one", len(runs))
	}
}

// An experiment that is gone without its operator having let it go, or that is done
// and was given another ticket by a pass with an old view, keeps nobody waiting.
func TestTicketsOfWhoIsGoneOrDoneAreTakenAway(t *testing.T) {
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
			left := queue.Ticket{Experiment: client.ObjectKeyFromObject(l.experiment("small")), UID: l.experiment("small").UID, Held: l.now, Renewed: l.now}
			lease := &coordinationv1.Lease{}
			lease.Name, lease.Namespace = queue.NameOf(left.UID), l.lanes
			expect.NoError(l.t, errors.Join(left.Write(lease), l.admin.Create(l.t.Context(), lease)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, 2)
			first, next := h[0], h[1]
			first.create(login(), smallExperiment(t, oneArm))
			end(first)
			if _, left := h.tickets()[first.namespace]; !left {
				t.Fatal("there is no ticket to take away")
			}
			next.create(login(), smallExperiment(t, oneArm))
			next.settle()
			if runs := next.runs(); len(runs) != 1 {
				t.Errorf("%d runs were made beside the ticket, want one", len(runs))
			}
			if _, left := h.tickets()[first.namespace]; left {
				t.Error("the ticket is still there")
			}
		})
	}
}

// What goes down disturbs who measures beside it: the next one begins when it is gone,
// or when it seems that it never will be.
func TestTheNextOneWaitsForTheEnvironmentToBeGone(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.PerfExperiment)
		// after is what has to come about before the next one begins; nil: nothing.
		after func(l *lab)
	}{
		"gone":              {func(*v1alpha1.PerfExperiment) {}, func(l *lab) { l.letGo() }},
		"hangs":             {func(*v1alpha1.PerfExperiment) {}, func(l *lab) { l.now = l.now.Add(6 * time.Minute) }},
		"stays":             {func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }, nil},
		"stays for a while": {func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.TTL = hours(1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, 2)
			first, next := h[0], h[1]
			first.create(login(), smallExperiment(t, oneArm, test.change))
			first.until("a load", func() bool { return len(first.runs()) > 0 && first.run().Status.Phase == v1alpha1.RunLoading })
			first.hold()
			next.create(login(), smallExperiment(t, oneArm))
			first.untilPhase("small", v1alpha1.ExperimentComplete)
			for range 5 {
				h.turn()
			}
			if test.after == nil {
				if len(next.runs()) == 0 {
					t.Fatalf("the next one waits: %+v", next.experiment("small").Status.Lane)
				}
				return
			}
			if waits := next.experiment("small").Status.Lane; len(next.runs()) > 0 || waits == nil || waits.Behind != first.namespace+"/small" {
				t.Fatalf("%d runs were made while the other environment went down, behind %+v", len(next.runs()), waits)
			}
			test.after(first)
			h.until(t, "the next one's run", func() bool { return len(next.runs()) > 0 })
			if _, left := h.tickets()[first.namespace]; left {
				t.Error("the ticket of the first one is still there")
			}
			if place := first.experiment("small").Status.Lane; place != nil {
				t.Errorf("the first one is told to be in line: %+v", place)
			}
		})
	}
}

// hold keeps the module from going when it is deleted.
func (l *lab) hold() { l.holdModules("perflab.dev/test") }

// letGo lets it.
func (l *lab) letGo() { l.holdModules() }

func (l *lab) holdModules(finalizers ...string) {
	l.t.Helper()
	modules := &appsv1.DeploymentList{}
	l.list(modules)
	if len(modules.Items) == 0 {
		l.t.Fatal("there are no modules")
	}
	for i := range modules.Items {
		modules.Items[i].Finalizers = finalizers
		l.update(&modules.Items[i])
	}
}

// Who starts nothing keeps nobody waiting.
func TestWhoStartsNoRunLeavesTheLine(t *testing.T) {
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
			h := newHall(t, 2)
			stops, waits := h[0], h[1]
			stops.create(login(), smallExperiment(t, oneArm, twoBlocks))
			if name != "refused" {
				stops.settle()
			}
			waits.create(login(), smallExperiment(t, oneArm))
			stop(stops)
			h.until(t, "the other one's run", func() bool { return len(waits.runs()) > 0 })
			if ticket, left := h.tickets()[stops.namespace]; left && !ticket.Held.IsZero() {
				t.Errorf("the first one still has its turn: %+v", ticket)
			}
		})
	}
}
