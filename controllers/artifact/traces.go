// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
)

// maxTraced bounds the memory for traces of all experiments, in bytes. A run of 90 modules has
// about half a megabyte.
const maxTraced = 16 << 20

// traced is the trace of a finished run, and the source of the trace.
type traced struct {
	trace *report.Trace
	// versions of the ConfigMaps that it was read from.
	versions string
	// bytes is its size.
	bytes int
}

// traces returns what the report shows of the runs' raw results. It reads them one by one: each has
// a megabyte or two. It remembers traces of earlier blocks until their raw results change, so that
// the end of a block costs the same after a hundred blocks. gone are the deleted raw results.
func (m *Maker) traces(ctx context.Context, s *Subject, runs []v1alpha1.PerfRun) (traces map[string]*report.Trace, gone []string, err error) {
	versions, err := m.rawVersions(ctx, s.Experiment)
	if err != nil {
		return nil, nil, err
	}
	traces = map[string]*report.Trace{}
	for i := range runs {
		run := &runs[i]
		if run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		trace, missed, err := m.trace(ctx, s, run, versions)
		if err != nil {
			return nil, nil, err
		}
		gone = append(gone, missed...)
		if trace != nil {
			traces[run.Name] = trace
		}
	}
	return traces, gone, nil
}

// TraceAhead remembers the traces of runs that finish within a block, so that the end of the
// block does not read all of them. A restarted operator does not read ahead.
func (m *Maker) TraceAhead(ctx context.Context, s *Subject) {
	if s.full == nil || s.known.current[v1alpha1.ArtifactAnalysis] == "" {
		return
	}
	for i := range s.full {
		run := &s.full[i]
		if _, known := s.known.traces[run.UID]; known || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		if m.memories.isFull() {
			return
		}
		if _, _, err := m.trace(ctx, s, run, nil); err != nil {
			log.FromContext(ctx).V(1).Info("Failed to read raw results ahead of the report", "run", run.Name, "error", err.Error())
			return
		}
	}
}

// rawVersions are the versions of the experiment's ConfigMaps, by name.
func (m *Maker) rawVersions(ctx context.Context, experiment *v1alpha1.PerfExperiment) (map[string]string, error) {
	versions := map[string]string{}
	err := m.configMaps(ctx, experiment.Namespace, client.MatchingLabels{v1alpha1.LabelExperiment: experiment.Name}, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			versions[page.Items[i].Name] = page.Items[i].ResourceVersion
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing raw results: %w", err)
	}
	return versions, nil
}

// trace returns the trace of a run, nil if it has no raw results, with the names of deleted
// ones. A remembered trace must be of these versions.
func (m *Maker) trace(ctx context.Context, s *Subject, run *v1alpha1.PerfRun, versions map[string]string) (trace *report.Trace, gone []string, err error) {
	names := naming.RawNames(run)
	listed := make([]string, 0, len(names))
	for _, name := range names {
		listed = append(listed, versions[name])
	}
	if known, is := s.known.traces[run.UID]; is && known.versions == strings.Join(listed, " ") {
		return known.trace, nil, nil
	}
	raw, err := kube.RawResults(ctx, m.Live, run)
	if err != nil {
		return nil, nil, err
	}
	gone = missing(names, raw)
	if len(raw) == 0 {
		return nil, gone, nil
	}
	if trace, err = report.TraceOf(run, raw...); err != nil {
		return nil, nil, unusable(err)
	}
	if len(gone) == 0 {
		m.memories.keep(s.known, run.UID, traced{trace, versionsOf(raw), trace.Bytes()})
	}
	return trace, gone, nil
}

func versionsOf(raw []corev1.ConfigMap) string {
	var versions []string
	for i := range raw {
		versions = append(versions, raw[i].ResourceVersion)
	}
	return strings.Join(versions, " ")
}

// missing are the names that none of these has.
func missing(names []string, found []corev1.ConfigMap) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(found, func(raw corev1.ConfigMap) bool { return raw.Name == name })
	})
}

// keep remembers a run's trace if there is memory left.
func (m *memories) keep(known *memory, run types.UID, made traced) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.traced -= known.traces[run].bytes
	delete(known.traces, run)
	if m.full = m.traced+made.bytes > maxTraced; m.full {
		return
	}
	if known.traces == nil {
		known.traces = map[types.UID]traced{}
	}
	known.traces[run] = made
	m.traced += made.bytes
}

// drop frees the memory of the experiment, which is no longer needed. The caller has the lock.
func (m *memories) drop(known *memory) {
	if known == nil {
		return
	}
	for _, one := range known.traces {
		m.traced -= one.bytes
	}
	known.traces, m.full = nil, false
}

func (m *memories) isFull() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.full
}
