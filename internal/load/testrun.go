// SPDX-License-Identifier: Apache-2.0

// Package load turns a load of a run into a k6 TestRun, and what the cluster
// shows of it into a state with an outcome. It is pure.
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
		// The initializer would only find out what the runners say themselves,
		// at the price of one more pod before each load.
		"initializer": map[string]any{"disabled": true},
		"runner":      runner,
		"starter":     starter,
	}
	return testRun, nil
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
	Volumes                      []corev1.Volume             `json:"volumes,omitempty"`
	VolumeMounts                 []corev1.VolumeMount        `json:"volumeMounts,omitempty"`
	LivenessProbe                *corev1.Probe               `json:"livenessProbe"`
	ReadinessProbe               *corev1.Probe               `json:"readinessProbe"`
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
	kind := kinds.ForLoad(load)
	volumes, mounts := kind.Volumes()
	container := podspec.ReadOnly()
	if kind.WritesFiles() {
		container = podspec.ContainerSecurityContext()
	}
	return pod(runnerSpec{
		Image:                        cmp.Or(kind.Image(), settings.RunnerImage),
		AutomountServiceAccountToken: "false",
		Metadata:                     podMetadata{Labels: labels},
		Env:                          variables(run, load, target),
		Resources:                    load.Resources,
		SecurityContext:              *podspec.SecurityContext(),
		ContainerSecurityContext:     *container,
		Volumes:                      volumes,
		VolumeMounts:                 mounts,
		// Whether a load hangs is for its deadline to say.
		LivenessProbe: lenientProbe(30),
		// A runner that is not ready can't be told to end.
		ReadinessProbe: lenientProbe(5),
	})
}

// lenientProbe takes the place of k6-operator's own, which give up a runner that
// takes longer than a second to answer three times in a row: one that has all of
// its CPU's work in the load.
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

// arguments of k6 run. Thresholds decide nothing here: verdicts do.
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

// Length is how long a load may last: its duration or, where it has
// none, the deadline for loads.
func Length(load v1alpha1.Load, deadlines v1alpha1.Deadlines) time.Duration {
	if load.Duration != nil {
		return load.Duration.Duration
	}
	return deadlines.LoadOrDefault()
}
