// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/results"
	"perflab.dev/perflab/payload"
)

// measured is what is kept of a run beside its status.
type measured struct {
	// loads are the histograms, by load.
	loads map[string]*payload.Payload
	// courses are what servers used over the run, by name.
	courses map[string]results.Course
	// observations are all of a run that has more than its status holds.
	observations []v1alpha1.Observation
}

// rawOf unpacks what is kept of each run.
func rawOf(maps []corev1.ConfigMap) (map[string]*measured, error) {
	all := map[string]*measured{}
	for i := range maps {
		run := maps[i].Labels[v1alpha1.LabelRun]
		if all[run] == nil {
			all[run] = &measured{loads: map[string]*payload.Payload{}, courses: map[string]results.Course{}}
		}
		for key, body := range maps[i].BinaryData {
			if err := all[run].unpack(maps[i].Name == naming.RawSamples(run), key, body); err != nil {
				return nil, fmt.Errorf("%w: raw results of run %q, %q: %w", ErrInput, run, key, err)
			}
		}
	}
	return all, nil
}

func (m *measured) unpack(samples bool, key string, body []byte) error {
	switch {
	case samples:
		unpacked, err := payload.UnmarshalSamples(body)
		if err != nil {
			return err
		}
		for _, course := range results.Courses(unpacked) {
			m.courses[course.Name] = course
		}
	case key == naming.RawObservations:
		if err := json.Unmarshal(body, &m.observations); err != nil {
			return fmt.Errorf("decoding the observations: %w", err)
		}
	default:
		unpacked, err := payload.Unmarshal(body)
		if err != nil {
			return err
		}
		m.loads[key] = unpacked
	}
	return nil
}

// observationsOf a run: all of them, where they are kept beside its status.
func (r *record) observationsOf(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if kept := r.raw[run.Name]; kept != nil && len(kept.observations) > 0 {
		return kept.observations
	}
	return run.Status.Observations
}

// addRequests adds the rows of single requests where a run does not list them.
func (r *record) addRequests(run *v1alpha1.PerfRun) {
	kept := r.raw[run.Name]
	if kept == nil {
		return
	}
	all := map[string]results.Measured{}
	for name, histograms := range kept.loads {
		all[name] = results.FromHistograms(histograms)
	}
	for _, load := range run.Spec.Scenario.Loads {
		own := kept.loads[load.Name]
		if own == nil || load.DataImport != nil {
			continue
		}
		window := results.Whole(load, all, run.Spec.Measurement)
		part := own.Between(window.From, window.To)
		for _, transaction := range part.Transactions() {
			for _, request := range part.Requests(transaction) {
				// Those a browser sends by itself are no step of a person.
				summary, any := part.RequestSummary(transaction, request, payload.OK)
				if !any || strings.HasPrefix(request, "OPTIONS ") {
					continue
				}
				name := load.Name + "/" + transaction + "/" + request + "/"
				r.addRequest(run, name+statisticAverage, milliseconds(summary.Mean))
				r.addRequest(run, name+statisticP95, milliseconds(summary.P95))
			}
		}
	}
}

func (r *record) addRequest(run *v1alpha1.PerfRun, metric string, value float64) {
	at := place{run.Spec.Scenario.Name, metric, run.Spec.Arm}
	found := r.cells[at]
	if found == nil {
		found = &values{unit: unitMillis}
		r.cells[at] = found
	}
	last := len(found.blocks) - 1
	if last >= 0 && found.blocks[last] == run.Spec.Block {
		// The run lists it.
		return
	}
	found.blocks, found.numbers = append(found.blocks, run.Spec.Block), append(found.numbers, value)
}
