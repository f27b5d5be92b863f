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

// maxRequeueAfter bounds the delay until a scheduled time, because timers do not notice changes
// of the clock.
const maxRequeueAfter = time.Hour

// Reconciler creates the experiments of PerfSchedules.
type Reconciler struct {
	component.Tools
	Now func() time.Time
}

// scope is the state of one reconcile of a schedule.
type scope struct {
	schedule *v1alpha1.PerfSchedule
	now      time.Time
	// experiments that the schedule owns, by name.
	experiments map[string]*v1alpha1.PerfExperiment
	workloads   []recurrence.Workload
	decision    recurrence.Decision
	// fault is why there is no decision.
	fault error
	// made is the experiment that was created, by this reconcile or an interrupted one.
	made *v1alpha1.DueExperiment
	// refusal is why the API server, or the owner of an object, refuses a write of this
	// reconcile.
	refusal *environment.Readiness
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules,verbs=get;list;watch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfschedules/finalizers,verbs=update

// Reconcile creates what is due of a schedule.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	schedule := &v1alpha1.PerfSchedule{}
	if err := r.Cluster.Client.Get(ctx, request.NamespacedName, schedule); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the schedule: %w", err)
	}
	if schedule.DeletionTimestamp != nil {
		// The deletion's propagation policy decides about its experiments.
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
	err := r.execute(ctx, s)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if refusal, refused := component.StatusRefusalReadiness(err); refused {
		s.refusal, err = &refusal, nil
	}
	if refusal, refused := component.RefusalReadiness(err); refused {
		s.refusal = &refusal
		if refusal.Reason != v1alpha1.ReasonRetrying {
			err = nil
		}
	}
	return r.finish(ctx, before, s, err)
}

// execute records the decision and executes it. A decision from a stale schedule cannot be
// recorded.
func (r *Reconciler) execute(ctx context.Context, s *scope) error {
	if s.fault != nil {
		return nil
	}
	s.made = s.decision.Created
	if s.decision.Create {
		if err := r.recordDecision(ctx, s); err != nil {
			return err
		}
		if err := r.deleteExperiments(ctx, s, s.decision.Replaced); err != nil {
			return err
		}
		if err := r.createExperiment(ctx, s); err != nil {
			return err
		}
	}
	return r.deleteExperiments(ctx, s, s.decision.Expired)
}

// errOutdated means that the reconcile read a stale schedule.
var errOutdated = errors.New("the schedule has changed since it was read")

// recordDecision writes what will be created. It fails if the schedule is stale, also if the
// decision is recorded already.
func (r *Reconciler) recordDecision(ctx context.Context, s *scope) error {
	before := s.schedule.DeepCopy()
	s.setDecision()
	if equality.Semantic.DeepEqual(before.Status, s.schedule.Status) {
		now := &v1alpha1.PerfSchedule{}
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(before), now); err != nil {
			return fmt.Errorf("reading schedule %q: %w", before.Name, err)
		}
		if now.ResourceVersion != before.ResourceVersion || now.UID != before.UID {
			return apierrors.NewConflict(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "perfschedules"}, before.Name, errOutdated)
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

// createExperiment creates the experiment that is due. An interrupted reconcile may have
// created it.
func (r *Reconciler) createExperiment(ctx context.Context, s *scope) error {
	due := s.decision.Due
	made := recurrence.Experiment(s.schedule, due.Name, string(due.Trigger), due.Release)
	err := r.Cluster.Create(ctx, made)
	if apierrors.IsAlreadyExists(err) {
		made, err = r.getExisting(ctx, s, made)
	}
	if err != nil {
		return err
	}
	s.experiments[made.Name], s.made, s.decision.Due = made, due, nil
	return nil
}

// getExisting returns the experiment of the name, if the schedule owns it.
func (r *Reconciler) getExisting(ctx context.Context, s *scope, wanted *v1alpha1.PerfExperiment) (*v1alpha1.PerfExperiment, error) {
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

// deleteExperiments deletes experiments of the schedule.
func (r *Reconciler) deleteExperiments(ctx context.Context, s *scope, children []recurrence.Child) error {
	var faults []error
	for _, child := range children {
		faults = append(faults, r.Cluster.Delete(ctx, s.schedule, s.experiments[child.Name]))
	}
	return errors.Join(faults...)
}

// observe reads the schedule's experiments and workloads.
func (r *Reconciler) observe(ctx context.Context, s *scope) error {
	if err := r.observeExperiments(ctx, s); err != nil {
		return err
	}
	for _, source := range s.schedule.Spec.OnImageChange {
		kind := appsv1.SchemeGroupVersion.WithKind(source.Kind)
		err := r.ReadLimiter.Do(ctx, func(ctx context.Context) error {
			// From the API server: the cache holds only the identity of workloads of others.
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

// observeExperiments reads the experiments that the schedule owns. An active one that is not in
// the cache may have been created a moment ago.
func (r *Reconciler) observeExperiments(ctx context.Context, s *scope) error {
	list := &v1alpha1.PerfExperimentList{}
	err := r.Cluster.Client.List(ctx, list, client.InNamespace(s.schedule.Namespace),
		client.MatchingLabels{v1alpha1.LabelSchedule: s.schedule.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("listing the experiments of schedule %q: %w", s.schedule.Name, err)
	}
	s.experiments = map[string]*v1alpha1.PerfExperiment{}
	for i := range list.Items {
		s.addOwned(&list.Items[i])
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
			s.addOwned(found)
		}
	}
	return nil
}

// addOwned adds an experiment if the schedule owns it.
func (s *scope) addOwned(experiment *v1alpha1.PerfExperiment) {
	if metav1.IsControlledBy(experiment, s.schedule) && !provenance.IsImported(experiment) {
		s.experiments[experiment.Name] = experiment
	}
}

func (s *scope) children() []recurrence.Child {
	children := make([]recurrence.Child, 0, len(s.experiments))
	for _, experiment := range s.experiments {
		children = append(children, newChild(experiment))
	}
	slices.SortFunc(children, func(a, b recurrence.Child) int { return a.Created.Compare(b.Created) })
	return children
}

func newChild(experiment *v1alpha1.PerfExperiment) recurrence.Child {
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
		// Without a finished run there is nothing to archive.
		child.State, child.Unarchived = recurrence.Failed, archived != nil && archived.Status != metav1.ConditionTrue
	}
	return child
}
