// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// routing is the configuration that routes queries to PostgreSQL servers.
type routing struct {
	Instances int32
	Split     *v1alpha1.ReadWriteSplit
	Pooler    *v1alpha1.Pooler
}

// routings returns those of the arms' runs, by arm.
func routings(runs []v1alpha1.PerfRun) map[string]routing {
	found := map[string]routing{}
	for i := range runs {
		postgres := runs[i].Spec.System.Postgres
		if postgres == nil {
			continue
		}
		found[runs[i].Spec.Arm] = routing{postgres.Instances, postgres.ReadWriteSplit, postgres.Pooler}
	}
	return found
}

// isRouted reports whether a metric follows from the routing of queries: the connections of
// PostgreSQL's servers, and all metrics of its replicas.
func isRouted(name string) bool {
	of := metric.Parse(name)
	return of.Component == metric.Postgres &&
		(strings.HasPrefix(of.Resource, metric.AllConnections) || strings.HasPrefix(metric.Name(metric.Postgres, of.Of), metric.Replica))
}

// isSet selects the metrics that the settings of two arms change directly, unless they are
// primary or guardrails.
func (a *Answer) isSet(by map[string]routing) func(metric, arm, against string) bool {
	return func(metric, arm, against string) bool {
		isAsked := a.Question.IsPrimary(metric) || slices.Contains(a.Question.Guards, metric)
		return !isAsked && isRouted(metric) && !equality.Semantic.DeepEqual(by[arm], by[against])
	}
}
