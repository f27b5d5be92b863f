// SPDX-License-Identifier: Apache-2.0

// Package announcement describes what is announced outside the cluster: that an experiment is
// complete or stalled, and where a series of releases changed. It is pure; package sinks sends
// announcements.
package announcement

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// Types of announcements, as CloudEvents call them.
const (
	TypeCompleted = "dev.perflab.experiment.completed"
	TypeStalled   = "dev.perflab.experiment.stalled"
	TypeChanged   = "dev.perflab.series.changed"
)

const (
	// mostVerdicts are announced for one experiment; the status has all.
	mostVerdicts = 50
	// mostDifferences and mostText limit the description of a change.
	mostDifferences, mostText = 20, 300
)

// Announcement is one event to be sent.
type Announcement struct {
	// ID is unique, and the same for each attempt to send the announcement.
	ID   string
	Type string
	// Source and Subject of the event.
	Source, Subject string
	// Time of the event.
	Time time.Time
	// Data for programs, as JSON.
	Data any

	// Change is that of a TypeChanged; nil for other types.
	Change                *v1alpha1.SeriesChange
	Namespace, Experiment string
}

// Experiment describes the experiment in every announcement.
type Experiment struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Release is the experiment's annotation perflab.dev/release, or its name.
	Release string `json:"release"`
}

// Completed is the data of a TypeCompleted.
type Completed struct {
	Experiment
	Started   *metav1.Time `json:"started,omitempty"`
	Completed *metav1.Time `json:"completed,omitempty"`
	// Verdict summarizes the primary comparisons.
	Verdict  string    `json:"verdict,omitempty"`
	Verdicts []Verdict `json:"verdicts"`
	// Warnings and Changes count those of the status.
	Warnings int    `json:"warnings"`
	Changes  int    `json:"changes"`
	Report   Report `json:"report"`
}

// Verdict is a primary comparison with the baseline.
type Verdict struct {
	Scenario string           `json:"scenario"`
	Metric   string           `json:"metric"`
	Arm      string           `json:"arm"`
	Verdict  v1alpha1.Verdict `json:"verdict,omitempty"`
	// Delta and its interval: percent on the scale ratio, else in the unit.
	Delta string `json:"delta,omitempty"`
	Low   string `json:"low,omitempty"`
	High  string `json:"high,omitempty"`
	Scale string `json:"scale"`
	Unit  string `json:"unit,omitempty"`
}

// Report is the location of the report.
type Report struct {
	// ConfigMap with the report; empty: it could not be stored.
	ConfigMap string `json:"configMap,omitempty"`
	// Command that writes it.
	Command string `json:"command"`
}

// Stalled is the data of a TypeStalled.
type Stalled struct {
	Experiment
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Changed is the data of a TypeChanged.
type Changed struct {
	// Experiment after which the change was found.
	Experiment
	Change v1alpha1.SeriesChange `json:"change"`
	// Bisect is the command that finds the responsible difference.
	Bisect string `json:"bisect"`
}

// Next returns the occasion to announce for an experiment; nil: none. ready means that all
// data of the announcement is available.
func Next(experiment *v1alpha1.PerfExperiment, ready bool) *v1alpha1.AnnouncementStatus {
	status := &experiment.Status
	switch {
	case status.Phase == v1alpha1.ExperimentComplete && status.CompletionTime != nil && ready:
		return &v1alpha1.AnnouncementStatus{Phase: status.Phase, Time: *status.CompletionTime}
	case status.Phase == v1alpha1.ExperimentStalled:
		if stalled := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionStalled); stalled != nil {
			return &v1alpha1.AnnouncementStatus{Phase: status.Phase, Time: stalled.LastTransitionTime}
		}
	}
	return nil
}

// IsSame reports whether both are of the same occasion, whatever their progress.
func IsSame(one, other *v1alpha1.AnnouncementStatus) bool {
	return one != nil && other != nil && one.Phase == other.Phase && one.Time.Equal(&other.Time)
}

