// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/runs/provenance"
)

// History compares a complete experiment with earlier ones, and stores the measurements for
// comparisons with later ones.
var History Artifact = history{Kind{Name: v1alpha1.ArtifactHistory, Title: "the history in the cluster", ConfigMap: naming.History, IsOptional: true}}

type history struct{ Kind }

func (history) Source(_ *Maker, s *Subject) string {
	reached, isWorth := s.stage()
	if !isWorth || s.Experiment.Status.Phase != v1alpha1.ExperimentComplete || s.Complete == 0 {
		return ""
	}
	return reached.digest
}

func (h history) IsStored(ctx context.Context, m *Maker, s *Subject, source string) (bool, error) {
	kept, err := m.keptHistory(ctx, s, source)
	if err != nil || kept == nil {
		return false, err
	}
	return true, h.read(s, kept)
}

// keptHistory returns the history in the cluster for this source; nil: none, or it was changed.
func (m *Maker) keptHistory(ctx context.Context, s *Subject, source string) (*corev1.ConfigMap, error) {
	kept, err := m.OwnConfigMap(ctx, s.Experiment, naming.History(s.Experiment.Name))
	if err != nil {
		return nil, fmt.Errorf("reading the history of the experiment: %w", err)
	}
	if kept == nil || kept.Annotations[v1alpha1.AnnotationHistoryOf] != source || !regression.IsAuthentic(s.Experiment, kept) {
		return nil, nil //nolint:nilnil // There is none.
	}
	return kept, nil
}

func (h history) Make(ctx context.Context, m *Maker, s *Subject, source string) (string, error) {
	full, err := m.FullRuns(ctx, s)
	if err != nil {
		return "", err
	}
	this, err := releases.Measure(releases.ExperimentRuns{Experiment: s.Experiment, Runs: full})
	if err != nil {
		return "", unusable(err)
	}
	// The comparison takes seconds, and one reconcile at a time holds full runs.
	m.Release(s)
	earlier, lacks, err := m.earlier(ctx, s, &this)
	if err != nil {
		return "", err
	}
	found, changes, err := regression.Detect(this, earlier)
	if err != nil {
		return "", unusable(err)
	}
	kept, err := regression.NewConfigMap(s.Experiment, this, found, changes)
	if err != nil {
		return "", unusable(err)
	}
	kept.Annotations[v1alpha1.AnnotationHistoryOf] = source
	if err := m.Cluster.ApplyTyped(ctx, kept); err != nil {
		return "", err
	}
	return lacks, h.read(s, kept)
}

// read reports the changes in the stored history.
func (history) read(s *Subject, kept *corev1.ConfigMap) error {
	changes, err := regression.DecodeChanges(kept)
	if err != nil {
		return unusable(err)
	}
	shown, err := regression.DecodeHistory(kept)
	if err != nil {
		return unusable(err)
	}
	measured, err := regression.DecodeMeasurements(kept, s.Question.Primary)
	if err != nil {
		return unusable(err)
	}
	if shown != nil {
		s.historyDigest = naming.Hash(kept.Data)
	}
	s.history = kept
	status := &s.Experiment.Status
	status.Changes, status.HistoryDigest, status.HistorySeries = changes, regression.Digest(kept), regression.ScenarioDigests(&measured)
	return nil
}

// maxRead bounds how many earlier experiments are read for a history.
const maxRead = 5 * regression.MaxPoints

// earlier returns the newest earlier experiments of the namespace that share a scenario. It finds
// them by their statuses, which only operators write. It reads them one by one, because all of them
// at once would take a large part of the operator's memory.
func (m *Maker) earlier(ctx context.Context, s *Subject, this *releases.Measurements) (found []regression.Earlier, lacks string, err error) {
	candidates, err := m.candidates(ctx, s.Experiment, regression.ScenarioDigests(this))
	if err != nil {
		return nil, "", err
	}
	for _, experiment := range candidates[:min(len(candidates), maxRead)] {
		one, err := m.readEarlier(ctx, this, experiment)
		switch {
		case errors.Is(err, regression.ErrInvalidConfigMap):
			log.FromContext(ctx).Info("Omitted an earlier experiment from the history", "experiment", experiment.Name, "error", err.Error())
			lacks = fmt.Sprintf("omits an experiment: %v", err)
		case err != nil:
			return nil, "", err
		case one != nil:
			found = append(found, *one)
		}
		if len(found) == regression.MaxPoints {
			break
		}
	}
	return found, lacks, nil
}

// candidates are the experiments that may have stored a series, the newest first. They are shared
// with the cache.
func (m *Maker) candidates(ctx context.Context, experiment *v1alpha1.PerfExperiment, series []string) ([]*v1alpha1.PerfExperiment, error) {
	all := &v1alpha1.PerfExperimentList{}
	if err := m.Cluster.Client.List(ctx, all, client.InNamespace(experiment.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing earlier experiments: %w", err)
	}
	var found []*v1alpha1.PerfExperiment
	for i := range all.Items {
		if one := &all.Items[i]; one.UID != experiment.UID && !provenance.IsImported(one) && regression.MayHaveScenario(one, series) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.PerfExperiment) int {
		return cmp.Or(startTime(b).Compare(startTime(a)), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

func startTime(experiment *v1alpha1.PerfExperiment) time.Time {
	return ptr.Deref(experiment.Status.StartTime, metav1.Time{}).Time
}

// readEarlier reads the stored measurements of an experiment; nil: none of these scenarios. It
// fails with [regression.ErrInvalidConfigMap] if the experiment's status has another digest.
func (m *Maker) readEarlier(ctx context.Context, this *releases.Measurements, experiment *v1alpha1.PerfExperiment) (*regression.Earlier, error) {
	kept := &corev1.ConfigMap{}
	err := m.Live.Get(ctx, client.ObjectKey{Namespace: this.Namespace, Name: naming.History(experiment.Name)}, kept)
	switch {
	case apierrors.IsNotFound(err) && experiment.Status.HistoryDigest == "":
		return nil, nil //nolint:nilnil // Operators of earlier versions kept nothing.
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: ConfigMap %q was deleted", regression.ErrInvalidConfigMap, naming.History(experiment.Name))
	case err != nil:
		return nil, fmt.Errorf("reading the history of an earlier experiment: %w", err)
	case !regression.IsAuthentic(experiment, kept):
		return nil, fmt.Errorf("%w: ConfigMap %q has changed since the operator wrote it", regression.ErrInvalidConfigMap, kept.Name)
	}
	measured, err := regression.DecodeMeasurements(kept, this.Question.Primary)
	if err != nil {
		return nil, err
	}
	if !regression.HaveCommonScenario(regression.ScenarioDigests(this), regression.ScenarioDigests(&measured)) {
		return nil, nil //nolint:nilnil // It measured something else.
	}
	reported, err := regression.DecodeChanges(kept)
	if err != nil {
		return nil, err
	}
	// The release may be set later.
	measured.Release = releases.ReleaseName(experiment)
	return &regression.Earlier{Measurements: measured, Reported: reported}, nil
}

// shownHistory is the history that the report shows; nil: none.
func (m *Maker) shownHistory(ctx context.Context, s *Subject) (*corev1.ConfigMap, error) {
	source := s.made[v1alpha1.ArtifactHistory]
	if s.history != nil || source == "" {
		return s.history, nil
	}
	return m.keptHistory(ctx, s, source)
}
