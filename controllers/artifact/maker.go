// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/telemetry"
)

// Maker makes artifacts.
type Maker struct {
	*component.Tools
	// Telemetry counts analyses; nil: nothing is counted.
	Telemetry *telemetry.Metrics

	memories memories
	// answering lets only one reconcile at a time hold the results of an experiment's runs,
	// which can take a large part of the operator's memory.
	answering sync.Mutex
}

// Begin prepares a reconcile of an experiment; Release ends it.
func (m *Maker) Begin(s *Subject) {
	s.known, s.made = m.memories.of(s.Experiment), map[v1alpha1.ArtifactName]string{}
}

// Release frees the results of the runs.
func (m *Maker) Release(s *Subject) {
	if s.locked {
		s.full, s.locked = nil, false
		m.answering.Unlock()
	}
}

// Remember records which artifacts are current, once the status is written.
func (m *Maker) Remember(s *Subject) {
	if s.known == nil {
		return
	}
	for name, source := range s.made {
		s.known.current[name] = source
	}
	s.known.historyDigest = s.historyDigest
}

// IsCurrent reports whether the artifact is current, is not due or, if it is optional, can't be
// made.
func (m *Maker) IsCurrent(s *Subject, artifact Artifact) bool {
	source := artifact.Source(m, s)
	if source == "" || s.made[artifact.About().Name] == source {
		return true
	}
	last := s.Experiment.Status.Artifact(artifact.About().Name)
	return artifact.About().IsOptional && last.Digest == source && last.State == v1alpha1.ArtifactFailed
}

// AreCurrent reports whether nothing is left to make.
func (m *Maker) AreCurrent(s *Subject) bool {
	if s.made[v1alpha1.ArtifactAnalysis] == "" || s.made[v1alpha1.ArtifactReport] == "" {
		return false
	}
	for _, artifact := range All {
		if !m.IsCurrent(s, artifact) {
			return false
		}
	}
	return true
}

// wasTried reports whether there was an attempt at the artifact, whatever its result.
func (m *Maker) wasTried(s *Subject, artifact Artifact) bool {
	source := artifact.Source(m, s)
	return source == "" || s.Experiment.Status.Artifact(artifact.About().Name).Digest == source
}

// Announce records in the status what to announce, and withdraws the announcement of an
// experiment that continues.
func (m *Maker) Announce(ctx context.Context, s *Subject) {
	withdraw(&s.Experiment.Status)
	// This only writes to the status, which does not fail.
	_ = m.Reconcile(ctx, s, Announcement)
}

// Forget drops the memory of an experiment.
func (m *Maker) Forget(experiment types.NamespacedName) { m.memories.forget(experiment) }

// runPage is the number of runs in one response of the API server: a run can be a megabyte.
const runPage = 20

var errGone = errors.New("the run is deleted but still in the cache")

// ErrBusy means that another reconcile holds the runs of another experiment.
var ErrBusy = errors.New("another experiment is being analyzed")

// FullRuns are the runs with all their results. The cache has only a summary of finished runs.
func (m *Maker) FullRuns(ctx context.Context, s *Subject) ([]v1alpha1.PerfRun, error) {
	if s.full != nil {
		return s.full, nil
	}
	if !s.locked && !m.answering.TryLock() {
		return nil, ErrBusy
	}
	s.locked = true
	bodies, err := m.bodies(ctx, s)
	if err != nil {
		return nil, err
	}
	full := slices.Clone(s.Runs)
	for i := range full {
		if !full[i].Status.Phase.IsFinal() {
			continue
		}
		body, exists := bodies[full[i].UID]
		if !exists {
			return nil, apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("perfruns").GroupResource(), full[i].Name, errGone)
		}
		full[i] = body
	}
	s.full = full
	return full, nil
}

// bodies are the experiment's runs as read from the API server.
func (m *Maker) bodies(ctx context.Context, s *Subject) (map[types.UID]v1alpha1.PerfRun, error) {
	found := map[types.UID]v1alpha1.PerfRun{}
	if len(EndedRuns(s.Runs)) == 0 {
		return found, nil
	}
	err := kube.Pages(ctx, m.Live, &v1alpha1.PerfRunList{}, runPage, func(page *v1alpha1.PerfRunList) error {
		for i := range page.Items {
			found[page.Items[i].UID] = page.Items[i]
		}
		return nil
	}, client.InNamespace(s.Experiment.Namespace), client.MatchingFields{kubecache.FieldExperiment: s.Experiment.Name})
	if err != nil {
		return nil, fmt.Errorf("reading the runs: %w", err)
	}
	return found, nil
}

// configMapPage is the number of ConfigMaps in one response: the metadata of one can be a
// megabyte.
const configMapPage = 50

// configMaps calls a function with the metadata of a namespace's ConfigMaps, page by page. The
// cache holds none of them.
func (m *Maker) configMaps(ctx context.Context, namespace string, which client.ListOption, each func(*metav1.PartialObjectMetadataList) error) error {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	return kube.Pages(ctx, m.Live, metadata, configMapPage, each, client.InNamespace(namespace), which)
}
