// SPDX-License-Identifier: Apache-2.0

// Package kinds lists the kinds of loads. It is pure.
package kinds

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/circulation"
	"perflab.dev/perflab/internal/load/dataimport"
	"perflab.dev/perflab/internal/load/imported"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/script"
	"perflab.dev/perflab/internal/measure/metric"
)

// table has an entry for each kind.
var table = []func(v1alpha1.Load) (kind.Kind, bool){
	circulation.FromLoad,
	dataimport.FromLoad,
	imported.FromLoad,
	script.FromLoad,
}

// ForLoad returns a load's kind. A load of no kind, which the API server rejects, has an
// empty one.
func ForLoad(load v1alpha1.Load) kind.Kind {
	for _, of := range table {
		if found, is := of(load); is {
			return found
		}
	}
	return unknown{}
}

// IsBatch reports whether a load is a batch.
func IsBatch(load v1alpha1.Load) bool {
	_, is := ForLoad(load).(kind.Batch)
	return is
}

// LevelUnit returns what the levels of a load count: users, or 1 if that is unknown.
func LevelUnit(load v1alpha1.Load) string {
	if stepped, is := ForLoad(load).(kind.Stepped); is {
		return cmp.Or(stepped.LevelUnit(), metric.UnitCount)
	}
	return metric.UnitCount
}

// ConfigMaps returns the names of the ConfigMaps with scripts of the scenarios.
func ConfigMaps(scenarios []v1alpha1.Scenario) []string {
	var names []string
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			if key := ForLoad(load).Source().ConfigMap; key != nil {
				names = append(names, key.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

type unknown struct{ kind.Defaults }

func (unknown) Source() kind.Source                       { return kind.Source{} }
func (unknown) Environment(time.Duration) []corev1.EnvVar { return nil }
func (unknown) Describe() string                          { return "" }
