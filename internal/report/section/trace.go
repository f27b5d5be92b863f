// SPDX-License-Identifier: Apache-2.0

package section

import (
	"time"
	"unsafe"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
)

// quantiles of a run's response times, in milliseconds at the levels, and how many
// response times there are.
type quantiles struct {
	at      []float64
	samples int64
}

// heat is how many samples of a transaction there were, by the time in the run and by
// how long they took.
type heat struct {
	// width of a column.
	width time.Duration
	cells []heatCell
}

// heatCell is a field of a heat map: the column, the step of response times, and how
// many samples lie there.
type heatCell struct {
	column, step int16
	samples      uint32
}

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
	courses map[string][]chart.Point
	// quantiles are the response times of the stretch that counts, by load/transaction.
	quantiles map[string]quantiles
	// heats are the response times of the whole run, by load/transaction.
	heats map[string]heat
	// restarts of containers while load was on, and stretches in which nothing was sampled.
	restarts []restart
	silent   []chart.Band
	// scripts of the loads, by the load's name, a dot and the file's.
	scripts map[string]string
}

// Bytes is about what the trace takes of memory: what it has by the thousand.
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

// emptyTrace is that of a run without raw results.
var emptyTrace = &Trace{}

// allObservations of a run are kept beside its status where that has no room for all.
func (t *Trace) allObservations(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if len(t.observations) > 0 {
		return t.observations
	}
	return run.Status.Observations
}

// restart is a container of the system that ended while load was on, and was started again.
type restart struct {
	payload.ContainerEnd
	// minute since the load began.
	minute float64
}
