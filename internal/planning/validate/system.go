// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// findings returns all findings of a system except for its patches.
func findings(system *v1alpha1.System) []finding {
	var found []finding
	found = append(found, kafkaFindings(system.Kafka, declaredTenant(system))...)
	found = append(found, postgresFindings(system)...)
	found = append(found, targetFindings(system)...)
	found = append(found, workloadFindings(system)...)
	for i := range system.Modules {
		found = append(found, moduleFindings(&system.Modules[i])...)
	}
	return found
}

// declaredTenant returns the tenant of preset topics.
func declaredTenant(system *v1alpha1.System) string {
	return cmp.Or(system.Target.Tenant, v1alpha1.DefaultTenant)
}

// targetFindings rejects a target without replicas.
func targetFindings(system *v1alpha1.System) []finding {
	for _, module := range system.Modules {
		if module.Name == system.Target.Module && module.Replicas != nil && *module.Replicas == 0 {
			return []finding{wrong(0,
				fmt.Sprintf("module %q receives the load and has 0 replicas: write 1 or more, or another target.module", module.Name),
				setting{"modules", module.Name, "replicas"})}
		}
	}
	return nil
}

// workloadFindings rejects a workload that two modules adopt.
func workloadFindings(system *v1alpha1.System) []finding {
	var found []finding
	borrower := map[string]string{}
	for _, module := range system.Modules {
		if module.WorkloadRef == nil {
			continue
		}
		workload := fmt.Sprintf("%s %q", workloadKind(module.WorkloadRef), module.WorkloadRef.Name)
		if first, taken := borrower[workload]; taken {
			found = append(found, wrong(module.WorkloadRef.Name,
				fmt.Sprintf("module %q adopts %s, which module %q already adopts: name another workload, or remove one of the modules", module.Name, workload, first),
				setting{"modules", module.Name, "workloadRef", "name"}))
			continue
		}
		borrower[workload] = module.Name
	}
	return found
}

func workloadKind(ref *v1alpha1.WorkloadRef) v1alpha1.WorkloadKind {
	if ref.Kind == "" {
		return v1alpha1.WorkloadDeployment
	}
	return ref.Kind
}

func unknownModule(name string, system *v1alpha1.System) string {
	names := make([]string, 0, len(system.Modules))
	for _, module := range system.Modules {
		names = append(names, module.Name)
	}
	return fmt.Sprintf("the system has no module %q: write one of its modules (%s)", name, prose.Enumerate(names))
}

func title(what, name string) string { return fmt.Sprintf("%s %q", what, name) }

// quoted lists names in a message, truncated if there are many.
func quoted(names []string) string {
	marked := make([]string, 0, len(names))
	for _, name := range names {
		marked = append(marked, fmt.Sprintf("%q", name))
	}
	return prose.Enumerate(marked)
}
