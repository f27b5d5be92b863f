// SPDX-License-Identifier: Apache-2.0

// Package artifact makes what an experiment leaves behind: the analysis, the history, the
// manifest of digests, the report, the archive record and the announcement. Each artifact
// identifies its source by a digest. The status of the experiment records the digest and the
// outcome, so that a restarted operator makes nothing twice and does not repeat what fails.
package artifact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/text/prose"
)

// Artifact is made from the records of an experiment.
type Artifact interface {
	// About describes the artifact.
	About() Kind
	// Source is the digest of what the artifact is made from; empty: it is not due.
	Source(*Maker, *Subject) string
	// IsStored reports whether the artifact of the source is stored already, and reads what
	// later artifacts need of it.
	IsStored(ctx context.Context, m *Maker, s *Subject, source string) (bool, error)
	// Make makes and stores the artifact, and describes what it lacks.
	Make(ctx context.Context, m *Maker, s *Subject, source string) (lacks string, err error)
}

// Kind describes an artifact. Artifacts embed it.
type Kind struct {
	// Name in the status.
	Name v1alpha1.ArtifactName
	// Title begins sentences about the artifact.
	Title string
	// ConfigMap returns the name of the ConfigMap that stores the artifact; nil: there is none.
	ConfigMap func(experiment string) string
	// IsOptional: an experiment is settled without the artifact if it can't be made.
	IsOptional bool
}

// About returns the description itself.
func (k Kind) About() Kind { return k }

// IsStored returns false, for artifacts that each operator makes once.
func (Kind) IsStored(context.Context, *Maker, *Subject, string) (bool, error) { return false, nil }

// Stored are the artifacts that follow the analysis, in the order in which they are made: each
// may need those before it.
var Stored = []Artifact{
	History,
	Manifest,
	Report,
}

// All artifacts that a settled experiment has.
var All = slices.Concat([]Artifact{Analysis}, Stored, []Artifact{Archive})

// sourceError means that an artifact can't be made from its source: a retry would fail in the
// same way.
type sourceError struct{ error }

func (e *sourceError) Unwrap() error { return e.error }

func unusable(err error) error { return &sourceError{err} }

// Reconcile makes the artifacts that are due, in order.
func (m *Maker) Reconcile(ctx context.Context, s *Subject, artifacts ...Artifact) error {
	for _, artifact := range artifacts {
		if err := m.reconcile(ctx, s, artifact); err != nil {
			return err
		}
	}
	return nil
}

func (m *Maker) reconcile(ctx context.Context, s *Subject, artifact Artifact) error {
	source := artifact.Source(m, s)
	if source == "" || s.isCurrent(artifact.About().Name, source) {
		return nil
	}
	last := s.Experiment.Status.Artifact(artifact.About().Name)
	switch {
	case last.Digest != source:
	case last.State == v1alpha1.ArtifactFailed:
		return nil
	case last.State == v1alpha1.ArtifactRefused && m.isStillRefused(ctx, s, artifact):
		return nil
	}
	lacks := last.Message
	stored, err := artifact.IsStored(ctx, m, s, source)
	switch {
	case err == nil && !stored:
		lacks, err = artifact.Make(ctx, m, s, source)
	case last.Digest != source && last.Digest != "" || last.State != v1alpha1.ArtifactCurrent:
		lacks = ""
	}
	return m.record(ctx, s, artifact, source, lacks, err)
}

// record writes the outcome of an attempt into the status. It returns an error that may be
// temporary.
func (m *Maker) record(ctx context.Context, s *Subject, artifact Artifact, source, lacks string, err error) error {
	outcome := v1alpha1.ArtifactStatus{Name: artifact.About().Name, Digest: source, State: v1alpha1.ArtifactCurrent, Message: lacks}
	unavailable, unfit := &unavailableError{}, &sourceError{}
	switch {
	case err == nil:
		s.made[artifact.About().Name] = source
		if lacks != "" {
			outcome.Reason = v1alpha1.ReasonIncomplete
		}
	case errors.As(err, &unavailable):
		outcome.State, outcome.Reason, outcome.Message = v1alpha1.ArtifactUnavailable, unavailable.readiness.Reason, unavailable.readiness.Message
		s.Requeue(component.ArchiveRetryInterval)
	case isTooLarge(err) || errors.As(err, &unfit):
		outcome.State, outcome.Reason, outcome.Message = v1alpha1.ArtifactFailed, v1alpha1.ReasonUnusable, err.Error()
	case isRefused(err):
		outcome.State, outcome.Reason, outcome.Message = v1alpha1.ArtifactRefused, v1alpha1.ReasonRefused, err.Error()
		s.Requeue(component.RefusalRetryInterval)
	default:
		return err
	}
	if err != nil {
		log.FromContext(ctx).Info("Failed to create an artifact", "artifact", artifact.About().Name, "state", outcome.State, "error", err.Error())
	}
	outcome.Message = prose.Cut(outcome.Message, maxMessage)
	s.Experiment.Status.SetArtifact(outcome)
	return nil
}

// maxMessage bounds a message in bytes, as the schema does.
const maxMessage = 2000

// unavailableError means that a server outside the cluster does not accept an artifact.
type unavailableError struct{ readiness environment.Readiness }

func (e *unavailableError) Error() string { return e.readiness.Message }

// isStillRefused checks by a dry run, which costs less than making the artifact.
func (m *Maker) isStillRefused(ctx context.Context, s *Subject, artifact Artifact) bool {
	nameOf := artifact.About().ConfigMap
	if nameOf == nil {
		return false
	}
	dryRun := kube.Cluster{Client: client.NewDryRunClient(m.Cluster.Client)}
	if err := dryRun.ApplyTyped(ctx, component.EmptyConfigMap(s.Experiment, nameOf(s.Experiment.Name))); !isRefused(err) {
		return false
	}
	s.Requeue(component.RefusalRetryInterval)
	return true
}

// isRefused reports whether a permission is missing for a write.
func isRefused(err error) bool {
	refusal := kube.AsRefusal(err)
	return refusal != nil && refusal.Owner != kube.OwnerEarlier
}

// isTooLarge reports whether an object exceeds the API server's size limit, which no permission
// changes.
func isTooLarge(err error) bool {
	refusal := kube.AsRefusal(err)
	if refusal == nil {
		return false
	}
	return apierrors.IsRequestEntityTooLargeError(refusal.Cause) || apierrors.HasStatusCause(refusal.Cause, metav1.CauseType(field.ErrorTypeTooLong))
}

// Warnings describe to users what the artifacts lack and which could not be made.
func Warnings(status *v1alpha1.PerfExperimentStatus) []string {
	var warnings []string
	for _, artifact := range Stored {
		if warning := artifact.About().warning(status); warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

func (k Kind) warning(status *v1alpha1.PerfExperimentStatus) string {
	made := status.Artifact(k.Name)
	switch {
	case made.Message == "":
		return ""
	case made.State == v1alpha1.ArtifactCurrent:
		return k.Title + " " + made.Message
	case made.State == v1alpha1.ArtifactFailed:
		return fmt.Sprintf("%s could not be written: %s", k.Title, made.Message)
	default:
		return fmt.Sprintf("%s could not be written, retrying: %s", k.Title, made.Message)
	}
}
