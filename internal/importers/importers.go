// SPDX-License-Identifier: Apache-2.0

// Package importers reads the results of other tools, each format with its own reader, and
// builds the record of an imported experiment.
//
// A file is one run: its values become observations with PerfLab's names and units. Nothing
// is invented. Data that a format lacks is absent, with a note; invalid data is rejected,
// with its position in the file and advice. Files may have any length: of samples, only the
// distribution of durations is kept. The package is pure.
package importers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// ErrFile means that the file has another format, or invalid data.
var ErrFile = errors.New("the results are invalid")

// Reader reads the files of one format.
type Reader interface {
	// Name of the format, as in the flag.
	Name() string
	// Tool that writes such files.
	Tool() string
	// Reads lists the supported files and versions.
	Reads() string
	// Read reads a file, which is one run. It fails with ErrFile, and with
	// payload.ErrTooLarge.
	Read(from Source) (*Measured, error)
}

// Source is a file with the options to read it.
type Source struct {
	In io.Reader
	// Load is the first part of the metrics' names.
	Load string
	// Only these transactions are read; nil: all.
	Only *regexp.Regexp
	// Memory budget for the retained data.
	Memory *payload.Budget
}

// Measured is the data of a run in a file.
type Measured struct {
	// Observations by name.
	Observations []v1alpha1.Observation
	// Start of the first sample and End of the last; zero if unknown.
	Start, End time.Time
	// Samples in the file; zero if unknown.
	Samples int64
	// Paused are metrics that include think time: they are primary only without
	// alternatives.
	Paused []string
	// Higher and Lower are custom metrics with this direction, as declared in the file.
	Higher, Lower []string
	// Notes are sentences about data that the file lacks.
	Notes []string
}

// All returns all readers.
func All() []Reader {
	return []Reader{jmeter{}, k6{}, k6Summary{}, gatling{}, gatlingStats{}, openMessaging{}, goBench{}, prometheus{}}
}

// Named finds a reader.
func Named(name string) (Reader, bool) {
	all := All()
	at := slices.IndexFunc(all, func(known Reader) bool { return known.Name() == name })
	if at < 0 {
		return nil, false
	}
	return all[at], true
}

// Names of all readers.
func Names() []string {
	var names []string
	for _, one := range All() {
		names = append(names, one.Name())
	}
	return names
}

// fault is an error in a file, and its position.
type fault struct {
	line int
	why  string
}

func (f *fault) Error() string {
	if f.line > 0 {
		return fmt.Sprintf("%v: line %d: %s", ErrFile, f.line, f.why)
	}
	return fmt.Sprintf("%v: %s", ErrFile, f.why)
}

// Unwrap returns ErrFile.
func (f *fault) Unwrap() error { return ErrFile }

// refuse returns an error about a file, with advice.
func refuse(format string, values ...any) error { return &fault{why: fmt.Sprintf(format, values...)} }

// atLine adds a position to a fault.
func atLine(line int, err error) error {
	var found *fault
	if errors.As(err, &found) && found.line == 0 {
		return &fault{line: line, why: found.why}
	}
	return err
}

// lineReason returns a fault without the common prefix.
func lineReason(err error) string {
	var found *fault
	if errors.As(err, &found) {
		return found.why
	}
	return err.Error()
}

// shorten truncates a quote from a file.
func shorten(text string) string { return prose.Cut(text, 63) }

// sorted sorts observations by name.
func sorted(observations []v1alpha1.Observation) []v1alpha1.Observation {
	slices.SortFunc(observations, func(a, b v1alpha1.Observation) int { return cmp.Compare(a.Metric, b.Metric) })
	return observations
}

// withoutErrors removes error percentages if failures are unknown.
func (m *Measured) withoutErrors() {
	m.Observations = slices.DeleteFunc(m.Observations, func(one v1alpha1.Observation) bool {
		return strings.HasSuffix(one.Metric, "/"+metric.Errors)
	})
}
