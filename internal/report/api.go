// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/section"
)

type (
	// Input is what an experiment recorded.
	Input = section.Input
	// Reader collects recorded objects from streams of YAML or JSON documents.
	Reader = section.Reader
	// Document is one of the objects that Write writes, as YAML.
	Document = section.Document
	// Trace is what a report takes from the raw results of one run.
	Trace = section.Trace
)

// ErrInput says that recorded objects contradict each other or can't be read.
var ErrInput = section.ErrInput

// Bounds of the text and of a picture of a note.
const (
	MaxNoteBytes    = section.MaxNoteBytes
	MaxPictureBytes = section.MaxPictureBytes
)

// Read is a Reader for streams that are already open.
func Read(streams ...io.Reader) ([]Input, error) { return section.Read(streams...) }

// Write writes the recorded objects as one YAML stream that Read reads and kubectl accepts.
func Write(out io.Writer, input Input) error { return section.Write(out, input) }

// Documents returns the documents that Write writes, in order.
func Documents(input Input) ([]Document, error) { return section.Documents(input) }

// RunDocuments returns the documents of a run and of its raw results.
func RunDocuments(run *v1alpha1.PerfRun, raw []corev1.ConfigMap) ([]Document, error) {
	return section.RunDocuments(run, raw)
}

// TraceOf unpacks the raw results of a run. It fails with ErrInput if they can't be read.
func TraceOf(run *v1alpha1.PerfRun, raw ...corev1.ConfigMap) (*Trace, error) {
	return section.TraceOf(run, raw...)
}

// SectionNamed returns the section that a note file belongs to: the one with the file's name,
// without its extension, or the default section.
func SectionNamed(name string) v1alpha1.NoteSection { return section.Named(name) }

// KindOfPicture returns the media type of a file that Pictures names.
func KindOfPicture(file string) string { return section.KindOfPicture(file) }
