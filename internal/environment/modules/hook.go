// SPDX-License-Identifier: Apache-2.0

package modules

import (
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// HookEnvironment is the environment of a container that prepares data for the
// modules: what a module gets, the run's name, and what it declares itself.
func HookEnvironment(req environment.Request, env string, declared []corev1.EnvVar) []corev1.EnvVar {
	own := append([]corev1.EnvVar{{Name: variableRun, Value: req.Run}}, declared...)
	return environmentOf(req, env, v1alpha1.Module{Env: own})
}
