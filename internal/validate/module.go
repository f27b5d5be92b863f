// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/api/v1alpha1"
)

func moduleFindings(module *v1alpha1.Module) []finding {
	who := title("module", module.Name)
	at := setting{"modules", module.Name}
	found := resourceFindings(who, module.Resources, below(at, "resources"))
	found = append(found, envFindings(who, module, below(at, "env"))...)
	if module.JVM == nil {
		return found
	}
	found = append(found, heapFindings(who, module, at)...)
	found = append(found, metaspaceFindings(who, module, at)...)
	return append(found, optionFindings(who, module.JVM, below(at, "jvm", "options"))...)
}

// envFindings: a variable needs a name a pod takes, and the one that jvm is
// written to would silently replace what jvm declares.
func envFindings(who string, module *v1alpha1.Module, at setting) []finding {
	var found []finding
	for _, variable := range module.Env {
		if faults := validation.IsRelaxedEnvVarName(variable.Name); len(faults) > 0 {
			found = append(found, wrong(variable.Name, fmt.Sprintf("%s: %q can't be the name of a variable: %s", who, variable.Name, faults[0]), at))
		}
		if module.JVM != nil && variable.Name == module.JVM.VariableOrDefault() {
			found = append(found, wrong(variable.Name,
				who+" sets "+variable.Name+" and jvm: the variable would replace what jvm declares; move its flags to jvm.options, or take jvm away", at))
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
		// What a borrowed workload is limited to is not written here.
		if limit != nil || module.WorkloadRef != nil {
			return nil
		}
		return []finding{doubtful(
			fmt.Sprintf("%s has a heap of %s percent and no memory limit: it would be a share of the node's memory; write resources.limits.memory", who, heap.MaxRAMPercentage),
			memory, below(at, "jvm", "heap", "maxRAMPercentage"))}
	}
	size := below(at, "jvm", "heap", "max")
	found := positive("the heap of "+who, heap.Max, size)
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
	found := positive("the initial metaspace of "+who, metaspace.Initial, below(at, "initial"))
	found = append(found, positive("the metaspace of "+who, metaspace.Max, below(at, "max"))...)
	if metaspace.Max == nil {
		return found
	}
	if metaspace.Initial != nil && metaspace.Initial.Cmp(*metaspace.Max) > 0 {
		found = append(found, wrong(metaspace.Initial.String(),
			fmt.Sprintf("the metaspace of %s starts with %s, more than its max of %s: lower metaspace.initial, or raise metaspace.max", who, metaspace.Initial, metaspace.Max),
			below(at, "initial"), below(at, "max")))
	}
	return append(found, roomFindings(who, module, *metaspace.Max, at)...)
}

// roomFindings: heap and metaspace together have to leave room for threads and
// buffers. A JVM may still get by, so it is a warning.
func roomFindings(who string, module *v1alpha1.Module, metaspace resource.Quantity, at setting) []finding {
	limit := memoryLimit(module.Resources)
	heap := heapBytes(module.JVM.Heap, limit)
	if limit == nil || heap == 0 || heap > limit.Value() || heap+metaspace.Value() <= limit.Value() {
		return nil
	}
	size := resource.NewQuantity(heap, resource.BinarySI)
	return []finding{doubtful(
		fmt.Sprintf("%s may use %s of heap and %s of metaspace, together more than its memory limit of %s: it can be killed under load; lower one of them, or raise the limit", who, size, &metaspace, limit),
		below(at, "max"))}
}

// heapBytes is the largest heap there can be, 0 where nothing says.
func heapBytes(heap *v1alpha1.Heap, limit *resource.Quantity) int64 {
	switch {
	case heap == nil:
		return 0
	case heap.Max != nil:
		return heap.Max.Value()
	case limit == nil:
		return 0
	default:
		var percent float64
		if _, err := fmt.Sscanf(heap.MaxRAMPercentage, "%g", &percent); err != nil {
			// The API's own rule refuses it.
			return 0
		}
		return int64(float64(limit.Value()) * percent / 100)
	}
}

// behind are flags that set the heap past jvm.heap.
var behind = regexp.MustCompile(`^-XX:(MaxHeapSize|MaxRAM|MaxRAMFraction|MaxRAMPercentage|MinRAMFraction|MinRAMPercentage)=|^-Xmx|^-XX:-UseContainerSupport$`)

var initialHeap = regexp.MustCompile(`^(?:-Xms|-XX:InitialHeapSize=)([0-9]+)([kKmMgGtT]?)$`)

func optionFindings(who string, jvm *v1alpha1.JVM, at setting) []finding {
	var found []finding
	for _, option := range jvm.Options {
		if sentence := optionFault(option, jvm); sentence != "" {
			found = append(found, wrong(option, fmt.Sprintf("%s: jvm.options has %q, %s", who, option, sentence), at))
		}
	}
	return found
}

func optionFault(option string, jvm *v1alpha1.JVM) string {
	switch {
	case len(strings.Fields(option)) != 1 || strings.TrimSpace(option) != option:
		return "which is not one flag: write one flag per entry, without spaces"
	case !strings.HasPrefix(option, "-"):
		return "which is no flag: a flag starts with '-'"
	case behind.MatchString(option):
		return "which sets the heap behind jvm.heap: write jvm.heap.max or jvm.heap.maxRAMPercentage instead"
	case strings.HasPrefix(option, "-XX:MaxMetaspaceSize=") && jvm.Metaspace != nil && jvm.Metaspace.Max != nil,
		strings.HasPrefix(option, "-XX:MetaspaceSize=") && jvm.Metaspace != nil && jvm.Metaspace.Initial != nil:
		return "which jvm.metaspace says already: leave one of them"
	case startsAbove(option, jvm.Heap):
		return fmt.Sprintf("a heap that starts larger than jvm.heap.max %s: the JVM would not start; write a smaller one", jvm.Heap.Max)
	default:
		return ""
	}
}

func startsAbove(option string, heap *v1alpha1.Heap) bool {
	parts := initialHeap.FindStringSubmatch(option)
	if parts == nil || heap == nil || heap.Max == nil {
		return false
	}
	unit := map[string]string{"": "", "k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti"}[strings.ToLower(parts[2])]
	initial, err := resource.ParseQuantity(parts[1] + unit)
	return err == nil && initial.Cmp(*heap.Max) > 0
}
