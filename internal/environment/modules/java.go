// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
)

func jvmEnv(module v1alpha1.Module) []corev1.EnvVar {
	if module.JVM == nil {
		// The image may have options of its own.
		return nil
	}
	return []corev1.EnvVar{{Name: module.JVM.VariableOrDefault(), Value: jvm.WithLogInit(jvm.Rewrite("", environment.JVMSettings(module.JVM)))}}
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
