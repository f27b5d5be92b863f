// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/results"
)

// writeRefusal writes, in place of a status that the API server refuses, the one the run had, with
// the refusal as its fault. Later passes end the loads, as those of any run that does not
// count. Where what they write is refused too, the run is over: others wait for its end.
func (r *Reconciler) writeRefusal(ctx context.Context, before *v1alpha1.PerfRun, s *scope, refused environment.Readiness) (*scope, error) {
	left, err := r.writeFault(ctx, before, s.withFault(before, refused))
	if _, again := component.StatusRefusalReadiness(err); again {
		left, err = r.writeFault(ctx, before, left.finishedScope())
	}
	return left, err
}

func (r *Reconciler) writeFault(ctx context.Context, before *v1alpha1.PerfRun, s *scope) (*scope, error) {
	reportRun(s)
	return s, component.PatchStatus(ctx, r.Cluster, "run", before, s.run)
}

// withFault is a scope that knows what was written before this pass, and the refusal. A run
// whose fault was written before is over: it is what follows a fault that is refused.
func (s *scope) withFault(before *v1alpha1.PerfRun, refused environment.Readiness) *scope {
	left := &scope{run: before.DeepCopy(), experiment: s.experiment, now: s.now, fault: component.RecordedFault(before)}
	if left.fault != nil {
		return left.finishedScope()
	}
	left.fault = &results.Fault{Reason: refused.Reason, Message: refused.Message}
	return left
}

// finishedScope is the scope of a run that is over and has nothing but its times, loads and fault.
func (s *scope) finishedScope() *scope {
	status := s.status()
	*status = v1alpha1.PerfRunStatus{Timings: status.Timings, Loads: status.Loads, Conditions: status.Conditions}
	s.stamp(&status.Timings.Finish)
	s.finished = true
	return s
}
