// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/results"
)

// stepSalvage keeps what the runners of a run that does not count have printed
// so far, checkpoints included, for people who want to know what went wrong.
// It never counts, and what can't be read is left.
func (r *RunReconciler) stepSalvage(ctx context.Context, s *runScope) (outcome, error) {
	if s.status().RawResults != "" {
		return next(), nil
	}
	measured := map[string]results.Measured{}
	for _, wanted := range s.run.Spec.Scenario.Loads {
		if status := s.load(wanted.Name); status.CreateTime == nil || wanted.Script.ResultsOrDefault() == v1alpha1.ResultsSummary {
			continue
		}
		own, err := r.salvage(ctx, s, wanted)
		if err != nil {
			return outcome{}, err
		}
		if own.Histograms != nil {
			measured[wanted.Name] = own
		}
	}
	if len(measured) == 0 {
		return next(), nil
	}
	return next(), r.keepRaw(ctx, s, measured, nil)
}

func (r *RunReconciler) salvage(ctx context.Context, s *runScope, wanted v1alpha1.Load) (results.Measured, error) {
	status := s.load(wanted.Name)
	pods, err := r.runners(ctx, s.run.Namespace, status.TestRun)
	if err != nil {
		return results.Measured{}, err
	}
	var parts runnersResults
	for _, pod := range pods {
		var own runnersResults
		if err := r.readRunner(ctx, pod, wanted, &own); err != nil {
			log.FromContext(ctx).Info("A runner left nothing to keep", "pod", pod.Name, "error", err.Error())
			continue
		}
		parts.histograms = append(parts.histograms, own.histograms...)
	}
	if len(parts.histograms) == 0 {
		return results.Measured{}, nil
	}
	own, err := parts.sum(status)
	if err != nil {
		log.FromContext(ctx).Info("What the runners left does not fit together", "load", wanted.Name, "error", err.Error())
		return results.Measured{}, nil
	}
	return own, nil
}

// lastWords end the message of a load whose runner failed with the last thing
// the runner logged: its pod may be gone when somebody looks. Our own scripts
// keep their login out of what they log. Of other scripts nobody knows what
// they print, and the operator may not read the Secrets to search it for, so
// their words stay in the log.
func (r *RunReconciler) lastWords(ctx context.Context, s *runScope, wanted v1alpha1.Load) string {
	pods, err := r.runners(ctx, s.run.Namespace, s.load(wanted.Name).TestRun)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if wanted.Script != nil {
			return "; for what the script said last, see: perflab logs " + s.run.Name
		}
		if words := r.lastLine(ctx, pod); words != "" {
			return ": " + words
		}
	}
	return ""
}

func (r *RunReconciler) lastLine(ctx context.Context, pod corev1.Pod) string {
	ctx, cancel := context.WithTimeout(ctx, glanceTimeout)
	defer cancel()
	printed, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, contract.RunnerContainer)
	if err != nil {
		return ""
	}
	words := load.LastWords(printed)
	if err := printed.Close(); err != nil {
		log.FromContext(ctx).V(1).Info("Closing a log", "pod", pod.Name, "error", err.Error())
	}
	return words
}
