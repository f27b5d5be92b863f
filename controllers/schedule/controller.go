// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/planning/recurrence"
	"perflab.dev/perflab/internal/runs/provenance"
)

// longestWait is the longest time between two looks at a schedule that has a time to come:
// a timer does not see that somebody has set the clock.
const longestWait = time.Hour

// Reconciler makes the experiments of PerfSchedules.
type Reconciler struct {
	component.Tools
	Now func() time.Time
}

// scope holds what one pass over a schedule has learnt.
type scope struct {
	schedule *v1alpha1.PerfSchedule
	now      time.Time
	// experiments are those that the schedule owns, by name.
	experiments map[string]*v1alpha1.PerfExperiment
	workloads   []recurrence.Workload
	decision    recurrence.Decision
	// fault is why nothing could be decided.
	fault error
	// made is the experiment that was made, by this pass or one that was cut off.
	made *v1alpha1.DueExperiment
	// refusal is what the API server, or the owner of an object, has against what this
	// pass was to do.
	refusal *environment.Readiness
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules,verbs=get;list;watch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules/finalizers,verbs=update

// Reconcile makes what is due of a schedule.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	schedule := &v1alpha1.PerfSchedule{}
	if err := r.Cluster.Client.Get(ctx, request.NamespacedName, schedule); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the schedule: %w", err)
	}
	if schedule.DeletionTimestamp != nil {
		// Its experiments go with it, or stay, as who deletes it says.
		return ctrl.Result{}, nil
	}
	s := &scope{schedule: schedule, now: r.Now()}
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	s.decision, s.fault = recurrence.Decide(recurrence.View{
		Schedule: s.schedule, Children: s.children(), Workloads: s.workloads, Archive: r.Archives.Of(s.schedule.Namespace) != nil, Now: s.now,
	})
	before := schedule.DeepCopy()
	err := r.act(ctx, s)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if refusal, refused := component.RefusedStatus(err); refused {
		s.refusal, err = &refusal, nil
	}
	if refusal, refused := component.RefusalOf(err); refused {
		s.refusal = &refusal
		if refusal.Reason != v1alpha1.ReasonRetrying {
			err = nil
		}
	}
	return r.conclude(ctx, before, s, err)
}

// act writes down what is to be made, and makes it. What it decided from an old view is
// refused when it is written down.
func (r *Reconciler) act(ctx context.Context, s *scope) error {
	if s.fault != nil {
		return nil
	}
	s.made = s.decision.Created
	if s.decision.Create {
		if err := r.writeDown(ctx, s); err != nil {
			return err
		}
		if err := r.take(ctx, s, s.decision.Replaced); err != nil {
			return err
		}
		if err := r.make(ctx, s); err != nil {
			return err
		}
	}
	return r.take(ctx, s, s.decision.Expired)
}

// errOld says that a pass saw what is no more.
var errOld = errors.New("the schedule has changed since it was read")

// writeDown what is to be made. An old view of the schedule is refused, also where what is
// to be made stands there already.
func (r *Reconciler) writeDown(ctx context.Context, s *scope) error {
	before := s.schedule.DeepCopy()
	s.remember()
	if equality.Semantic.DeepEqual(before.Status, s.schedule.Status) {
		now := &v1alpha1.PerfSchedule{}
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(before), now); err != nil {
			return fmt.Errorf("reading schedule %q: %w", before.Name, err)
		}
		if now.ResourceVersion != before.ResourceVersion || now.UID != before.UID {
			return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "perfschedules"}, before.Name, errOld)
		}
		return nil
	}
	err := component.PatchStatus(ctx, r.Cluster, "schedule", before, s.schedule)
	if err != nil {
		s.schedule = before
	}
	return err
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments,verbs=create;delete;get;list;watch

// make what is due. It may be there already, made by a pass that was cut off.
func (r *Reconciler) make(ctx context.Context, s *scope) error {
	due := s.decision.Due
	made := recurrence.Experiment(s.schedule, due.Name, string(due.Trigger), due.Release)
	err := r.Cluster.Create(ctx, made)
	if apierrors.IsAlreadyExists(err) {
		made, err = r.there(ctx, s, made)
	}
	if err != nil {
		return err
	}
	s.experiments[made.Name], s.made, s.decision.Due = made, due, nil
	return nil
}

