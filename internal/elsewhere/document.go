// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"encoding/json"
	"errors"
	"io"
	"math"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/decimal"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/observation"
)

// decode reads a document of JSON, and nothing behind it, with the memory there is.
func decode(from Source, into any, what string) error {
	decoder := json.NewDecoder(from.Memory.JSON(from.In))
	if err := decoder.Decode(into); err != nil {
		return jsonFault(err, what)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return refuse("something follows the end of %s, at byte %d: give each in a file of its own", what, decoder.InputOffset())
	}
	return nil
}

func jsonFault(err error, what string) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse("it ends in the middle of %s: copy it again", what)
	case errors.As(err, &syntax):
		return refuse("it is not %s: %v, at byte %d", what, syntax, syntax.Offset)
	case errors.As(err, &kind):
		return refuse("it is not %s: %q is of type %s, at byte %d", what, kind.Field, kind.Value, kind.Offset)
	}
	return err
}

// given collects what a summary gives.
type given struct {
	observations []v1alpha1.Observation
	err          error
}

// add a value that is known, of a load or a transaction.
func (g *given) add(of, statistic string, value *float64, samples int64) {
	if value == nil || g.err != nil {
		return
	}
	switch {
	case math.IsNaN(*value) || math.IsInf(*value, 0):
		g.err = refuse("%s/%s is %g, which is no number", of, statistic, *value)
	case *value < 0:
		g.err = refuse("%s/%s is %g, less than nothing", of, statistic, *value)
	case metric.Unit(statistic) == metric.UnitMilliseconds && *value > float64(longestSample.Milliseconds()):
		g.err = refuse("%s/%s is %g ms, longer than a week: is that in another unit?", of, statistic, *value)
	case len(g.observations) == mostTransactions*len(metric.TransactionStatistics()):
		g.err = refuse("it holds more values than a run has room for: choose transactions with --only REGEXP")
	default:
		g.observations = append(g.observations, observation.Of(of, statistic, *value, samples))
	}
}

// addOwn adds a metric in a unit of its own.
func (g *given) addOwn(name, unit string, value float64, samples int64) {
	before := len(g.observations)
	g.add(name, "", &value, samples)
	if len(g.observations) > before {
		g.observations[before] = v1alpha1.Observation{Metric: name, Value: decimal.Format(value), Unit: unit, Samples: samples}
	}
}

// measured is what was given, if it is anything.
func (g *given) measured(what string) (*Measured, error) {
	if g.err != nil {
		return nil, g.err
	}
	if len(g.observations) == 0 {
		return nil, refuse("%s holds no value", what)
	}
	made := &Measured{Observations: sorted(g.observations)}
	for i := 1; i < len(made.Observations); i++ {
		if made.Observations[i].Metric == made.Observations[i-1].Metric {
			return nil, refuse("%s holds %s twice", what, made.Observations[i].Metric)
		}
	}
	return made, nil
}

func (s *Source) wants(transaction string) bool {
	return s.Only == nil || s.Only.MatchString(transaction)
}

// mean of the values of a rate over the periods of a test.
func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	var sum float64
	for _, value := range values {
		sum += value
	}
	average := sum / float64(len(values))
	return &average
}
