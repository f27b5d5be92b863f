// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NoteSection is a section of the report.
// +kubebuilder:validation:Enum=Overview;Summary;Recommendations;TestRuns;Results;Comparison;Resources;Validity;NoiseFloor;Methodology;Appendix
type NoteSection string

// Sections of the report that notes go to.
const (
	NoteOverview        NoteSection = "Overview"
	NoteSummary         NoteSection = "Summary"
	NoteRecommendations NoteSection = "Recommendations"
	NoteTestRuns        NoteSection = "TestRuns"
	NoteResults         NoteSection = "Results"
	NoteComparison      NoteSection = "Comparison"
	NoteResources       NoteSection = "Resources"
	NoteValidity        NoteSection = "Validity"
	NoteNoiseFloor      NoteSection = "NoiseFloor"
	NoteMethodology     NoteSection = "Methodology"
	NoteAppendix        NoteSection = "Appendix"
)

// Note is an addition by a user to the report: a text with pictures at the end
// of a section, or a mark in time on its charts. The report marks it as such.
// Notes don't affect verdicts and may change at any time.
//
// +kubebuilder:validation:XValidation:rule="has(self.text) != has(self.configMap)",message="a note needs exactly one of text (written here) and configMap (with the text and its pictures)"
// +kubebuilder:validation:XValidation:rule="!has(self.at) || has(self.text) && self.text.matches('^[^[:cntrl:]]{1,80}$')",message="a note with at needs text: one line of at most 80 characters without Markdown; add more in a second note without at"
// +kubebuilder:validation:XValidation:rule="!has(self.at) || !has(self.section) && !has(self.scenario)",message="a note with at is a mark in time, which has no section: remove section and scenario, or at"
// +kubebuilder:validation:XValidation:rule="!has(self.until) || has(self.at) && self.until > self.at",message="until requires at, an earlier time: add at, or remove until"
// +kubebuilder:validation:XValidation:rule="!has(self.scenario) || has(self.section) && self.section == 'Results'",message="scenario requires section: Results: set it, or remove scenario"
type Note struct {
	// name of the note. The report shows it.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a note's name may have lower-case letters, digits and '-': for example cpu-of-brokers"
	Name string `json:"name"`

	// section of the report that ends with the note, in the order of notes.
	// Default Summary.
	// +optional
	Section NoteSection `json:"section,omitempty"`

	// scenario whose part of Results has the note. Absent: after all scenarios.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Scenario string `json:"scenario,omitempty"`

	// text is Markdown (CommonMark with tables); HTML is shown as text. With at,
	// it is one line of at most 80 characters without Markdown.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Text string `json:"text,omitempty"`

	// configMap names the entry with the text, at most 64 KiB. Pictures are other
	// entries of the same ConfigMap, shown where the text has a picture of that
	// key, for example cpu.png. PNG, JPEG, GIF, WebP and SVG are shown, each of at
	// most 512 KiB, and 2 MiB in a report. The ConfigMap is read when the report
	// is written; its changes alone don't rewrite the report. Authors need the
	// right to get it.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// at makes the note a mark in time, for example when a container stopped.
	// Charts over time of the run at this time show the text, as does the list
	// of test runs. Example: 2026-03-09T07:12:44Z.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// until is the end of what the mark is about. Absent: it is a moment.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}
