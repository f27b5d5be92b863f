// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/prose"
)

// Report is rendered for each stage of the experiment.
var Report Artifact = reported{Kind{Name: v1alpha1.ArtifactReport, Title: "the report in the cluster", ConfigMap: naming.Report}}

type reported struct{ Kind }

// Source is the digest of the stage, the notes, the history and the manifest.
func (reported) Source(_ *Maker, s *Subject) string {
	reached, isWorth := s.stage()
	if !isWorth {
		return ""
	}
	manifest := ""
	if kept := s.evidence(); kept != nil {
		manifest = kept.SHA256
	}
	return naming.Hash(s.page(reached), manifest)[:16]
}

// IsStored compares the annotations of the stored report with the status. Users who can write
// ConfigMaps can change the annotations; only operators write the status.
func (reported) IsStored(ctx context.Context, m *Maker, s *Subject, _ string) (bool, error) {
	reached, _ := s.stage()
	name := naming.Report(s.Experiment.Name)
	current := &metav1.PartialObjectMetadata{}
	current.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := m.Live.Get(ctx, client.ObjectKey{Namespace: s.Experiment.Namespace, Name: name}, current)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading the stored report: %w", err)
	}
	if err != nil || !metav1.IsControlledBy(current, s.Experiment) || current.Annotations[v1alpha1.AnnotationReportOf] != s.page(reached) {
		return false, nil
	}
	if !isEvidenceOf(current, s.evidence()) {
		return false, nil
	}
	s.Experiment.Status.Report = name
	return true, nil
}

// isEvidenceOf compares the annotations that markEvidence wrote with the status.
func isEvidenceOf(stored metav1.Object, kept *v1alpha1.ExperimentEvidence) bool {
	written, isWritten := stored.GetAnnotations()[v1alpha1.AnnotationEvidence]
	if kept == nil {
		return !isWritten
	}
	return kept.Report != "" && written == kept.SHA256+" "+kept.Report
}

func (reported) Make(ctx context.Context, m *Maker, s *Subject, _ string) (string, error) {
	reached, _ := s.stage()
	full, err := m.FullRuns(ctx, s)
	if err != nil {
		return "", err
	}
	input := report.Input{Experiment: *s.Experiment.DeepCopy(), Runs: full}
	if input.History, err = m.shownHistory(ctx, s); err != nil {
		return "", err
	}
	var gone []string
	if input.Traces, gone, err = m.traces(ctx, s, full); err != nil {
		return "", fmt.Errorf("rendering the report %s: %w", reached, err)
	}
	if input.Notes, err = kube.Notes(ctx, m.Live, s.Experiment); err != nil {
		return "", err
	}
	kept := s.evidence().DeepCopy()
	input.Experiment.Status.Evidence = kept.DeepCopy()
	input.Experiment.Status.Warnings = s.reportWarnings()
	stored, unshown, err := renderReport(input, m.unwanted(s.Experiment.Namespace))
	if err != nil {
		return "", fmt.Errorf("rendering the report %s: %w", reached, err)
	}
	stored.Annotations[v1alpha1.AnnotationReportOf] = s.page(reached)
	if err := markEvidence(stored, kept); err != nil {
		return "", unusable(err)
	}
	if err := m.Cluster.ApplyTyped(ctx, stored); err != nil {
		return "", err
	}
	if kept != nil {
		s.Experiment.Status.Evidence = kept
	}
	s.Experiment.Status.Report = stored.Name
	return lacks(s.Experiment.Name, gone, unshown), nil
}

// lacks describes what a report lacks; empty: nothing.
func lacks(experiment string, gone, unshown []string) string {
	var parts []string
	if len(gone) > 0 {
		parts = append(parts, fmt.Sprintf("lacks the data of deleted raw results: %s, the first is %q; perflab verify %s shows what else changed",
			prose.Counted(len(gone), "ConfigMap"), gone[0], experiment))
	}
	if len(unshown) > 0 {
		sentence := "does not show all of its notes: " + unshown[0]
		if more := len(unshown) - 1; more > 0 {
			sentence += fmt.Sprintf("; the report lists %d more", more)
		}
		parts = append(parts, sentence)
	}
	return strings.Join(parts, "; it ")
}

// reportWarnings are the warnings that the report shows. Warnings about the report itself would be
// out of date.
func (s *Subject) reportWarnings() []string {
	warnings := s.Notices
	if history := History.About().warning(&s.Experiment.Status); history != "" {
		warnings = append(slices.Clone(warnings), history)
	}
	return warnings
}

// unwanted are the parts that the stored reports of a namespace omit: the numbers of archived runs
// are in the archive. They take a large part of what stays in the cluster.
func (m *Maker) unwanted(namespace string) []string {
	if m.Archives.ForNamespace(namespace) == nil {
		return nil
	}
	return []string{report.KeyCSV, report.KeyLevels}
}

// renderReport renders the ConfigMap of the report, and lists the notes that it omits.
func renderReport(input report.Input, unwanted []string) (stored *corev1.ConfigMap, unshown []string, err error) {
	// Drawing panics if numbers don't fit into a chart. The status of the experiment must still be
	// written.
	defer func() {
		if cause := recover(); cause != nil {
			stored, unshown, err = nil, nil, unusable(fmt.Errorf("%v", cause))
		}
	}()
	page, err := report.New(input)
	if err != nil {
		return nil, nil, unusable(err)
	}
	if stored, err = page.Object(unwanted...); err != nil {
		return nil, nil, unusable(err)
	}
	return stored, page.Lacking(), nil
}