// New returns the announcements of an experiment in a fixed order.
func New(experiment *v1alpha1.PerfExperiment) []Announcement {
	status := experiment.Status.Announcement
	if status == nil || status.Phase != experiment.Status.Phase {
		return nil
	}
	if status.Phase == v1alpha1.ExperimentStalled {
		return []Announcement{newStalled(experiment)}
	}
	all := []Announcement{newCompleted(experiment)}
	for i := range experiment.Status.Changes {
		all = append(all, newChanged(experiment, &experiment.Status.Changes[i]))
	}
	return all
}

// newAnnouncement returns an announcement with an ID from its type, its occasion and which.
func newAnnouncement(experiment *v1alpha1.PerfExperiment, kind string, data any, which ...string) Announcement {
	occasion := experiment.Status.Announcement
	return Announcement{
		ID:   naming.Hash(experiment.UID, kind, occasion.Time.UTC().Format(time.RFC3339), which)[:32],
		Type: kind, Source: source(experiment), Subject: experiment.Namespace + "/" + experiment.Name,
		Time: occasion.Time.UTC(), Data: data, Namespace: experiment.Namespace, Experiment: experiment.Name,
	}
}

// source returns the experiment's path in its API server.
func source(experiment *v1alpha1.PerfExperiment) string {
	return fmt.Sprintf("/apis/%s/namespaces/%s/perfexperiments/%s", v1alpha1.GroupVersion, experiment.Namespace, experiment.Name)
}

func newExperiment(experiment *v1alpha1.PerfExperiment) Experiment {
	return Experiment{
		Namespace: experiment.Namespace, Name: experiment.Name, UID: string(experiment.UID),
		Release: releases.ReleaseName(experiment),
	}
}

func newStalled(experiment *v1alpha1.PerfExperiment) Announcement {
	why := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionStalled)
	if why == nil {
		why = &metav1.Condition{}
	}
	return newAnnouncement(experiment, TypeStalled, Stalled{newExperiment(experiment), why.Reason, prose.Printable(redact.Hide("", why.Message))})
}

func newCompleted(experiment *v1alpha1.PerfExperiment) Announcement {
	status := &experiment.Status
	data := Completed{
		Experiment: newExperiment(experiment), Started: status.StartTime, Completed: status.CompletionTime,
		Verdict: status.Verdict, Verdicts: []Verdict{}, Warnings: len(status.Warnings), Changes: len(status.Changes),
		Report: Report{ConfigMap: status.Report, Command: fmt.Sprintf("perflab report %s -n %s", experiment.Name, experiment.Namespace)},
	}
	for i := range status.Comparisons {
		one := &status.Comparisons[i]
		if !one.Primary || one.Twin || one.Against != "" || len(data.Verdicts) == mostVerdicts {
			continue
		}
		data.Verdicts = append(data.Verdicts, Verdict{one.Scenario, one.Metric, one.Arm, one.Verdict, one.Delta, one.Low, one.High, one.Scale, one.Unit})
	}
	return newAnnouncement(experiment, TypeCompleted, data)
}

func newChanged(experiment *v1alpha1.PerfExperiment, found *v1alpha1.SeriesChange) Announcement {
	change := found.DeepCopy()
	change.Differences = change.Differences[:min(len(change.Differences), mostDifferences)]
	for i := range change.Differences {
		change.Differences[i] = prose.Printable(cut(change.Differences[i]))
	}
	data := Changed{newExperiment(experiment), *change, fmt.Sprintf("perflab bisect %s %s -n %s", change.Experiments[0], change.Experiments[1], experiment.Namespace)}
	made := newAnnouncement(experiment, TypeChanged, data, change.Scenario, change.Metric, change.Arm, change.Experiments[1])
	made.Change = change
	return made
}

// cut truncates a sentence.
func cut(text string) string { return prose.Cut(text, mostText) }

// RetryDelay returns the delay before the next attempt to send an announcement of this age: a
// third of it, so that retries become rare.
func RetryDelay(since time.Duration) time.Duration {
	const shortest, longest = 5 * time.Second, 30 * time.Minute
	return min(max(since/3, shortest), longest)
}

// Deadline is how long after an occasion sending it to an unavailable sink is retried.
const Deadline = 24 * time.Hour

// Progress returns how many announcements a sink has received.
func Progress(status *v1alpha1.AnnouncementStatus, sink string) int32 {
	for _, one := range status.Sinks {
		if one.Name == sink {
			return one.Told
		}
	}
	return 0
}
