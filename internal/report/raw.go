// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

// Trace is what a report takes from the raw results of one run: points of its
// charts and rows of its tables. It is far smaller than they are, so that who
// reads runs one after the other needs memory for one.
type Trace struct {
	// observations are all of a run that has more than its status holds.
	observations []v1alpha1.Observation
	// requests of the stretch that counts.
	requests []requestTime
	// courses are, over the run, the response times by load/transaction and what
	// servers used by component/name/resource.
	courses map[string][]PointX
	// quantiles are the response times of the stretch that counts, by load/transaction.
	quantiles map[string]quantiles
	// heats are the response times of the whole run, by load/transaction.
	heats map[string]heat
	// restarts of containers while load was on, and stretches in which nothing was sampled.
	restarts []restart
	silent   []Band
	// scripts of the loads, by the load's name, a dot and the file's.
	scripts map[string]string
}

// Bytes is about what the trace takes of memory: what it has by the thousand.
func (t *Trace) Bytes() int {
	const observation, request, sample, cell = int(unsafe.Sizeof(v1alpha1.Observation{})), int(unsafe.Sizeof(requestTime{})), int(unsafe.Sizeof(PointX{})), int(unsafe.Sizeof(heatCell{}))
	bytes := 0
	for _, one := range t.observations {
		bytes += observation + len(one.Metric) + len(one.Value) + len(one.Unit)
	}
	for _, one := range t.requests {
		bytes += request + len(one.metric)
	}
	for name, course := range t.courses {
		bytes += len(name) + sample*cap(course)
	}
	for _, one := range t.quantiles {
		bytes += 8 * len(one.at)
	}
	for _, one := range t.heats {
		bytes += cell * cap(one.cells)
	}
	for _, text := range t.scripts {
		bytes += len(text)
	}
	return bytes
}

// requestTime is a metric of a single request, in milliseconds.
type requestTime struct {
	metric string
	value  float64
}

// measured is what raw results hold, unpacked.
type measured struct {
	loads        map[string]*payload.Payload
	samples      *payload.Samples
	observations []v1alpha1.Observation
}

// TraceOf unpacks the raw results of a run. It fails with ErrInput where they
// can't be read.
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
	trace := &Trace{observations: unpacked.observations, courses: map[string][]PointX{}, quantiles: map[string]quantiles{}, heats: map[string]heat{}, scripts: scripts}
	trace.takeLoads(run, unpacked.loads)
	trace.takeSamples(run, unpacked.samples)
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

// takeLoads takes response times and requests of all loads but batches.
func (t *Trace) takeLoads(run *v1alpha1.PerfRun, loads map[string]*payload.Payload) {
	all := map[string]results.Measured{}
	for name, histograms := range loads {
		all[name] = results.FromHistograms(histograms)
	}
	for _, load := range run.Spec.Scenario.Loads {
		own := loads[load.Name]
		if own == nil || kinds.IsBatch(load) {
			continue
		}
		start := timeOf(run.Status.Timings.LoadStart)
		window := results.Whole(load, all, run.Spec.Measurement)
		counted := own.Between(window.From, window.To)
		for _, transaction := range own.Transactions() {
			subject := metric.Name(load.Name, transaction)
			t.courses[subject] = responseTimes(own, transaction, start)
			t.heats[subject] = heatOf(own, transaction, start)
			if found, any := quantilesOf(counted, transaction); any {
				t.quantiles[subject] = found
			}
		}
		t.takeRates(load.Name, own, start)
		t.takeRequests(load.Name, counted)
	}
}

func (t *Trace) takeRequests(load string, part *payload.Payload) {
	for _, transaction := range part.Transactions() {
		for _, request := range part.Requests(transaction) {
			// Those a browser sends by itself are no step of a person.
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

func (t *Trace) takeSamples(run *v1alpha1.PerfRun, samples *payload.Samples) {
	if samples == nil {
		return
	}
	start, finish := timeOf(run.Status.Timings.LoadStart), timeOf(run.Status.Timings.LoadFinish)
	for _, course := range results.Courses(samples) {
		if slices.ContainsFunc(chartedCourses, func(resource string) bool { return strings.HasSuffix(course.Name, "/"+resource) }) {
			t.courses[course.Name] = courseOf(course, start, finish)
		}
	}
	load := results.Window{From: start, To: finish}
	t.takeRestarts(samples, load)
	if finish.After(start) && len(samples.Rounds) > 0 {
		for _, gap := range results.Silences(samples, load) {
			t.silent = append(t.silent, Band{"not sampled", minutes(start, gap.From), minutes(start, gap.To)})
		}
	}
}

// noTrace is that of a run without raw results.
var noTrace = &Trace{}

// tracesOf are those of all runs that have raw results.
func tracesOf(input *Input, runs journal) (map[string]*Trace, error) {
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

// observationsOf a run: all of them, where they are kept beside its status.
func (t *Trace) observationsOf(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if len(t.observations) > 0 {
		return t.observations
	}
	return run.Status.Observations
}
