// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"regexp"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// CatchUp is the maximum time that a stopped collector waits for late metrics. CloudWatch publishes
// those of a minute one or two minutes later.
const CatchUp = 3 * time.Minute

// CatchUpTime is the extra time for that at the end of a run's collector.
func CatchUpTime(run *v1alpha1.PerfRun) time.Duration {
	if run.Spec.Measurement.Prometheus == nil {
		return 0
	}
	prometheus := &Prometheus{}
	prometheus.addManaged(&run.Spec.System)
	if len(prometheus.Databases) == 0 && prometheus.Cluster == "" {
		return 0
	}
	return CatchUp
}

// addManaged adds the parts of the system that Amazon runs.
func (p *Prometheus) addManaged(system *v1alpha1.System) {
	if postgres := system.Postgres; postgres != nil && postgres.External != nil && postgres.External.Prometheus != nil {
		declared := postgres.External.Prometheus
		p.Databases = []Database{{Component: metric.Primary, Instance: string(declared.Instance)}}
		for i, reader := range declared.ReaderInstances {
			p.Databases = append(p.Databases, Database{Component: fmt.Sprintf("%s%d", metric.Replica, i+1), Instance: string(reader)})
		}
	}
	if kafka := system.Kafka; kafka != nil && kafka.External != nil && kafka.External.Prometheus != nil {
		p.Cluster = kafka.External.Prometheus.Cluster
		if kafka.External.Prometheus.Source == v1alpha1.BrokerSourceOpenMonitoring {
			p.BrokerDomain = brokerDomain(kafka.External.BootstrapServers)
		}
	}
}

// brokerHost matches MSK's host names of brokers, with their port.
var brokerHost = regexp.MustCompile(`^b-[0-9]+(?:-public)?\.([A-Za-z0-9.-]+):[0-9]+$`)

// brokerDomain is the common suffix of the host names of MSK's brokers; empty if none of these is
// one.
func brokerDomain(servers []string) string {
	for _, server := range servers {
		if parts := brokerHost.FindStringSubmatch(server); parts != nil {
			return parts[1]
		}
	}
	return ""
}
