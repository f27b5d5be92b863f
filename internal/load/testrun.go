// SPDX-License-Identifier: Apache-2.0

// Package load renders a load of a run as a k6 TestRun, and assesses its state. It is pure.
package load

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/naming"
)

// RunnerPort is the port of k6's REST API.
const RunnerPort = 6565

// Settings are the operator's settings for all runs.
type Settings struct {
	// RunnerImage has k6 with our output and scripts.
	RunnerImage string
	// StarterImage has sh and curl, with which k6-operator releases the runners.
	StarterImage string
	// Pulls are the settings for these images.
	Pulls environment.Pulls
}

// TestRun returns the TestRun of one load, owned by the run. The target is the URL of every
// request.
func TestRun(run *v1alpha1.PerfRun, load v1alpha1.Load, target string, settings Settings) (*unstructured.Unstructured, error) {
	labels := naming.RunLabels(run)
	labels[v1alpha1.LabelLoad] = load.Name

	runner, err := runnerPod(run, load, target, settings, labels)
	if err != nil {
		return nil, fmt.Errorf("building the runner of load %q: %w", load.Name, err)
	}
	starter, err := pod(starterPod{
		Image:                        settings.StarterImage,
		ImagePullPolicy:              settings.Pulls.Policies[settings.StarterImage],
		ImagePullSecrets:             settings.Pulls.Secrets,
		AutomountServiceAccountToken: "false",
		Metadata:                     podMetadata{Labels: labels},
		SecurityContext:              *podspec.SecurityContext(),
		ContainerSecurityContext:     *podspec.ReadOnly(),
	})
	if err != nil {
		return nil, fmt.Errorf("building the starter of load %q: %w", load.Name, err)
	}

	testRun := environment.RunIntent(run, contract.TestRunKind, naming.TestRun(run, load.Name), labels)
	testRun.Object["spec"] = map[string]any{
		"parallelism": int64(load.ParallelismOrDefault()),
		"script":      kinds.ForLoad(load).Source().Script(),
		"arguments":   arguments(load),
		// The initializer reports nothing that the runners don't, and needs another pod
		// before each load.
		"initializer": map[string]any{"disabled": true},
		"runner":      runner,
		"starter":     starter,
	}
	return testRun, nil
}

// runnerSpec and starterPod are the used parts of k6-operator's Pod type.
type runnerSpec struct {
	Image                        string                        `json:"image"`
	ImagePullPolicy              corev1.PullPolicy             `json:"imagePullPolicy,omitempty"`
	ImagePullSecrets             []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	AutomountServiceAccountToken string                        `json:"automountServiceAccountToken"`
	Metadata                     podMetadata                   `json:"metadata"`
	Env                          []corev1.EnvVar               `json:"env"`
	Resources                    corev1.ResourceRequirements   `json:"resources"`
	SecurityContext              corev1.PodSecurityContext     `json:"securityContext"`
	ContainerSecurityContext     corev1.SecurityContext        `json:"containerSecurityContext"`
	Volumes                      []corev1.Volume               `json:"volumes,omitempty"`
	VolumeMounts                 []corev1.VolumeMount          `json:"volumeMounts,omitempty"`
	LivenessProbe                *corev1.Probe                 `json:"livenessProbe"`
	ReadinessProbe               *corev1.Probe                 `json:"readinessProbe"`
}

type starterPod struct {
	Image                        string                        `json:"image"`
	ImagePullPolicy              corev1.PullPolicy             `json:"imagePullPolicy,omitempty"`
	ImagePullSecrets             []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	AutomountServiceAccountToken string                        `json:"automountServiceAccountToken"`
	Metadata                     podMetadata                   `json:"metadata"`
	SecurityContext              corev1.PodSecurityContext     `json:"securityContext"`
	ContainerSecurityContext     corev1.SecurityContext        `json:"containerSecurityContext"`
}

type podMetadata struct {
	Labels map[string]string `json:"labels"`
}

func runnerPod(run *v1alpha1.PerfRun, load v1alpha1.Load, target string, settings Settings, labels map[string]string) (map[string]any, error) {
	kind := kinds.ForLoad(load)
	volumes, mounts := kind.Volumes()
	container := podspec.ReadOnly()
	if kind.WritesFiles() {
		container = podspec.ContainerSecurityContext()
	}
	image := cmp.Or(kind.Image(), settings.RunnerImage)
	return pod(runnerSpec{
		Image:                        image,
		ImagePullPolicy:              settings.Pulls.Policies[image],
		ImagePullSecrets:             settings.Pulls.Secrets,
		AutomountServiceAccountToken: "false",
		Metadata:                     podMetadata{Labels: labels},
		Env:                          variables(run, load, target),
		Resources:                    load.Resources,
		SecurityContext:              *podspec.SecurityContext(),
		ContainerSecurityContext:     *container,
		Volumes:                      volumes,
		VolumeMounts:                 mounts,
		// The load's deadline decides whether it hangs.
		LivenessProbe: lenientProbe(30),
		// A runner that is not ready can't be stopped.
		ReadinessProbe: lenientProbe(5),
	})
}

// lenientProbe replaces k6-operator's probes, which fail if a runner needs more than a
// second for three answers in a row, as one at full CPU does.
func lenientProbe(periodSeconds int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/v1/status", Port: intstr.FromInt32(RunnerPort), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds:    periodSeconds,
		TimeoutSeconds:   30,
		FailureThreshold: 20,
	}
}

// arguments of k6 run. Thresholds are disabled: verdicts decide.
func arguments(load v1alpha1.Load) string {
	kind := kinds.ForLoad(load)
	var list []string
	if kind.Results() == v1alpha1.ResultsHistograms {
		list = []string{"--out", "perflab", "--summary-mode=disabled"}
	}
	list = append(list, "--no-thresholds", "--no-color", "--log-output=stderr")
	return strings.Join(append(list, kind.Arguments()...), " ")
}

func pod[T any](spec T) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
}

// Length returns how long a load may last: its duration, or the deadline for loads.
func Length(load v1alpha1.Load, deadlines v1alpha1.Deadlines) time.Duration {
	if load.Duration != nil {
		return load.Duration.Duration
	}
	return deadlines.LoadOrDefault()
}
