// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

// measured is the content of raw results, unpacked.
type measured struct {
	loads        map[string]*payload.Payload
	samples      *payload.Samples
	observations []v1alpha1.Observation
}

// TraceOf unpacks the raw results of a run. It fails with ErrInput if they can't be read.
func TraceOf(run *v1alpha1.PerfRun, raw ...corev1.ConfigMap) (*Trace, error) {
	unpacked := measured{loads: map[string]*payload.Payload{}}
	var scripts map[string]string
	for i := range raw {
		if raw[i].Name == naming.RawScripts(run.Name) {
			scripts = raw[i].Data
			continue
		}
		for key, body := range raw[i].BinaryData {
			if err := unpacked.unpack(raw[i].Name == naming.RawSamples(run.Name), key, body); err != nil {
				return nil, fmt.Errorf("%w: raw results of run %q, %q: %w", ErrInput, run.Name, key, err)
			}
		}
	}
	trace := &Trace{observations: unpacked.observations, courses: map[string][]chart.Point{}, quantiles: map[string]quantiles{}, heats: map[string]heat{}, scripts: scripts}
	trace.addLoads(run, unpacked.loads)
	trace.addSamples(run, unpacked.samples)
	return trace, nil
}

func (m *measured) unpack(samples bool, key string, body []byte) (err error) {
	switch {
	case samples:
		m.samples, err = payload.UnmarshalSamples(body)
	case key == naming.RawObservations:
		if err := json.Unmarshal(body, &m.observations); err != nil {
			return fmt.Errorf("decoding the observations: %w", err)
		}
	default:
		m.loads[key], err = payload.Unmarshal(body)
	}
	return err
}

// addLoads adds response times and requests of all loads except batches.
func (t *Trace) addLoads(run *v1alpha1.PerfRun, loads map[string]*payload.Payload) {
	all := map[string]results.Measured{}
	for name, histograms := range loads {
		all[name] = results.FromHistograms(histograms)
	}
	results.SetDisturbed(all, run.Status.Faults)
	// Response times across all levels describe no load.
	isStepped := run.Spec.Scenario.Capacity != nil
	for _, load := range run.Spec.Scenario.Loads {
		own := loads[load.Name]
		if own == nil || kinds.IsBatch(load) {
			continue
		}
		start := timeValue(run.Status.Timings.LoadStart)
		window := results.Whole(load, all, run.Spec.Measurement)
		counted := own.Between(window.From, window.To)
		for _, transaction := range own.Transactions() {
			subject := metric.Name(load.Name, transaction)
			t.courses[subject] = responseTimes(own, transaction, start)
			t.heats[subject] = newHeat(own, transaction, start)
			if found, any := newQuantiles(counted, transaction); any && !isStepped {
				t.quantiles[subject] = found
			}
		}
		t.addRates(load.Name, own, start)
		if !isStepped {
			t.addRequests(load.Name, counted)
		}
		t.addRecoveries(run, load, all)
	}
}

func (t *Trace) addRequests(load string, part *payload.Payload) {
	for _, transaction := range part.Transactions() {
		for _, request := range part.Requests(transaction) {
			// Requests that a browser sends automatically are not user actions.
			summary, any := part.RequestSummary(transaction, request, payload.OK)
			if !any || strings.HasPrefix(request, "OPTIONS ") {
				continue
			}
			t.requests = append(t.requests,
				requestTime{metric.Name(load, label.Request(transaction, request), metric.Average), milliseconds(summary.Mean)},
				requestTime{metric.Name(load, label.Request(transaction, request), metric.P95), milliseconds(summary.P95)})
		}
	}
}

// chartedCourses are the resources that a report shows over time.
var chartedCourses = []string{metric.CPU, metric.CPUUsed, metric.Memory, metric.Connections}

func (t *Trace) addSamples(run *v1alpha1.PerfRun, samples *payload.Samples) {
	if samples == nil {
		return
	}
	start, finish := timeValue(run.Status.Timings.LoadStart), timeValue(run.Status.Timings.LoadFinish)
	for _, course := range results.Courses(samples) {
		if slices.ContainsFunc(chartedCourses, func(resource string) bool { return strings.HasSuffix(course.Name, "/"+resource) }) {
			t.courses[course.Name] = averageCourse(course, start, finish)
		}
	}
	load := results.Window{From: start, To: finish}
	t.addRestarts(samples, load)
	if finish.After(start) && len(samples.Rounds) > 0 {
		for _, gap := range results.SilentPeriods(samples, load) {
			t.silent = append(t.silent, chart.Band{Name: "not sampled", From: minutes(start, gap.From), To: minutes(start, gap.To)})
		}
	}
}

// newTraces are the traces of all runs with raw results.
func newTraces(input *Input, runs journal) (map[string]*Trace, error) {
	raw := map[string][]corev1.ConfigMap{}
	for _, one := range input.Raw {
		run := one.Labels[v1alpha1.LabelRun]
		raw[run] = append(raw[run], one)
	}
	all := map[string]*Trace{}
	for _, run := range runs {
		if given := input.Traces[run.Name]; given != nil {
			all[run.Name] = given
			continue
		}
		if raw[run.Name] == nil {
			continue
		}
		var err error
		if all[run.Name], err = TraceOf(run, raw[run.Name]...); err != nil {
			return nil, err
		}
	}
	return all, nil
}
