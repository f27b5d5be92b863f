// SPDX-License-Identifier: Apache-2.0

// Package load turns a load of a run into a k6 TestRun, and what the cluster
// shows of it into a state with an outcome. It is pure.
package load

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
)

// RunnerPort is where a runner's k6 serves its REST API.
const RunnerPort = 6565

// Settings are the operator's own, the same for every run.
type Settings struct {
	// RunnerImage holds k6 with our output and scripts.
	RunnerImage string
	// StarterImage holds sh and curl; k6-operator releases the runners with it.
	StarterImage string
}

// TestRun is the intent for one load. The target is the address every request
// goes to. The TestRun belongs to the run and goes with it.
func TestRun(run *v1alpha1.PerfRun, load v1alpha1.Load, target string, settings Settings) (*unstructured.Unstructured, error) {
	labels := naming.RunLabels(run)
	labels[v1alpha1.LabelLoad] = load.Name

	runner, err := runnerPod(run, load, target, settings, labels)
	if err != nil {
		return nil, fmt.Errorf("building the runner of load %q: %w", load.Name, err)
	}
	starter, err := pod(starterPod{
		Image:                        settings.StarterImage,
		AutomountServiceAccountToken: "false",
		Metadata:                     podMetadata{Labels: labels},
		SecurityContext:              podSecurity(),
		ContainerSecurityContext:     containerSecurity(),
	})
	if err != nil {
		return nil, fmt.Errorf("building the starter of load %q: %w", load.Name, err)
	}

	testRun := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"parallelism": int64(load.ParallelismOrDefault()),
			"script":      map[string]any{"localFile": script(load)},
			"arguments":   "--out perflab --summary-mode=disabled --no-thresholds --no-color --log-output=stderr",
			// The initializer would only find out what the runners say
			// themselves, at the price of one more pod before each load.
			"initializer": map[string]any{"disabled": true},
			"runner":      runner,
			"starter":     starter,
		},
	}}
	testRun.SetGroupVersionKind(contract.TestRunKind)
	testRun.SetNamespace(run.Namespace)
	testRun.SetName(naming.TestRun(run.Name, load.Name))
	testRun.SetLabels(labels)
	testRun.SetOwnerReferences([]metav1.OwnerReference{naming.Owner("PerfRun", run)})
	return testRun, nil
}

func script(load v1alpha1.Load) string {
	if load.DataImport != nil {
		return "/scripts/data-import.js"
	}
	return "/scripts/cico.js"
}

// runnerSpec and starterPod are the parts of k6-operator's Pod type we use.
type runnerSpec struct {
	Image                        string                      `json:"image"`
	AutomountServiceAccountToken string                      `json:"automountServiceAccountToken"`
	Metadata                     podMetadata                 `json:"metadata"`
	Env                          []corev1.EnvVar             `json:"env"`
	Resources                    corev1.ResourceRequirements `json:"resources"`
	SecurityContext              corev1.PodSecurityContext   `json:"securityContext"`
	ContainerSecurityContext     corev1.SecurityContext      `json:"containerSecurityContext"`
}

type starterPod struct {
	Image                        string                    `json:"image"`
	AutomountServiceAccountToken string                    `json:"automountServiceAccountToken"`
	Metadata                     podMetadata               `json:"metadata"`
	SecurityContext              corev1.PodSecurityContext `json:"securityContext"`
	ContainerSecurityContext     corev1.SecurityContext    `json:"containerSecurityContext"`
}

type podMetadata struct {
	Labels map[string]string `json:"labels"`
}

func runnerPod(run *v1alpha1.PerfRun, load v1alpha1.Load, target string, settings Settings, labels map[string]string) (map[string]any, error) {
	return pod(runnerSpec{
		Image:                        settings.RunnerImage,
		AutomountServiceAccountToken: "false",
		Metadata:                     podMetadata{Labels: labels},
		Env:                          environment(run, load, target),
		Resources:                    load.Resources,
		SecurityContext:              podSecurity(),
		ContainerSecurityContext:     containerSecurity(),
	})
}

func pod[T any](spec T) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
}

func podSecurity() corev1.PodSecurityContext {
	yes := true
	return corev1.PodSecurityContext{
		RunAsNonRoot:   &yes,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() corev1.SecurityContext {
	no := false
	return corev1.SecurityContext{
		AllowPrivilegeEscalation: &no,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// environment is what the scripts in the runner image read.
func environment(run *v1alpha1.PerfRun, load v1alpha1.Load, target string) []corev1.EnvVar {
	credentials := run.Spec.System.Target.CredentialsSecret.Name
	env := []corev1.EnvVar{
		{Name: "PERFLAB_LOAD", Value: load.Name},
		{Name: "PERFLAB_RUN", Value: run.Name},
		{Name: "BASE_URL", Value: target},
		{Name: "TENANT", Value: run.Spec.System.Target.Tenant},
		fromSecret("OKAPI_USERNAME", credentials, "username"),
		fromSecret("OKAPI_PASSWORD", credentials, "password"),
		{Name: "SEED", Value: strconv.FormatInt(run.Spec.Seed, 10)},
		// Runners must not look for extensions or report home.
		{Name: "K6_AUTO_EXTENSION_RESOLUTION", Value: "false"},
		{Name: "K6_NO_USAGE_REPORT", Value: "true"},
	}
	if load.DataImport != nil {
		return append(env, importEnvironment(*load.DataImport)...)
	}
	return append(env, usersEnvironment(*load.CheckInCheckOut, Length(load, run.Spec.Deadlines))...)
}

func usersEnvironment(users v1alpha1.CheckInCheckOut, length time.Duration) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "USERS", Value: strconv.Itoa(int(users.Users))},
		{Name: "RAMP_UP_SECONDS", Value: seconds(users.RampUp)},
		{Name: "DURATION_SECONDS", Value: seconds(&metav1.Duration{Duration: length})},
	}
	if users.ThinkTime != nil {
		env = append(env, corev1.EnvVar{Name: "THINK_TIME_SECONDS", Value: seconds(users.ThinkTime)})
	}
	if users.CheckInPercent != nil {
		env = append(env, corev1.EnvVar{Name: "CHECK_IN_PERCENT", Value: strconv.Itoa(int(*users.CheckInPercent))})
	}
	return env
}

func importEnvironment(imports v1alpha1.DataImport) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "RECORD_TYPE", Value: string(imports.RecordType)},
		{Name: "OPERATION", Value: string(imports.Operation)},
		{Name: "JOB_PROFILE", Value: imports.JobProfileOrDefault()},
		{Name: "RECORDS", Value: strconv.Itoa(int(imports.Records))},
		{Name: "IMPORTS", Value: strconv.Itoa(int(imports.Imports))},
		{Name: "PAUSE_SECONDS", Value: seconds(imports.Pause)},
	}
	if imports.StallTimeout != nil {
		env = append(env, corev1.EnvVar{Name: "STALL_TIMEOUT_SECONDS", Value: seconds(imports.StallTimeout)})
	}
	return env
}

// Length is how long a load lasts at the most: its duration or, where it has
// none, the deadline for loads.
func Length(load v1alpha1.Load, deadlines v1alpha1.Deadlines) time.Duration {
	if load.Duration != nil {
		return load.Duration.Duration
	}
	return deadlines.LoadOrDefault()
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		Key:                  key,
	}}}
}

func seconds(d *metav1.Duration) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}
