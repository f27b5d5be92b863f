// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
)

const (
	// aboutManifest begins the warning that a report goes without a manifest.
	aboutManifest = aboutReport + "has no manifest of digests"
	// refusedManifest is how it begins while the cluster takes none.
	refusedManifest = aboutManifest + " for now: "
)

// keepManifest writes the digests of what was recorded down to this stage, before
// the report that prints theirs. One that was written for the stage stays: what
// was changed since is not to be covered up.
func (r *Reconciler) keepManifest(ctx context.Context, s *scope, input *report.Input, reached stage) (*v1alpha1.ExperimentEvidence, error) {
	name := naming.Evidence(s.experiment.Name)
	previous, of, err := r.manifest(ctx, s.experiment, name)
	if err != nil {
		return nil, err
	}
	kept := &v1alpha1.ExperimentEvidence{Manifest: name, SHA256: evidence.Sum([]byte(previous))}
	if previous != "" && of == reached.digest {
		return kept, nil
	}
	history, err := evidence.OfHistory(input.History)
	if err != nil {
		return nil, err
	}
	text, err := evidence.Next(previous, s.experiment, input.Runs, evidence.Stage{Blocks: reached.blocks, Ended: reached.ended}, history)
	if err != nil {
		return nil, err
	}
	kept.SHA256 = evidence.Sum([]byte(text))
	if err := r.Cluster.ApplyTyped(ctx, manifestObject(s.experiment, name, text, reached)); err != nil {
		return nil, err
	}
	// Once more in the event; logs are often shipped to where nobody changes them.
	log.FromContext(ctx).Info("The manifest of digests is written", "stage", reached.String(), "sha256", kept.SHA256)
	return kept, nil
}

func manifestObject(experiment *v1alpha1.PerfExperiment, name, text string, reached stage) *corev1.ConfigMap {
	stored := emptyConfigMap(experiment, name)
	stored.Annotations = map[string]string{v1alpha1.AnnotationReportOf: reached.digest}
	stored.Data = map[string]string{evidence.Key: text}
	return stored
}

// unproved says why a report goes without a manifest; empty: it need not. A
// cluster that does not answer is asked again.
func unproved(err error) string {
	switch {
	case errors.Is(err, evidence.ErrManifest) || errors.Is(err, evidence.ErrTooLarge):
		return aboutManifest + ": " + err.Error()
	case isRefused(err):
		return refusedManifest + err.Error()
	default:
		return ""
	}
}

// isRefused: somebody has to let the write through.
func isRefused(err error) bool {
	refusal := kube.AsRefusal(err)
	return refusal != nil && refusal.Owner != kube.OwnerEarlier
}

// known is what an earlier pass has said that begins like this; empty: nothing.
func known(warnings []string, prefix string) string {
	at := slices.IndexFunc(warnings, func(warning string) bool { return strings.HasPrefix(warning, prefix) })
	if at < 0 {
		return ""
	}
	return warnings[at]
}

// manifest is the one of an earlier stage, and the stage's digest. One that
// belongs to somebody else is none: writing ours will be refused.
func (r *Reconciler) manifest(ctx context.Context, experiment *v1alpha1.PerfExperiment, name string) (text, of string, err error) {
	found, err := r.ownConfigMap(ctx, experiment, name)
	if err != nil {
		return "", "", fmt.Errorf("reading the manifest of digests: %w", err)
	}
	if found == nil {
		return "", "", nil
	}
	return found.Data[evidence.Key], found.Annotations[v1alpha1.AnnotationReportOf], nil
}

// markEvidence writes on a report which manifest's digest it prints, and its own.
func markEvidence(stored *corev1.ConfigMap, kept *v1alpha1.ExperimentEvidence) error {
	if kept == nil {
		return nil
	}
	sum, err := evidence.Content(stored)
	if err != nil {
		return err
	}
	kept.Report = sum
	stored.Annotations[v1alpha1.AnnotationEvidence] = kept.SHA256 + " " + sum
	return nil
}

// evidenceOn is what markEvidence wrote on a report; nil: nothing.
func evidenceOn(stored metav1.Object, experiment string) *v1alpha1.ExperimentEvidence {
	manifest, sum, found := strings.Cut(stored.GetAnnotations()[v1alpha1.AnnotationEvidence], " ")
	if !found {
		return nil
	}
	return &v1alpha1.ExperimentEvidence{Manifest: naming.Evidence(experiment), SHA256: manifest, Report: sum}
}
