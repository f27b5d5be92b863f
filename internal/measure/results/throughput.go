// SPDX-License-Identifier: Apache-2.0

package results

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/payload"
)

// throughput maps k6's counters of a load to rates per second.
var throughput = []struct{ counter, metric string }{
	{metricRequests, metric.RequestsPerSecond},
	{metricIterations, metric.IterationsPerSecond},
}

// observeThroughput returns the throughput of a part of a load's time. A batch has none: most of
// its requests poll for its end.
func observeThroughput(load string, all, part *payload.Payload) []v1alpha1.Observation {
	length := part.End.Sub(part.Start)
	if length <= 0 {
		return nil
	}
	var observations []v1alpha1.Observation
	for _, rate := range throughput {
		if all.Total(rate.counter) > 0 {
			count := part.Total(rate.counter)
			observations = append(observations, observation.New(load, rate.metric, count/length.Seconds(), int64(count)))
		}
	}
	return observations
}

// observeThroughput returns the throughput of the whole test, by k6's own clock.
func (s *Summary) observeThroughput(load string) []v1alpha1.Observation {
	var observations []v1alpha1.Observation
	for _, rate := range throughput {
		if value := s.Rates[rate.counter]; value > 0 {
			observations = append(observations, observation.New(load, rate.metric, value, int64(s.Counts[rate.counter])))
		}
	}
	return observations
}
