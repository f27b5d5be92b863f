// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/text/prose"
)

// Instance is a running pod of a module.
type Instance struct {
	Pod corev1.Pod
	// Start is what its JVM logged at startup; zero if it logged no heap.
	Start jvm.Init
}

// Container returns the name of the container with the module's JVM in one of its pods.
func Container(module v1alpha1.Module, pod corev1.Pod) string {
	ref := module.WorkloadRef
	switch {
	case ref == nil:
		return module.Name
	case ref.Container != "" || len(pod.Spec.Containers) == 0:
		return ref.Container
	default:
		return pod.Spec.Containers[0].Name
	}
}

// LogsHeap reports whether the module's JVM is configured to log its heap.
func LogsHeap(module v1alpha1.Module) bool {
	return module.JVM != nil || module.WorkloadRef != nil
}

// Effective returns the effective configuration of the module's pods.
func Effective(module v1alpha1.Module, instances []Instance) v1alpha1.EffectiveModule {
	found := v1alpha1.EffectiveModule{Name: module.Name, Nodes: nodeNames(instances)}
	for _, instance := range instances {
		found.Pods = append(found.Pods, environment.EffectivePods([]corev1.Pod{instance.Pod})...)
		if environment.PodReady(instance.Pod) {
			found.Replicas++
		}
		if id := imageID(module, instance.Pod); id != "" {
			found.ImageID = id
		}
		if start := instance.Start; start.MaxHeap > 0 {
			found.Heap = resource.NewQuantity(start.MaxHeap, resource.BinarySI)
			found.Collector = start.Collector
		}
	}
	return found
}

// Differences returns the differences between the module's pods and its declaration, one
// sentence each. labels are the nodes' labels by name; an unknown node is not checked.
func Differences(module v1alpha1.Module, instances []Instance, labels map[string]map[string]string) []string {
	differences := slices.Concat(
		imageDifferences(module, instances),
		placementDifferences(module, instances, labels),
	)
	if module.JVM == nil || module.JVM.Heap == nil {
		return differences
	}
	return append(differences, heapDifferences(module, instances)...)
}

func imageDifferences(module v1alpha1.Module, instances []Instance) []string {
	images := map[string]bool{}
	for _, instance := range instances {
		if id := imageID(module, instance.Pod); id != "" {
			images[id] = true
		}
	}
	if len(images) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the pods of %s run %d different images under one name: %s; refer to the image by its digest",
		module.Name, len(images), prose.Enumerate(slices.Sorted(maps.Keys(images))))}
}

func placementDifferences(module v1alpha1.Module, instances []Instance, labels map[string]map[string]string) []string {
	if module.Placement == nil {
		return nil
	}
	var differences []string
	for _, node := range nodeNames(instances) {
		has, known := labels[node]
		if !known {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(module.Placement.NodeSelector)) {
			if wanted := module.Placement.NodeSelector[key]; has[key] != wanted {
				differences = append(differences, fmt.Sprintf("%s runs on node %s, whose label %s is %q, not %q", module.Name, node, key, has[key], wanted))
			}
		}
	}
	return differences
}

// heapDifferences compares the JVMs' maximum heaps with the declared ones.
func heapDifferences(module v1alpha1.Module, instances []Instance) []string {
	var differences []string
	for _, instance := range instances {
		difference := heapDifference(module, instance)
		if difference != "" && !slices.Contains(differences, difference) {
			differences = append(differences, difference)
		}
	}
	return differences
}

func heapDifference(module v1alpha1.Module, instance Instance) string {
	if instance.Start.MaxHeap == 0 {
		return noHeapLogged(module)
	}
	machine := expectedMachine(module, instance)
	wanted, err := jvm.MaxHeap(jvm.Rewrite("", environment.JVMSettings(module.JVM)), machine)
	if err != nil {
		return fmt.Sprintf("%s: %v", module.Name, err)
	}
	granted := instance.Start.MaxHeap
	if abs(granted-wanted.Bytes) < jvm.Alignment(jvm.G1, granted) {
		return ""
	}
	difference := fmt.Sprintf("the JVM of %s has a maximum heap of %s, but its declaration gives %s", module.Name, inMiB(granted), inMiB(wanted.Bytes))
	if seen := instance.Start.Memory; wanted.Source != jvm.SourceSize && seen > 0 && abs(seen-machine.Memory) >= 1<<20 {
		difference += fmt.Sprintf(": it detects %s of memory, not the container's %s", inMiB(seen), inMiB(machine.Memory))
	}
	return difference
}

// expectedMachine returns the resources that the JVM should detect: the declared limit,
// else that of the original workload, else the memory that it logged.
func expectedMachine(module v1alpha1.Module, instance Instance) jvm.Machine {
	machine := Machine(module)
	for _, container := range instance.Pod.Spec.Containers {
		if machine.Memory == 0 && container.Name == Container(module, instance.Pod) {
			machine.Memory = container.Resources.Limits.Memory().Value()
		}
	}
	if machine.Memory == 0 {
		machine.Memory = instance.Start.Memory
	}
	return machine
}

func noHeapLogged(module v1alpha1.Module) string {
	if podspec.EnvIndex(module.Env, module.JVM.VariableOrDefault()) >= 0 {
		return fmt.Sprintf("the log of %s shows no heap: its env sets %s, which overrides its jvm; remove one of them", module.Name, module.JVM.VariableOrDefault())
	}
	return fmt.Sprintf("the log of %s shows no heap: its image does not pass %s to the JVM, or the JVM is older than 16", module.Name, module.JVM.VariableOrDefault())
}

func imageID(module v1alpha1.Module, pod corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == Container(module, pod) {
			return status.ImageID
		}
	}
	return ""
}

func nodeNames(instances []Instance) []string {
	names := map[string]bool{}
	for _, instance := range instances {
		if instance.Pod.Spec.NodeName != "" {
			names[instance.Pod.Spec.NodeName] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func abs(value int64) int64 { return max(value, -value) }

func inMiB(bytes int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/(1<<20)), ".0") + " MiB"
}
