// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/api/v1alpha1"
)

func moduleFindings(module *v1alpha1.Module) []finding {
	who := title("module", module.Name)
	at := setting{"modules", module.Name}
	found := resourceFindings(who, module.Resources, below(at, "resources"))
	found = append(found, volumeFindings(who, module, below(at, "volumes"))...)
	found = append(found, envFindings(who, module, below(at, "env"))...)
	found = append(found, javaFindings(who, module, at)...)
	if module.JVM == nil {
		return found
	}
	found = append(found, heapFindings(who, module, at)...)
	return append(found, metaspaceFindings(who, module, at)...)
}

func volumeFindings(who string, module *v1alpha1.Module, at setting) []finding {
	var found []finding
	for _, volume := range module.Volumes {
		if volume.EmptyDir == nil || volume.EmptyDir.SizeLimit == nil || isWhole(*volume.EmptyDir.SizeLimit) && volume.EmptyDir.SizeLimit.Sign() > 0 {
			continue
		}
		what := fmt.Sprintf("the size limit of volume %q of %s", volume.Name, who)
		found = append(found, sizeFindings(what, volume.EmptyDir.SizeLimit, below(at, volume.Name, "emptyDir", "sizeLimit"))...)
	}
	return found
}

// envFindings checks that variables have valid names, and that none is the variable of jvm,
// which it would silently replace.
func envFindings(who string, module *v1alpha1.Module, at setting) []finding {
	var found []finding
	for _, variable := range module.Env {
		at := below(at, variable.Name)
		if faults := validation.IsRelaxedEnvVarName(variable.Name); len(faults) > 0 {
			found = append(found, wrong(variable.Name, fmt.Sprintf("%s: %q is not a valid variable name: %s", who, variable.Name, faults[0]), at))
		}
		if module.JVM != nil && variable.Name == module.JVM.VariableOrDefault() {
			found = append(found, wrong(variable.Name,
				who+" sets "+variable.Name+" and jvm: the variable would override jvm; move its flags to jvm.options, or remove jvm", at))
		}
	}
	return found
}

func heapFindings(who string, module *v1alpha1.Module, at setting) []finding {
	heap, limit := module.JVM.Heap, memoryLimit(module.Resources)
	if heap == nil {
		return nil
	}
	memory := below(at, "resources", "limits", "memory")
	if heap.Max == nil {
		// The limits of an adopted workload are unknown here.
		if limit != nil || module.WorkloadRef != nil {
			return nil
		}
		return []finding{doubtful(
			fmt.Sprintf("%s has a heap of %s percent and no memory limit: it would be a share of the node's memory; write resources.limits.memory", who, heap.MaxRAMPercentage),
			memory, below(at, "jvm", "heap", "maxRAMPercentage"))}
	}
	size := below(at, "jvm", "heap", "max")
	found := sizeFindings("the heap of "+who, heap.Max, size)
	if limit != nil && heap.Max.Cmp(*limit) > 0 {
		found = append(found, wrong(heap.Max.String(),
			fmt.Sprintf("the heap of %s is %s, larger than its memory limit of %s: write a smaller jvm.heap.max, or raise resources.limits.memory", who, heap.Max, limit),
			size, memory))
	}
	return found
}

func metaspaceFindings(who string, module *v1alpha1.Module, at setting) []finding {
	metaspace := module.JVM.Metaspace
	if metaspace == nil {
		return nil
	}
	at = below(at, "jvm", "metaspace")
	found := sizeFindings("the initial metaspace of "+who, metaspace.Initial, below(at, "initial"))
	found = append(found, sizeFindings("the metaspace of "+who, metaspace.Max, below(at, "max"))...)
	if metaspace.Max != nil && metaspace.Initial != nil && metaspace.Initial.Cmp(*metaspace.Max) > 0 {
		found = append(found, wrong(metaspace.Initial.String(),
			fmt.Sprintf("the metaspace of %s starts with %s, more than its max of %s: lower metaspace.initial, or raise metaspace.max", who, metaspace.Initial, metaspace.Max),
			below(at, "initial"), below(at, "max")))
	}
	return found
}

// moduleIndex is the index of the module with the name; -1 if there is none.
func moduleIndex(system *v1alpha1.System, name string) int {
	return slices.IndexFunc(system.Modules, func(module v1alpha1.Module) bool { return module.Name == name })
}
