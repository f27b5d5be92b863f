// SPDX-License-Identifier: Apache-2.0

// Package importers reads what other tools measured, each format by a reader of its
// own, and makes of it the record of an experiment in which PerfLab had no part.
//
// A file is one run: what it tells comes out as observations by PerfLab's names and
// in PerfLab's units. Nothing is made up. What a format does not tell is not there,
// and a note says so; what can't be right is refused, with its place in the file and
// what to do. Files may be of any length: of samples, only how many took how long is
// kept. The package is pure.
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
	"perflab.dev/perflab/payload"
)

// ErrFile says that a file is not what it was said to be, or that what stands in it
// can't be right.
var ErrFile = errors.New("the results are invalid")

// Reader reads the files of one format.
type Reader interface {
	// Name of the format, as a person gives it.
	Name() string
	// Tool that writes such files, as sentences name it.
	Tool() string
	// Reads says in a few words which files, of which versions.
	Reads() string
	// Read a file: one run. It fails with ErrFile, and with payload.ErrTooLarge.
	Read(from Source) (*Measured, error)
}

// Source is a file and how it is to be read.
type Source struct {
	In io.Reader
	// Load that the names of the metrics begin with.
	Load string
	// Only these transactions are read; nil: all.
	Only *regexp.Regexp
	// Memory that what is kept of the file may take.
	Memory *payload.Budget
}

// Measured is what a file tells of its run.
type Measured struct {
	// Observations by name.
	Observations []v1alpha1.Observation
	// Start of the first sample and End of the last; zero where the file does not tell.
	Start, End time.Time
	// Samples that it rests on; zero where the file does not tell.
	Samples int64
	// Paused are metrics that include pauses of the users: they decide only where
	// nothing else could.
	Paused []string
	// Higher and Lower are custom metrics that get better so, as the file says.
	Higher, Lower []string
	// Notes are sentences on what the file does not tell.
	Notes []string
}

// All are the readers there are.
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

// fault is what is wrong in a file, and where.
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

// Unwrap tells that the file is at fault.
func (f *fault) Unwrap() error { return ErrFile }

// refuse says what is wrong with a file, and what to do.
func refuse(format string, values ...any) error { return &fault{why: fmt.Sprintf(format, values...)} }

// atLine says where a fault is.
func atLine(line int, err error) error {
	var found *fault
	if errors.As(err, &found) && found.line == 0 {
		return &fault{line: line, why: found.why}
	}
	return err
}

// lineReason is a fault without what all faults begin with, to be a part of another.
func lineReason(err error) string {
	var found *fault
	if errors.As(err, &found) {
		return found.why
	}
	return err.Error()
}

// shorten is what a file says in one place, shortened to what a person wants to see.
func shorten(text string) string {
	const most = 60
	letters := []rune(text)
	if len(letters) > most {
		text = string(letters[:most]) + "…"
	}
	return text
}

// sorted puts observations in the order of their names.
func sorted(observations []v1alpha1.Observation) []v1alpha1.Observation {
	slices.SortFunc(observations, func(a, b v1alpha1.Observation) int { return cmp.Compare(a.Metric, b.Metric) })
	return observations
}

// withoutErrors leaves out the shares of errors, where nobody knows what failed.
func (m *Measured) withoutErrors() {
	m.Observations = slices.DeleteFunc(m.Observations, func(one v1alpha1.Observation) bool {
		return strings.HasSuffix(one.Metric, "/"+metric.Errors)
	})
}
