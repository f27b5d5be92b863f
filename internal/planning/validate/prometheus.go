// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// prometheusFindings warns of Prometheus selectors that have no effect without a Prometheus
// server.
func prometheusFindings(system *v1alpha1.System, measurement v1alpha1.Measurement) []finding {
	if measurement.Prometheus != nil {
		return nil
	}
	var found []finding
	unasked := func(component string) {
		found = append(found, wrong("", fmt.Sprintf("%s.external.prometheus selects the service in Prometheus, and no Prometheus is configured: set measurement.prometheus with its url, or remove %s.external.prometheus", component, component),
			setting{component, "external", "prometheus"}, setting{component, "external"}))
	}
	if kafka := system.Kafka; kafka != nil && kafka.External != nil && kafka.External.Prometheus != nil {
		unasked("kafka")
	}
	if postgres := system.Postgres; postgres != nil && postgres.External != nil && postgres.External.Prometheus != nil {
		unasked("postgres")
	}
	return found
}
