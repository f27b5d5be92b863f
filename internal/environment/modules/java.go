// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/jvm"
)

func jvmEnv(module v1alpha1.Module) []corev1.EnvVar {
	if module.JVM == nil {
		// The image may have options of its own.
		return nil
	}
	return []corev1.EnvVar{{Name: module.JVM.VariableOrDefault(), Value: jvm.WithLogInit(jvm.Rewrite("", JVMSettings(module.JVM)))}}
}

// JVMSettings are the declared settings of a JVM as options to set. Size and
// percentage never meet: with both, the JVM ignores the percentage.
func JVMSettings(declared *v1alpha1.JVM) jvm.Settings {
	if declared == nil {
		return jvm.Settings{}
	}
	settings := jvm.Settings{Options: declared.Options}
	if heap := declared.Heap; heap != nil {
		settings.MaxHeap = bytes(heap.Max)
		settings.MaxRAMPercentage = heap.MaxRAMPercentage
	}
	if metaspace := declared.Metaspace; metaspace != nil {
		settings.Metaspace, settings.MaxMetaspace = bytes(metaspace.Initial), bytes(metaspace.Max)
	}
	return settings
}

func bytes(size *resource.Quantity) int64 {
	if size == nil {
		return 0
	}
	return size.Value()
}

// JavaOptions are the options a module's JVM is started with, as far as the
// declaration tells: those of its own variable, or else those of its jvm.
// It says false where the image decides.
func JavaOptions(module v1alpha1.Module) (options string, known bool) {
	for _, variable := range slices.Concat(jvmEnv(module), module.Env) {
		if variable.Name == module.JVM.VariableOrDefault() {
			options, known = variable.Value, variable.ValueFrom == nil
		}
	}
	return options, known
}

// Machine is what the JVM of a module finds: the limits of its container.
func Machine(module v1alpha1.Module) jvm.Machine {
	limits := module.Resources.Limits
	return jvm.Machine{
		Memory: limits.Memory().Value(),
		// A Quantity rounds up, as the JVM does.
		Cores: int(limits.Cpu().Value()),
	}
}

// Heap is the largest heap the JVM of a module will grant itself, as far as
// the declaration tells. Its error says what is missing.
func Heap(module v1alpha1.Module) (jvm.Heap, error) {
	options, _ := JavaOptions(module)
	return jvm.MaxHeap(options, Machine(module))
}
