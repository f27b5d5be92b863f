// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
)

// variableRun and variableTarget are PerfLab's own; variableTenant and
// variableOkapi are those FOLIO's modules read.
const (
	variableRun    = "PERFLAB_RUN"
	variableTarget = "TARGET_URL"
	variableTenant = "TENANT"
	variableOkapi  = "OKAPI_URL"
)

// containerEnv returns the variables of a module's container. Declared variables override
// ours and come last, so that they may refer to ours.
func containerEnv(req environment.Request, env string, module v1alpha1.Module) []corev1.EnvVar {
	ours := slices.Concat(
		databaseEnv(req, module),
		kafkaEnv(req, env),
		trustEnv(req),
		addressEnv(req),
		jvmEnv(module),
		runEnv(req),
	)
	return podspec.OverrideEnv(ours, module.Env)
}

// addressEnv returns the addresses of the other modules and of the gateway.
func addressEnv(req environment.Request) []corev1.EnvVar {
	variables := []corev1.EnvVar{{Name: variableTarget, Value: targetURL(req)}}
	if tenant := req.System.Target.Tenant; tenant != "" {
		variables = append(variables,
			corev1.EnvVar{Name: variableTenant, Value: tenant},
			corev1.EnvVar{Name: variableOkapi, Value: targetURL(req)})
	}
	for _, module := range req.System.Modules {
		name := strings.ToUpper(strings.ReplaceAll(module.Name, "-", "_")) + "_URL"
		variables = append(variables, corev1.EnvVar{Name: name, Value: url(req, module)})
	}
	return variables
}

// targetURL returns the URL of the load's target: the target module, or the declared
// external target.
func targetURL(req environment.Request) string {
	target := req.System.Target
	for _, module := range req.System.Modules {
		if module.Name == target.Module {
			return url(req, module)
		}
	}
	return target.URL
}

func url(req environment.Request, module v1alpha1.Module) string {
	name, port := environment.ModuleService(req.Experiment, module)
	return fmt.Sprintf("http://%s:%d", name, port)
}

// runEnv returns the run's name if modules restart for each run: each run then has another
// pod template, and a module that detects another name restores its data.
func runEnv(req environment.Request) []corev1.EnvVar {
	if req.Reset == "" || req.Reset == v1alpha1.ResetNone {
		return nil
	}
	return []corev1.EnvVar{{Name: variableRun, Value: req.Run}}
}

// HookEnvironment returns the variables of a container that restores data: those of a
// module, the run's name, and its declared ones.
func HookEnvironment(req environment.Request, env string, declared []corev1.EnvVar) []corev1.EnvVar {
	own := append([]corev1.EnvVar{{Name: variableRun, Value: req.Run}}, declared...)
	return containerEnv(req, env, v1alpha1.Module{Env: own})
}
