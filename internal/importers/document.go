// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
)

// decode parses a single JSON document, within the memory budget.
func decode(from Source, into any, what string) error {
	decoder := json.NewDecoder(from.Memory.JSON(from.In))
	if err := decoder.Decode(into); err != nil {
		return jsonFault(err, what)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return refuse("unexpected data after the end of %s, at byte %d: put each in a separate file", what, decoder.InputOffset())
	}
	return nil
}

func jsonFault(err error, what string) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var found *fault
	switch {
	case errors.As(err, &found):
		return refuse("not %s: %s", what, found.why)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse("the file ends in the middle of %s: copy it again", what)
	case errors.As(err, &syntax):
		return refuse("not %s: %v, at byte %d", what, syntax, syntax.Offset)
	case errors.As(err, &kind):
		return refuse("not %s: field %q has the wrong type %s, at byte %d", what, kind.Field, kind.Value, kind.Offset)
	}
	return err
}

// jsonNumber is a number in a summary, as a number or a string, for all requests or only
// successful ones; a dash, null or NaN is none.
type jsonNumber struct{ value *float64 }

func (f *jsonNumber) UnmarshalJSON(text []byte) error {
	bare := strings.ReplaceAll(strings.Trim(string(text), `" `), ",", "")
	if slices.Contains([]string{"", "-", "null", "NaN"}, bare) {
		return nil
	}
	value, err := strconv.ParseFloat(bare, 64)
	if err != nil {
		return refuse("%q is not a number", shorten(bare))
	}
	f.value = &value
	return nil
}

// leftOut describes the values that a mean excludes.
func leftOut(count int64, noun string) string {
	return prose.Counted(count, noun) + " omitted: infinite or not a number"
}

// observationList collects the observations in a summary.
type observationList struct {
	observations []v1alpha1.Observation
	err          error
	// empty are metrics without samples, paused as in Measured.
	empty, paused []string
}

// note lists metrics that are left out because they have no samples.
func (g *observationList) note() []string {
	if len(g.empty) == 0 {
		return nil
	}
	return []string{metric.Plain(prose.Enumerate(g.empty)) + ": no samples, omitted"}
}

// add adds a known value of a load or a transaction.
func (g *observationList) add(of, statistic string, value *float64, samples int64) {
	if value == nil || g.err != nil {
		return
	}
	switch {
	case math.IsNaN(*value) || math.IsInf(*value, 0):
		g.err = refuse("%s/%s is %g, not a finite number", of, statistic, *value)
	case *value < 0 && statistic != "":
		g.err = refuse("%s/%s is negative: %g", of, statistic, *value)
	case metric.Unit(statistic) == metric.UnitMilliseconds && *value > float64(longestSample.Milliseconds()):
		g.err = refuse("%s/%s is %g ms, longer than a week: check the unit", of, statistic, *value)
	case len(g.observations) == mostObservations:
		g.err = refuse("the file has more values than a run can hold: select transactions with --only REGEXP")
	default:
		g.observations = append(g.observations, observation.New(of, statistic, *value, samples))
	}
}

// addOwn adds a custom metric.
func (g *observationList) addOwn(name, unit string, value float64, samples int64) {
	before := len(g.observations)
	g.add(name, "", &value, samples)
	if len(g.observations) > before {
		g.observations[before] = v1alpha1.Observation{Metric: name, Value: decimal.Format(value), Unit: unit, Samples: samples}
	}
}

// measured returns the observations, and fails without any.
func (g *observationList) measured(what string) (*Measured, error) {
	if g.err != nil {
		return nil, g.err
	}
	if len(g.observations) == 0 {
		return nil, refuse("%s has no values%s", what, prefixed("; ", g.note()))
	}
	made := &Measured{Observations: sorted(g.observations), Notes: g.note(), Paused: g.paused}
	if len(g.paused) > 0 {
		made.Notes = append(made.Notes, pausesIncluded)
	}
	for i := 1; i < len(made.Observations); i++ {
		if made.Observations[i].Metric == made.Observations[i-1].Metric {
			return nil, refuse("%s contains %s twice", what, made.Observations[i].Metric)
		}
	}
	return made, nil
}

func prefixed(prefix string, notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return prefix + strings.Join(notes, "; ")
}

func (s *Source) wants(transaction string) bool {
	return s.Only == nil || s.Only.MatchString(metric.Plain(transaction))
}

// mean of the existing values.
func mean(values []jsonNumber) *float64 {
	var sum float64
	count := 0
	for _, one := range values {
		if one.value != nil {
			sum += *one.value
			count++
		}
	}
	if count == 0 {
		return nil
	}
	average := sum / float64(count)
	return &average
}
