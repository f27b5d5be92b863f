// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/measure/results"
)

// faultPollInterval is how often the effects of a fault are read.
const faultPollInterval = time.Second

// injector is a kind of fault.
type injector interface {
	// inject takes the next step to the start of the fault. It is not done if the status has to be
	// written before the following step.
	inject(context.Context, *scope, v1alpha1.Fault, *v1alpha1.RunFault) (outcome, error)
	// observe records the effects of the fault until its observation ends.
	observe(context.Context, *scope, v1alpha1.Fault, *v1alpha1.RunFault) error
	// remove ends the fault, and records whether anything is left of it.
	remove(context.Context, *scope, v1alpha1.Fault, *v1alpha1.RunFault) error
}

func (r *Reconciler) injector(declared v1alpha1.Fault) injector {
	switch {
	case declared.Resource != nil:
		return resourceInjector{r}
	case declared.Restart != nil:
		return restarter{r}
	case declared.Switchover != nil:
		return switcher{r: r}
	case declared.Partitions != nil:
		return partitioner{r}
	default:
		return podKiller{r: r}
	}
}

// stepFaults injects the scenario's faults when they are due, and observes them. The status records
// each action before it is taken, so that a later reconcile continues with the same.
func (r *Reconciler) stepFaults(ctx context.Context, s *scope) (outcome, error) {
	if s.status().Timings.LoadFinish != nil {
		return next(), nil
	}
	for _, declared := range s.run.Spec.Scenario.Faults {
		status := s.runFault(declared)
		if status == nil {
			continue
		}
		if taken, err := r.reconcileFault(ctx, s, declared, status); err != nil || !taken.done {
			return taken, err
		}
	}
	return next(), nil
}

// runFault returns the status of a fault, created once its time is known; nil before.
func (s *scope) runFault(declared v1alpha1.Fault) *v1alpha1.RunFault {
	if status := s.status().Fault(declared.Name); status != nil {
		return status
	}
	due, known := faults.Due(declared, &s.run.Spec, s.status().Loads)
	if !known {
		return nil
	}
	s.status().Faults = append(s.status().Faults, v1alpha1.RunFault{Name: declared.Name, Due: metav1.NewMicroTime(due)})
	return s.status().Fault(declared.Name)
}

func (r *Reconciler) reconcileFault(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	switch {
	case s.now.Before(status.Due.Time):
		s.requeueAt(status.Due.Time)
		return next(), nil
	case status.Begin == nil:
		return r.inject(ctx, s, declared, status)
	case s.now.Before(status.End.Time):
		return next(), r.injector(declared).observe(ctx, s, declared, status)
	default:
		return next(), r.injector(declared).remove(ctx, s, declared, status)
	}
}

// inject injects a fault. One that is refused makes the run invalid: it is to happen now, or in
// another run.
func (r *Reconciler) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	taken, err := r.injector(declared).inject(ctx, s, declared, status)
	if refusal := kube.AsRefusal(err); refusal != nil {
		s.notInjected("fault %q is refused: %s", declared.Name, refusal.Sentence())
		return next(), nil
	}
	return taken, err
}

// stepFaultsGone waits until nothing is left of the run's faults, which would disturb later runs.
// It has no deadline, but [queue.Queue] lets others go first after a while.
func (r *Reconciler) stepFaultsGone(ctx context.Context, s *scope) (outcome, error) {
	for _, declared := range s.run.Spec.Scenario.Faults {
		status := s.status().Fault(declared.Name)
		if status == nil {
			continue
		}
		if err := r.injector(declared).remove(ctx, s, declared, status); err != nil {
			return outcome{}, err
		}
		if left := leftover(status); left != "" {
			s.loadMessage = left
			s.setReadiness(v1alpha1.ConditionLoadsComplete, environment.NotReady(v1alpha1.ReasonDeleting, left))
			return waitFor(faultPollInterval), nil
		}
	}
	return next(), nil
}

// leftover describes the objects of a fault that are still being deleted. It is empty if there are none.
func leftover(status *v1alpha1.RunFault) string {
	switch {
	case status.Gone:
		return ""
	case status.Attempted:
		return fmt.Sprintf("Waiting for the topics of fault %q to be deleted, so that the next run creates them as declared", status.Name)
	case status.Resource != nil:
		return fmt.Sprintf("Waiting for %s %q of fault %q to be deleted: check its finalizers and its controller", status.Resource.Kind, status.Resource.Name, status.Name)
	}
	return ""
}

// recordBegin records the start of a fault.
func (s *scope) recordBegin(declared v1alpha1.Fault, status *v1alpha1.RunFault, at time.Time) {
	faults.Begin(status, declared, at)
	s.requeueAt(s.now.Add(faultPollInterval))
}

// onceWritten lets the next reconcile continue with the status that this one writes.
func onceWritten() outcome { return waitFor(time.Millisecond) }

// endsByItself is a fault that leaves nothing to remove: the components replace their pods.
type endsByItself struct{}

func (endsByItself) remove(context.Context, *scope, v1alpha1.Fault, *v1alpha1.RunFault) error {
	return nil
}

func (s *scope) notInjected(format string, arguments ...any) {
	s.setFault(&results.Fault{Reason: v1alpha1.ReasonFaultNotInjected, Message: fmt.Sprintf(format, arguments...)})
}
