// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
)

// Ports and health path of modules that declare none. FOLIO's are those of its images.
const (
	defaultPort     = 8080
	folioPort       = 8081
	folioHealthPath = "/admin/health"
)

// Defaulted returns a system with the experiment's defaults: in a FOLIO system, its tenant,
// login, port and health path, otherwise a neutral port. A system is FOLIO's if it has a tenant
// or if its loads or topics need one.
func Defaulted(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) v1alpha1.System {
	port, healthPath := int32(defaultPort), ""
	if isFOLIO(spec, system) {
		system.Target.Tenant = cmp.Or(system.Target.Tenant, v1alpha1.DefaultTenant)
		system.Target.Login = system.Target.LoginOrDefault()
		port, healthPath = folioPort, folioHealthPath
	}
	system.Modules = slices.Clone(system.Modules)
	for i := range system.Modules {
		module := &system.Modules[i]
		module.Port, module.HealthPath = cmp.Or(module.Port, port), cmp.Or(module.HealthPath, healthPath)
	}
	return system
}

func isFOLIO(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) bool {
	preset := system.Kafka != nil && slices.ContainsFunc(system.Kafka.Topics, func(group v1alpha1.TopicGroup) bool { return group.Preset != nil })
	return preset || system.Target.Tenant != "" || slices.ContainsFunc(spec.Scenarios, func(scenario v1alpha1.Scenario) bool {
		return slices.ContainsFunc(scenario.Loads, func(load v1alpha1.Load) bool { return kinds.ForLoad(load).IsFOLIO() })
	})
}
