// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// stepSalvage stores what the runners and the collector of an invalid run have printed so far,
// checkpoints included, and its observations: they help to find the cause, and a day-long load
// that was interrupted still has data. The analysis does not use them. Unreadable logs are
// skipped.
func (r *Reconciler) stepSalvage(ctx context.Context, s *scope) (outcome, error) {
	if s.status().RawResults != "" {
		return next(), nil
	}
	saved := rawResults{measured: map[string]results.Measured{}, logs: map[string]string{}}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		if s.load(wanted.Name).CreateTime == nil {
			continue
		}
		own, logs, err := r.salvageLoad(ctx, s, wanted)
		if err != nil {
			return outcome{}, err
		}
		if logs != "" {
			saved.logs[wanted.Name] = logs
		}
		if own.Histograms != nil {
			saved.measured[wanted.Name] = own
		}
	}
	if len(saved.measured)+len(saved.logs) == 0 {
		return next(), nil
	}
	var err error
	if saved.observations, err = r.salvageObservations(ctx, s, saved.measured); err != nil {
		return outcome{}, err
	}
	err = r.storeRawResults(ctx, s, saved)
	if refusal := kube.AsRefusal(err); refusal != nil {
		s.warn("cannot store the results of the runners: " + refusal.Error())
		return next(), nil
	}
	return next(), err
}

// salvageObservations stores the observations of the loads that left results, and of the
// servers during them.
func (r *Reconciler) salvageObservations(ctx context.Context, s *scope, measured map[string]results.Measured) ([]byte, error) {
	results.SetDisturbed(measured, s.status().Faults)
	spec := s.run.Spec
	loads := slices.DeleteFunc(slices.Clone(spec.Scenario.Loads), func(load v1alpha1.Load) bool {
		_, left := measured[load.Name]
		return !left
	})
	if len(loads) == 0 {
		return nil, nil
	}
	if err := r.salvageSamples(ctx, s); err != nil {
		return nil, err
	}
	observations := results.Observe(loads, measured, spec.Measurement)
	if s.samples != nil {
		observations = append(observations, results.ObserveServersThroughout(s.samples, loads, measured, spec.Measurement)...)
	}
	return s.storeObservations(observations)
}

// salvageSamples stores the collector's samples so far, if they can be read.
func (r *Reconciler) salvageSamples(ctx context.Context, s *scope) error {
	if r.CollectorImage == "" || s.samples != nil {
		return nil
	}
	pods, err := r.collectorPods(ctx, s.run)
	if err != nil || len(pods) == 0 {
		return err
	}
	samples, notes, _, unread := r.readCollector(ctx, s, pods)
	if samples == nil {
		log.FromContext(ctx).Info("No samples to store", "notes", notes, "error", unread)
		return nil
	}
	s.samples = samples
	if err := r.storeSamples(ctx, s); kube.AsRefusal(err) == nil {
		return err
	}
	return nil
}

func (r *Reconciler) salvageLoad(ctx context.Context, s *scope, wanted v1alpha1.Load) (own results.Measured, logs string, err error) {
	status := s.load(wanted.Name)
	pods, err := r.runnerPods(ctx, s.run, status.TestRun)
	if err != nil {
		return results.Measured{}, "", err
	}
	var parts runnerOutput
	for _, pod := range pods {
		if err := r.readRunner(ctx, s, pod, wanted, &parts); err != nil {
			log.FromContext(ctx).Info("Failed to read the results of a runner", "pod", pod.Name, "error", err.Error())
		}
	}
	if !parts.Any() {
		return results.Measured{}, parts.logs.String(), nil
	}
	own, err = parts.measured(status)
	if err != nil {
		log.FromContext(ctx).Info("Failed to merge the results of the runners", "load", wanted.Name, "error", err.Error())
		return results.Measured{}, parts.logs.String(), nil
	}
	return own, parts.logs.String(), nil
}

// lastLogLine returns a suffix for the message of a failed load with the last line that the
// runner logged, because its pod may be gone soon. Our k6 removes secrets from its log lines.
// Output of other images may contain secrets, which the operator may not read and cannot search
// for, so the suffix refers to the log instead.
func (r *Reconciler) lastLogLine(ctx context.Context, s *scope, wanted v1alpha1.Load) (string, error) {
	pods, err := r.runnerPods(ctx, s.run, s.load(wanted.Name).TestRun)
	if err != nil {
		return "", err
	}
	silent := ""
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if words := load.LastLogLine(r.logLines(ctx, pod)); words != "" {
			return ": " + words, nil
		}
		silent = "; for its last log lines, run: perflab logs " + s.run.Name
	}
	return silent, nil
}

// logLines returns the log lines of a runner, or none if they cannot be read.
func (r *Reconciler) logLines(ctx context.Context, pod corev1.Pod) []payload.LogLine {
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	printed, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, contract.RunnerContainer)
	if err != nil {
		return nil
	}
	lines := payload.ReadLog(printed)
	if err := printed.Close(); err != nil {
		log.FromContext(ctx).V(1).Info("Closing a log", "pod", pod.Name, "error", err.Error())
	}
	return lines
}
