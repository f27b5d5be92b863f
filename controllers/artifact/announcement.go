// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/publish/announcement"
)

// Announcement records in the status that the experiment is complete or stalled. The announcer
// sends it.
var Announcement Artifact = announced{Kind{Name: v1alpha1.ArtifactAnnouncement, Title: "the announcement", IsOptional: true}}

type announced struct{ Kind }

// Source identifies the event to announce, once all of its content is available. An event older
// than the deadline of announcements is not announced: there was no sink at that time.
func (announced) Source(m *Maker, s *Subject) string {
	occasion := m.occasion(s)
	if occasion == nil || len(m.Sinks) == 0 || s.Now.Sub(occasion.Time.Time) > announcement.Deadline {
		return ""
	}
	return naming.Hash(occasion.Phase, occasion.Time.Unix())[:16]
}

func (m *Maker) occasion(s *Subject) *v1alpha1.AnnouncementStatus {
	isKnown := s.made[v1alpha1.ArtifactAnalysis] != "" && m.wasTried(s, History) && m.wasTried(s, Report)
	return announcement.Next(s.Experiment, isKnown)
}

func (announced) IsStored(_ context.Context, m *Maker, s *Subject, _ string) (bool, error) {
	return announcement.IsSame(s.Experiment.Status.Announcement, m.occasion(s)), nil
}

func (announced) Make(_ context.Context, m *Maker, s *Subject, _ string) (string, error) {
	status := &s.Experiment.Status
	status.Announcement = m.occasion(s)
	component.ConditionSetter(&status.Conditions, s.Experiment.Generation)(
		v1alpha1.ConditionAnnounced, metav1.ConditionUnknown, v1alpha1.ReasonAnnouncing, "sending the announcements")
	return "", nil
}

// withdraw drops the announcement of an experiment that continues.
func withdraw(status *v1alpha1.PerfExperimentStatus) {
	if status.Phase != v1alpha1.ExperimentComplete && status.Phase != v1alpha1.ExperimentStalled {
		status.Announcement = nil
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionAnnounced)
	}
}
