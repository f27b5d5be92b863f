// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
)

// Defaulted is a system with the tenant and the login that follow from the
// experiment: those of FOLIO where its loads or topics are meant, else what is
// declared.
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
