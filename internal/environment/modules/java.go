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
		// The image may set options.
		return nil
	}
	return []corev1.EnvVar{{Name: module.JVM.VariableOrDefault(), Value: jvm.WithLogInit(jvm.Rewrite("", environment.JVMSettings(module.JVM)))}}
}

// JavaOptions returns the declared JVM options of a module: those of its variable, or else
// of its jvm; false if the image decides.
func JavaOptions(module v1alpha1.Module) (options string, known bool) {
	for _, variable := range slices.Concat(jvmEnv(module), module.Env) {
		if variable.Name == module.JVM.VariableOrDefault() {
			options, known = variable.Value, variable.ValueFrom == nil
		}
	}
	return options, known
}

// Machine returns the resources that a module's JVM detects: the limits of its container.
func Machine(module v1alpha1.Module) jvm.Machine {
	limits := module.Resources.Limits
	return jvm.Machine{
		Memory: limits.Memory().Value(),
		// A Quantity rounds up, as the JVM does.
		Cores: int(limits.Cpu().Value()),
	}
}

// Heap returns the maximum heap of a module's JVM according to the declaration. The error describes
// what is missing.
func Heap(module v1alpha1.Module) (jvm.Heap, error) {
	options, _ := JavaOptions(module)
	return jvm.MaxHeap(options, Machine(module))
}
