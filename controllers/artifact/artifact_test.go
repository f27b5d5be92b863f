// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// scripted is an artifact whose attempts have the results that the test sets.
type scripted struct {
	Kind
	source   string
	isStored bool
	lacks    string
	err      error
	attempts int
}

func (a *scripted) Source(*Maker, *Subject) string { return a.source }

func (a *scripted) IsStored(context.Context, *Maker, *Subject, string) (bool, error) {
	return a.isStored, nil
}

func (a *scripted) Make(context.Context, *Maker, *Subject, string) (string, error) {
	a.attempts++
	return a.lacks, a.err
}

func newScripted() *scripted {
	kind := Kind{Name: v1alpha1.ArtifactReport, Title: "the report", ConfigMap: func(name string) string { return name + "-report" }}
	return &scripted{Kind: kind, source: "one"}
}

// operator is the maker of a restarted operator, on a cluster that refuses ConfigMaps while
// refuses is true.
func operator(t *testing.T, refuses *bool) *Maker {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, corev1.AddToScheme(scheme))
	refuse := func(ctx context.Context, c client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
		if *refuses {
			return forbidden()
		}
		return c.Apply(ctx, applied, options...)
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{Apply: refuse}).Build()
	return &Maker{Tools: &component.Tools{Cluster: kube.Cluster{Client: cluster}, Live: cluster}}
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "heap-report", errors.New("quota"))
}

func refusal() error {
	return &kube.Refusal{Kind: "ConfigMap", Name: "heap-report", Verb: "apply", Cause: forbidden()}
}

func reconcile(t *testing.T, m *Maker, experiment *v1alpha1.PerfExperiment, artifact Artifact) *Subject {
	t.Helper()
	s := &Subject{Experiment: experiment}
	m.Begin(s)
	expect.NoError(t, m.Reconcile(t.Context(), s, artifact))
	m.Remember(s)
	return s
}

func TestOutcomesAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		state  v1alpha1.ArtifactState
		reason string
		shown  string
		pause  bool
	}{
		"made":        {nil, v1alpha1.ArtifactCurrent, v1alpha1.ReasonIncomplete, "the report lacks a picture", false},
		"unusable":    {unusable(errors.New("no numbers")), v1alpha1.ArtifactFailed, v1alpha1.ReasonUnusable, "the report could not be written: no numbers", false},
		"refused":     {refusal(), v1alpha1.ArtifactRefused, v1alpha1.ReasonRefused, "the report could not be written, retrying: " + refusal().Error(), true},
		"unavailable": {&unavailableError{environment.NotReady("Away", "no answer")}, v1alpha1.ArtifactUnavailable, "Away", "the report could not be written, retrying: no answer", true},
	} {
		t.Run(name, func(t *testing.T) {
			refuses := false
			artifact := newScripted()
			artifact.lacks, artifact.err = "lacks a picture", c.err
			experiment := objects.Experiment("heap")
			s := reconcile(t, operator(t, &refuses), experiment, artifact)
			made := experiment.Status.Artifact(v1alpha1.ArtifactReport)
			expect.Equal(t, c.state, made.State, "state")
			expect.Equal(t, c.reason, made.Reason, "reason")
			expect.Equal(t, "one", made.Digest, "digest")
			expect.Equal(t, c.shown, artifact.warning(&experiment.Status), "shown")
			expect.Equal(t, c.pause, s.After() > 0, "asks for another reconcile")
		})
	}
}

// The status decides whether an attempt is repeated: the operator may have been restarted.
func TestAttemptsAreRepeatedWhenThatCanHelp(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		isStored bool
		later    func(*scripted, *bool)
		attempts int
	}{
		"current and stored":            {nil, true, nil, 1},
		"current, and deleted":          {nil, false, nil, 2},
		"failed":                        {unusable(errors.New("no numbers")), false, nil, 1},
		"failed, and other runs":        {unusable(errors.New("no numbers")), false, func(a *scripted, _ *bool) { a.source = "two" }, 2},
		"refused":                       {refusal(), false, nil, 1},
		"refused, and then permitted":   {refusal(), false, func(_ *scripted, refuses *bool) { *refuses = false }, 2},
		"unavailable":                   {&unavailableError{environment.NotReady("Away", "no answer")}, false, nil, 2},
		"no longer due":                 {nil, false, func(a *scripted, _ *bool) { a.source = "" }, 1},
		"current, and then other notes": {nil, true, func(a *scripted, _ *bool) { a.source, a.isStored = "two", false }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			refuses := true
			artifact, experiment := newScripted(), objects.Experiment("heap")
			artifact.err = c.err
			reconcile(t, operator(t, &refuses), experiment, artifact)
			artifact.isStored = c.isStored
			if c.later != nil {
				c.later(artifact, &refuses)
			}
			reconcile(t, operator(t, &refuses), experiment, artifact)
			expect.Equal(t, c.attempts, artifact.attempts, "attempts")
		})
	}
}

// An operator does not repeat a check unless the status was not written.
func TestTheSameOperatorChecksOnce(t *testing.T) {
	refuses := false
	m, artifact, experiment := operator(t, &refuses), newScripted(), objects.Experiment("heap")
	for range 3 {
		reconcile(t, m, experiment, artifact)
	}
	expect.Equal(t, 1, artifact.attempts, "attempts")
	m.Forget(client.ObjectKeyFromObject(experiment))
	reconcile(t, m, experiment, artifact)
	expect.Equal(t, 2, artifact.attempts, "attempts after it forgot")
}

func TestAnErrorThatMayPassIsReturned(t *testing.T) {
	refuses := false
	m, artifact, experiment := operator(t, &refuses), newScripted(), objects.Experiment("heap")
	artifact.err = errors.New("connection reset")
	s := &Subject{Experiment: experiment}
	m.Begin(s)
	if err := m.Reconcile(t.Context(), s, artifact); !errors.Is(err, artifact.err) {
		t.Errorf("got %v", err)
	}
	if len(experiment.Status.Artifacts) != 0 {
		t.Errorf("reported: %+v", experiment.Status.Artifacts)
	}
}
