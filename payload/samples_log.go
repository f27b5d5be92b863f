// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

var samples = framing{marker: "perflab-samples ", version: SamplesVersion}

// WriteSamples writes s to a log. Each line is one call of w.Write.
func WriteSamples(w io.Writer, s *Samples) error {
	s.sort()
	body, err := MarshalSamples(s)
	if err != nil {
		return err
	}
	if err := samples.write(w, body); err != nil {
		return fmt.Errorf("writing samples of %s: %w", s.Run, err)
	}
	return nil
}

// ReadSamples merges all samples in a log; see [SamplesReader.Read].
func ReadSamples(r io.Reader) (*Samples, error) { return NewSamplesReader().Read(r) }

// SamplesReader reads the logs of one run's collectors, which share one memory limit.
type SamplesReader struct{ left *Budget }

// NewSamplesReader returns a reader that has not read anything.
func NewSamplesReader() *SamplesReader { return &SamplesReader{NewBudget(maxSamples)} }

// Read merges all samples in a log, and ignores other lines. It skips damaged samples if the log
// holds valid ones. It fails with ErrNone if the log holds no samples, and with ErrCorrupt if all
// are damaged. It fails with ErrTooLarge if they take too much memory, with ErrMismatch if they
// are not all of one run, and with the error of r.
func (l *SamplesReader) Read(r io.Reader) (*Samples, error) {
	s, _, err := l.ReadSum(r)
	return s, err
}

// ReadSum is like Read, and also returns the SHA-256, in hexadecimal, of the concatenated bodies
// that it merged.
func (l *SamplesReader) ReadSum(r io.Reader) (s *Samples, sum string, err error) {
	bodies := sha256.New()
	var parts []*Samples
	var tooLarge error
	bad, err := samples.scan(r, func(body []byte) error {
		part, err := unmarshalSamples(body, l.left)
		if errors.Is(err, ErrTooLarge) {
			tooLarge = err
		}
		if err == nil {
			parts = append(parts, part)
			_, _ = bodies.Write(body) // Writing to a digest does not fail.
		}
		return err
	})
	if err = cmp.Or(err, tooLarge); err != nil {
		return nil, "", fmt.Errorf("reading log: %w", err)
	}
	if len(parts) == 0 && bad != nil {
		return nil, "", fmt.Errorf("reading log: %w", bad)
	}
	if s, err = MergeSamples(parts...); err != nil {
		return nil, "", fmt.Errorf("reading log: %w", err)
	}
	return s, hex.EncodeToString(bodies.Sum(nil)), nil
}

// MarshalSamples returns the compressed body, for storage.
func MarshalSamples(s *Samples) ([]byte, error) { return pack("samples of "+s.Run, s) }

// UnmarshalSamples decodes the output of MarshalSamples. Its errors are ErrCorrupt and
// ErrTooLarge.
func UnmarshalSamples(body []byte) (*Samples, error) {
	return unmarshalSamples(body, NewBudget(maxSamples))
}

func unmarshalSamples(body []byte, within *Budget) (*Samples, error) {
	s := &Samples{}
	if err := unpack("samples", body, s, within); err != nil {
		return nil, err
	}
	if s.Version != SamplesVersion {
		return nil, fmt.Errorf("decoding samples: %w: unsupported version %d, want %d", ErrCorrupt, s.Version, SamplesVersion)
	}
	if len(s.Notes) > maxNotes {
		return nil, fmt.Errorf("decoding samples: %w: %d notes, at most %d are allowed", ErrCorrupt, len(s.Notes), maxNotes)
	}
	if err := validTimes(s.times()...); err != nil {
		return nil, fmt.Errorf("decoding samples: %w", err)
	}
	if s.End.Before(s.Start) {
		return nil, fmt.Errorf("decoding samples: %w: they end before they start", ErrCorrupt)
	}
	s.Start, s.End = millis(s.Start), millis(s.End)
	return s, nil
}

// times returns the times that are encoded as text.
func (s *Samples) times() []time.Time {
	times := []time.Time{s.Start, s.End}
	for _, end := range s.Ends {
		times = append(times, end.At)
	}
	for _, period := range s.Statements {
		times = append(times, period.From, period.To)
	}
	return times
}

// FitSamples returns s, or a copy with fewer points, so that MarshalSamples returns at most limit
// bytes. It fails if they are larger even with one point each.
func FitSamples(s *Samples, limit int) (*Samples, error) {
	for {
		body, err := MarshalSamples(s)
		if err != nil {
			return nil, err
		}
		if len(body) <= limit {
			return s, nil
		}
		longest := len(s.Rounds)
		for _, series := range s.Series {
			longest = max(longest, len(series.Points))
		}
		if longest <= 1 {
			return nil, fmt.Errorf("fitting samples of %s into %d bytes: they take %d bytes even with a single point each", s.Run, limit, len(body))
		}
		s = s.thinned()
	}
}

// thinned returns a copy with half the points.
func (s *Samples) thinned() *Samples {
	thin := *s
	thin.Rounds = s.Rounds.halved()
	for i := range thin.Rounds {
		thin.Rounds[i].Value = min(2*thin.Rounds[i].Value, math.MaxFloat64)
	}
	thin.Series = make([]SampleSeries, len(s.Series))
	for i, series := range s.Series {
		series.Points = series.Points.halved()
		thin.Series[i] = series
	}
	return &thin
}