// there is the experiment of the name, if it is the schedule's.
func (r *Reconciler) there(ctx context.Context, s *scope, wanted *v1alpha1.PerfExperiment) (*v1alpha1.PerfExperiment, error) {
	found := &v1alpha1.PerfExperiment{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(wanted), found); err != nil {
		return nil, fmt.Errorf("reading experiment %q: %w", wanted.Name, err)
	}
	if metav1.IsControlledBy(found, s.schedule) {
		return found, nil
	}
	found.SetGroupVersionKind(wanted.GroupVersionKind())
	return nil, r.Cluster.CheckOwner(found, wanted)
}

// take experiments of the schedule away.
func (r *Reconciler) take(ctx context.Context, s *scope, children []recurrence.Child) error {
	var faults []error
	for _, child := range children {
		faults = append(faults, r.Cluster.Delete(ctx, s.schedule, s.experiments[child.Name]))
	}
	return errors.Join(faults...)
}

// observe what is there of the schedule.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	if err := r.observeExperiments(ctx, s); err != nil {
		return err
	}
	for _, source := range s.schedule.Spec.OnImageChange {
		kind := appsv1.SchemeGroupVersion.WithKind(source.Kind)
		err := r.Room.Hold(ctx, func(ctx context.Context) error {
			// Past the cache, which keeps of others' workloads only whose they are.
			object, err := r.Cluster.Uncached(r.Live).Get(ctx, kind, client.ObjectKey{Namespace: s.schedule.Namespace, Name: source.Name})
			if err == nil {
				s.workloads = append(s.workloads, recurrence.ObserveWorkload(source, object))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// observeExperiments reads those that the schedule owns. One that is known to be on and
// that the cache does not show may have been made a moment ago.
func (r *Reconciler) observeExperiments(ctx context.Context, s *scope) error {
	list := &v1alpha1.PerfExperimentList{}
	err := r.Cluster.Client.List(ctx, list, client.InNamespace(s.schedule.Namespace),
		client.MatchingLabels{v1alpha1.LabelSchedule: s.schedule.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("listing the experiments of schedule %q: %w", s.schedule.Name, err)
	}
	s.experiments = map[string]*v1alpha1.PerfExperiment{}
	for i := range list.Items {
		s.own(&list.Items[i])
	}
	for _, name := range s.schedule.Status.Active {
		if s.experiments[name] != nil {
			continue
		}
		found := &v1alpha1.PerfExperiment{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: s.schedule.Namespace, Name: name}, found)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading experiment %q: %w", name, err)
		}
		if err == nil {
			s.own(found)
		}
	}
	return nil
}

// own keeps an experiment, if it is the schedule's.
func (s *scope) own(experiment *v1alpha1.PerfExperiment) {
	if metav1.IsControlledBy(experiment, s.schedule) && !provenance.IsImported(experiment) {
		s.experiments[experiment.Name] = experiment
	}
}

func (s *scope) children() []recurrence.Child {
	children := make([]recurrence.Child, 0, len(s.experiments))
	for _, experiment := range s.experiments {
		children = append(children, childOf(experiment))
	}
	slices.SortFunc(children, func(a, b recurrence.Child) int { return a.Created.Compare(b.Created) })
	return children
}

func childOf(experiment *v1alpha1.PerfExperiment) recurrence.Child {
	is := func(condition string) bool {
		return meta.IsStatusConditionTrue(experiment.Status.Conditions, condition)
	}
	child := recurrence.Child{
		Name: experiment.Name, UID: experiment.UID, Created: experiment.CreationTimestamp.Time,
		Deleting: experiment.DeletionTimestamp != nil,
	}
	archived := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionArchived)
	switch {
	case is(v1alpha1.ConditionComplete):
		child.State, child.Unarchived = recurrence.Succeeded, !is(v1alpha1.ConditionArchived)
	case is(v1alpha1.ConditionStalled):
		// One without a run that ended has nothing to be kept.
		child.State, child.Unarchived = recurrence.Failed, archived != nil && archived.Status != metav1.ConditionTrue
	}
	return child
}
