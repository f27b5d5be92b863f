// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/results"
)

// writeRefusal writes, in place of a status that the API server refuses, the previous one with
// the refusal as its fault. Later reconciles end the loads as of any invalid run. If that
// status is refused as well, the run is finished: others wait for its end.
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

// withFault is a scope with the previous status and the refusal. A run that already had a fault
// is finished: its follow-up was refused.
func (s *scope) withFault(before *v1alpha1.PerfRun, refused environment.Readiness) *scope {
	left := &scope{run: before.DeepCopy(), experiment: s.experiment, now: s.now, fault: component.RecordedFault(before)}
	if left.fault != nil {
		return left.finishedScope()
	}
	left.fault = &results.Fault{Reason: refused.Reason, Message: refused.Message}
	return left
}

// finishedScope is the scope of a finished run with only its timings, loads and conditions.
func (s *scope) finishedScope() *scope {
	status := s.status()
	*status = v1alpha1.PerfRunStatus{Timings: status.Timings, Loads: status.Loads, Conditions: status.Conditions}
	s.stamp(&status.Timings.Finish)
	s.finished = true
	return s
}
