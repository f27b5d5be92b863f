// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// defaultServicePort is the API's default, for systems without API defaults.
const defaultServicePort = 80

// BuiltModules returns the modules that PerfLab runs itself.
func (r Request) BuiltModules() []v1alpha1.Module {
	var built []v1alpha1.Module
	for _, module := range r.System.Modules {
		if module.WorkloadRef == nil {
			built = append(built, module)
		}
	}
	return built
}

// AdoptedModules returns the modules that existing workloads run.
func (r Request) AdoptedModules() []v1alpha1.Module {
	var borrowed []v1alpha1.Module
	for _, module := range r.System.Modules {
		if module.WorkloadRef != nil {
			borrowed = append(borrowed, module)
		}
	}
	return borrowed
}

// ModuleService returns the name and the port of a module's Service.
func ModuleService(experiment string, module v1alpha1.Module) (name string, port int32) {
	if ref := module.WorkloadRef; ref != nil {
		return cmp.Or(ref.Service, ref.Name), cmp.Or(ref.ServicePort, defaultServicePort)
	}
	return naming.Module(experiment, module.Name), module.Port
}

// ModuleURL returns a module's URL, for any namespace.
func ModuleURL(namespace, experiment string, module v1alpha1.Module) string {
	service, port := ModuleService(experiment, module)
	return naming.ServiceURL(service, namespace, port)
}
