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

// Note is what a person adds to the report: a text with pictures at the end of
// one of its sections, or a mark in time on its charts. The report says of each
// that a person wrote it. Notes decide nothing, and may change at any time.
//
// +kubebuilder:validation:XValidation:rule="has(self.text) != has(self.configMap)",message="a note has either text (written here) or configMap (where the text is kept, with its pictures), not both and not neither"
// +kubebuilder:validation:XValidation:rule="!has(self.at) || has(self.text) && self.text.matches('^[^[:cntrl:]]{1,80}$')",message="a mark in time (at) has its words in text: one line of at most 80 characters, without Markdown; write more of it in a second note without at"
// +kubebuilder:validation:XValidation:rule="!has(self.at) || !has(self.section) && !has(self.scenario)",message="a mark in time (at) stands in the list of test runs and on the charts of the run it falls in: take section and scenario out, or at"
// +kubebuilder:validation:XValidation:rule="!has(self.until) || has(self.at) && self.until > self.at",message="until is the end of a mark in time: write at, an earlier time, beside it, or take until out"
// +kubebuilder:validation:XValidation:rule="!has(self.scenario) || has(self.section) && self.section == 'Results'",message="scenario says which part of Results a note goes to: write section: Results, or take scenario out"
type Note struct {
	// name of the note, which the report shows with it.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="a note's name may have lower-case letters, digits and '-': for example cpu-of-brokers"
	Name string `json:"name"`

	// section of the report at whose end the note stands, in the order of notes.
	// Default Summary.
	// +optional
	Section NoteSection `json:"section,omitempty"`

	// scenario whose part of Results the note goes to. Absent: it stands below
	// those of all scenarios.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Scenario string `json:"scenario,omitempty"`

	// text is Markdown (CommonMark with tables), of which HTML is shown as text.
	// With at it is one line of at most 80 characters, and no Markdown.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Text string `json:"text,omitempty"`

	// configMap names the entry that is the text, at most 64 KiB of it. The
	// pictures stand beside it, in entries of the same ConfigMap, and are shown
	// where the text has a picture of that key, for example cpu.png. PNG, JPEG,
	// GIF, WebP and SVG are shown, each of at most 512 KiB, and 2 MiB of them in a
	// report. The ConfigMap is read when the report is written, which a change of
	// it alone does not bring about. Who writes the experiment has the right to
	// get it.
	// +optional
	ConfigMap *ConfigMapKey `json:"configMap,omitempty"`

	// at makes the note a mark in time, for example of when a container stopped.
	// The text is drawn at this time on the charts over time of the run it falls
	// in, and is in the list of test runs. Example: 2026-03-09T07:12:44Z.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// until is when what the mark is about was over. Absent: it is a moment.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}
