// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/load/steps"
)

// variables returns the variables of the scripts in the runner image.
func variables(run *v1alpha1.PerfRun, load v1alpha1.Load, target string) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "PERFLAB_LOAD", Value: load.Name},
		{Name: "PERFLAB_RUN", Value: run.Name},
		podspec.EnvFromPod("PERFLAB_RUNNER", "metadata.name"),
		{Name: "BASE_URL", Value: target},
	}
	env = append(env, targetEnvironment(run.Spec.System.Target)...)
	env = append(env,
		corev1.EnvVar{Name: "SEED", Value: strconv.FormatInt(run.Spec.Seed, 10)},
		// Runners must not resolve extensions or send usage reports.
		corev1.EnvVar{Name: "K6_AUTO_EXTENSION_RESOLUTION", Value: "false"},
		corev1.EnvVar{Name: "K6_NO_USAGE_REPORT", Value: "true"},
	)
	env = append(env, kinds.ForLoad(load).Environment(Length(load, run.Spec.Deadlines))...)
	env = append(env, levelVariables(run, load)...)
	if failuresAreResults(&run.Spec.Scenario) {
		env = append(env, corev1.EnvVar{Name: "PERFLAB_FAILURES", Value: "Results"})
	}
	return append(env, corev1.EnvVar{Name: "PERFLAB_SECRETS", Value: secrets(env)})
}

// failuresAreResults reports whether failed work is measured, and not a fault of the run.
func failuresAreResults(scenario *v1alpha1.Scenario) bool {
	return len(scenario.Faults) > 0 || scenario.Capacity != nil
}

// levelVariables returns those of a load that visits levels.
func levelVariables(run *v1alpha1.PerfRun, load v1alpha1.Load) []corev1.EnvVar {
	own, levels, found := steps.FromScenario(run.Spec.Scenario, run.Spec.Measurement, run.Spec.Levels)
	stepped, is := kinds.ForLoad(load).(kind.Stepped)
	if !found || !is || own.Name != load.Name {
		return nil
	}
	return stepped.LevelVariables(levels)
}

// secrets returns the names of variables whose values our k6 removes from its log lines.
func secrets(env []corev1.EnvVar) string {
	var names []string
	for _, variable := range env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			names = append(names, variable.Name)
		}
	}
	return strings.Join(names, ",")
}

// targetEnvironment returns the login variables of a load. A target with a tenant is a
// FOLIO, which also has the older names.
func targetEnvironment(target v1alpha1.Target) []corev1.EnvVar {
	var env []corev1.EnvVar
	folio, credentials := target.Tenant != "", target.CredentialsSecret.Name
	if folio {
		env = append(env,
			corev1.EnvVar{Name: "TENANT", Value: target.Tenant},
			corev1.EnvVar{Name: "LOGIN", Value: string(target.LoginOrDefault())})
	}
	if credentials == "" {
		return env
	}
	env = append(env, podspec.LoginEnv("USERNAME", "PASSWORD", credentials)...)
	if folio {
		env = append(env, podspec.LoginEnv("OKAPI_USERNAME", "OKAPI_PASSWORD", credentials)...)
	}
	return env
}
