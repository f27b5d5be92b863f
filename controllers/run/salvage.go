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

// stepSalvage keeps what the runners and the collector of a run that does not count
// have printed so far, checkpoints included, and what it observed until then: twenty
// hours of a day that was interrupted tell a lot, and people want to know what went
// wrong. It never counts, and what can't be read is left.
func (r *Reconciler) stepSalvage(ctx context.Context, s *scope) (outcome, error) {
	if s.status().RawResults != "" {
		return next(), nil
	}
	saved := kept{measured: map[string]results.Measured{}, logs: map[string]string{}}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		if s.load(wanted.Name).CreateTime == nil {
			continue
		}
		own, logs, err := r.salvage(ctx, s, wanted)
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
	err = r.keepRaw(ctx, s, saved)
	if refusal := kube.AsRefusal(err); refusal != nil {
		s.warn("what the runners of this run left can't be kept: " + refusal.Error())
		return next(), nil
	}
	return next(), err
}

// salvageObservations puts into the status what the loads that left something, and the servers
// beside them, came to.
func (r *Reconciler) salvageObservations(ctx context.Context, s *scope, measured map[string]results.Measured) ([]byte, error) {
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
	return s.keepObservations(observations)
}

// salvageSamples keeps what the collector told so far, if it can be read.
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
		log.FromContext(ctx).Info("The collector left nothing to keep", "notes", notes, "error", unread)
		return nil
	}
	s.samples = samples
	if err := r.keepSamples(ctx, s); kube.AsRefusal(err) == nil {
		return err
	}
	return nil
}

func (r *Reconciler) salvage(ctx context.Context, s *scope, wanted v1alpha1.Load) (own results.Measured, logs string, err error) {
	status := s.load(wanted.Name)
	pods, err := r.runners(ctx, s.run, status.TestRun)
	if err != nil {
		return results.Measured{}, "", err
	}
	var parts runnersResults
	for _, pod := range pods {
		if err := r.readRunner(ctx, s, pod, wanted, &parts); err != nil {
			log.FromContext(ctx).Info("A runner left nothing to keep", "pod", pod.Name, "error", err.Error())
		}
	}
	if !parts.Any() {
		return results.Measured{}, parts.logs.String(), nil
	}
	own, err = parts.measured(status)
	if err != nil {
		log.FromContext(ctx).Info("What the runners left does not fit together", "load", wanted.Name, "error", err.Error())
		return results.Measured{}, parts.logs.String(), nil
	}
	return own, parts.logs.String(), nil
}

// lastWords end the message of a load whose runner failed with the last thing
// the runner logged: its pod may be gone when somebody looks. Our k6 tells that
// without the secrets of its environment. Of another nobody knows what it
// prints, and the operator may not read the Secrets to search it for, so its
// words stay in the log.
func (r *Reconciler) lastWords(ctx context.Context, s *scope, wanted v1alpha1.Load) (string, error) {
	pods, err := r.runners(ctx, s.run, s.load(wanted.Name).TestRun)
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
		silent = "; for what it said last, see: perflab logs " + s.run.Name
	}
	return silent, nil
}

// logLines are what a runner told of its log; none where it can't be read.
func (r *Reconciler) logLines(ctx context.Context, pod corev1.Pod) []payload.LogLine {
	ctx, cancel := context.WithTimeout(ctx, glanceTimeout)
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
