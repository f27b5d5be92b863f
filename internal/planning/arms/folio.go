// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
)

// Defaulted returns a system with the default tenant and login of the experiment: those of
// FOLIO if its loads or topics need them, else the declared ones.
func Defaulted(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) v1alpha1.System {
	if !isFOLIO(spec, system) {
		return system
	}
	system.Target.Tenant = cmp.Or(system.Target.Tenant, v1alpha1.DefaultTenant)
	system.Target.Login = system.Target.LoginOrDefault()
	return system
}

func isFOLIO(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) bool {
	preset := system.Kafka != nil && slices.ContainsFunc(system.Kafka.Topics, func(group v1alpha1.TopicGroup) bool { return group.Preset != nil })
	return preset || system.Target.Tenant != "" || slices.ContainsFunc(spec.Scenarios, func(scenario v1alpha1.Scenario) bool {
		return slices.ContainsFunc(scenario.Loads, func(load v1alpha1.Load) bool { return kinds.ForLoad(load).IsFOLIO() })
	})
}
