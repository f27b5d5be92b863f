// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// scrapeTimeout bounds listing the experiments. Prometheus times out after ten seconds.
const scrapeTimeout = 5 * time.Second

var (
	experimentsDesc = prometheus.NewDesc("perflab_experiments",
		"Number of experiments, by phase.", []string{"phase"}, nil)
	queueDesc = prometheus.NewDesc("perflab_queue_runs",
		"Number of planned runs without a valid attempt, by the phase of their experiment.", []string{"phase"}, nil)
)

// phases of an experiment. Each has a series, even if it is 0, so that an alert can
// distinguish zero from absent.
var phases = []v1alpha1.ExperimentPhase{
	v1alpha1.ExperimentPending, v1alpha1.ExperimentRunning, v1alpha1.ExperimentSuspended,
	v1alpha1.ExperimentComplete, v1alpha1.ExperimentStalled, v1alpha1.ExperimentDeleting,
}

// Experiments counts the experiments and runs at each scrape, independent of restarts of the
// operator.
type Experiments struct {
	// Reader should be cached.
	Reader client.Reader
}

var _ prometheus.Collector = Experiments{}

// Describe sends the descriptions of the metrics.
func (Experiments) Describe(to chan<- *prometheus.Desc) {
	to <- experimentsDesc
	to <- queueDesc
	for _, one := range []*prometheus.Desc{meanDesc, lowDesc, highDesc, changesDesc, leftOutDesc} {
		to <- one
	}
}

// Collect sends the counts. If listing fails, it sends no counts instead of zeros; other
// metrics are not affected.
func (e Experiments) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	list := &v1alpha1.PerfExperimentList{}
	if err := e.Reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		log.Log.Info("The experiments can't be counted for Prometheus", "error", err.Error())
		return
	}
	experiments, queued := count(list.Items)
	for _, phase := range phases {
		to <- prometheus.MustNewConstMetric(experimentsDesc, prometheus.GaugeValue, float64(experiments[phase]), string(phase))
		to <- prometheus.MustNewConstMetric(queueDesc, prometheus.GaugeValue, float64(queued[phase]), string(phase))
	}
	collectSeries(list.Items, to)
}

func count(all []v1alpha1.PerfExperiment) (experiments, queued map[v1alpha1.ExperimentPhase]int32) {
	experiments, queued = map[v1alpha1.ExperimentPhase]int32{}, map[v1alpha1.ExperimentPhase]int32{}
	for i := range all {
		if provenance.IsImported(&all[i]) {
			// It counts where it was measured, and needs no action here.
			continue
		}
		status := &all[i].Status
		phase := status.Phase
		if phase == "" {
			// The operator has not seen it yet.
			phase = v1alpha1.ExperimentPending
		}
		experiments[phase]++
		if status.Runs != nil {
			queued[phase] += max(0, status.Runs.Planned-status.Runs.Done)
		}
	}
	return experiments, queued
}
