// SPDX-License-Identifier: Apache-2.0

package section

import (
	"time"
	"unsafe"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
)

// quantiles of a run's response times, in milliseconds at the levels, with the number of response
// times.
type quantiles struct {
	at      []float64
	samples int64
}

// heat is the number of samples of a transaction, by the time in the run and by their response
// times.
type heat struct {
	// width of a column.
	width time.Duration
	cells []heatCell
}

// heatCell is a field of a heat map: the column, the step of response times, and the number of
// samples.
type heatCell struct {
	column, step int16
	samples      uint32
}

// Trace is what a report needs from the raw results of one run: points of its charts and rows of
// its tables. It is much smaller, so that reading run by run needs the memory of only one.
type Trace struct {
	// observations of a run with more than fit into its status.
	observations []v1alpha1.Observation
	// requests of the measured time.
	requests []requestTime
	// courses over the run: response times by load/transaction, and servers' use by
	// component/name/resource.
	courses map[string][]chart.Point
	// quantiles of the response times in the measured time, by load/transaction.
	quantiles map[string]quantiles
	// heats are the response times of the whole run, by load/transaction.
	heats map[string]heat
	// restarts of containers under load, and intervals without samples.
	restarts []restart
	silent   []chart.Band
	// scripts of the loads, by load and file name, separated by a dot.
	scripts map[string]string
}

// Bytes is the approximate memory of the trace, by its large parts.
func (t *Trace) Bytes() int {
	const observation, request, sample, cell = int(unsafe.Sizeof(v1alpha1.Observation{})), int(unsafe.Sizeof(requestTime{})), int(unsafe.Sizeof(chart.Point{})), int(unsafe.Sizeof(heatCell{}))
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

// emptyTrace is the trace of a run without raw results.
var emptyTrace = &Trace{}

// allObservations returns all observations of a run, which are in the raw results if they don't
// fit into the status.
func (t *Trace) allObservations(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if len(t.observations) > 0 {
		return t.observations
	}
	return run.Status.Observations
}

// restart is a container of the system that ended and restarted under load.
type restart struct {
	payload.ContainerEnd
	// minute since the load began.
	minute float64
}
