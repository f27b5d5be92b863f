// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/payload"
)

const (
	// progressTimeout bounds reading the progress of a load's runners.
	progressTimeout = 3 * time.Second
	// progressWindow has at least one progress report of a runner.
	progressWindow = payload.ProgressEvery + 5*time.Second
)

// updateProgress records the progress that the runners of a load report. It is informational:
// unreadable reports are left out.
func (r *Reconciler) updateProgress(ctx context.Context, s *scope, wanted v1alpha1.Load, pods []corev1.Pod, running []int32) {
	status := s.load(wanted.Name)
	if len(running) == 0 || !s.isProgressDue(status) || kinds.ForLoad(wanted).Results() == v1alpha1.ResultsSummary {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	on := map[string]bool{}
	for _, n := range running {
		on[naming.RunnerJob(status.TestRun, n)] = true
	}
	var reports []payload.Progress
	for _, pod := range pods {
		if !on[pod.Labels[batchv1.JobNameLabel]] {
			continue
		}
		if report, found := r.lastProgress(ctx, pod.Namespace, pod.Name); found {
			reports = append(reports, report)
		}
	}
	if len(reports) > 0 {
		status.Progress = load.AddProgress(reports, s.now)
	}
}

// isProgressDue reports whether it is time for the next progress report of a load.
func (s *scope) isProgressDue(status *v1alpha1.LoadStatus) bool {
	if status.StartTime == nil {
		return false
	}
	step := func(at time.Time) time.Duration { return load.ProgressStep(at.Sub(status.StartTime.Time)) }
	return step(s.now) > 0 && (status.Progress == nil || step(status.Progress.Time.Time) != step(s.now))
}

func (r *Reconciler) lastProgress(ctx context.Context, namespace, pod string) (payload.Progress, bool) {
	recent, err := r.Logs.Recent(ctx, namespace, pod, contract.RunnerContainer, progressWindow)
	if err != nil {
		log.FromContext(ctx).V(1).Info("No progress", "pod", pod, "error", err.Error())
		return payload.Progress{}, false
	}
	report, found := payload.LastProgress(recent)
	if err := recent.Close(); err != nil {
		log.FromContext(ctx).V(1).Info("Closing a log", "pod", pod, "error", err.Error())
	}
	return report, found
}
