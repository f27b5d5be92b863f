// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

// Labels on all objects of a run.
const (
	labelApp    = "app"
	labelRun    = "k6_cr"
	labelRunner = "runner"
)

// Default images of k6-operator.
const (
	defaultImage        = "grafana/k6:latest"
	defaultStarterImage = "ghcr.io/grafana/k6-operator:latest-starter"
)

func initializerName(run string) string        { return run + "-initializer" }
func starterName(run string) string            { return run + "-starter" }
func runnerName(run string, index int) string  { return fmt.Sprintf("%s-%d", run, index) }
func serviceName(run string, index int) string { return fmt.Sprintf("%s-service-%d", run, index) }

func runLabels(run string) map[string]string {
	return map[string]string{labelApp: "k6", labelRun: run}
}

func runnerLabels(run string) map[string]string {
	labels := runLabels(run)
	labels[labelRunner] = "true"
	return labels
}

// initializerJob returns the Job that inspects the script. By default, it has the settings of a
// runner.
func initializerJob(run *k6v1alpha1.TestRun) (*batchv1.Job, error) {
	s, err := findScript(run.Spec.Script)
	if err != nil {
		return nil, err
	}
	pod := initializerPod(run)
	container := k6Container(run, pod)
	container.Command = initializerCommand(&run.Spec, s, pod.Env)
	container.Env = slices.Clone(pod.Env)
	container.EnvFrom = pod.EnvFrom
	container.VolumeMounts = append(s.mounts(), pod.VolumeMounts...)
	job := newJob(run, initializerName(run.Name), runLabels(run.Name), pod, container)
	job.Spec.Template.Spec.Volumes = append(s.volumes(), pod.Volumes...)
	job.Spec.Template.Spec.InitContainers = initContainers(pod, s)
	return job, nil
}

func initializerPod(run *k6v1alpha1.TestRun) *k6v1alpha1.Pod {
	if run.Spec.Initializer != nil {
		return run.Spec.Initializer
	}
	return &run.Spec.Runner
}

// runnerJob returns the Job that runs k6, paused until the starter releases it.
func runnerJob(run *k6v1alpha1.TestRun, index int) (*batchv1.Job, error) {
	s, err := findScript(run.Spec.Script)
	if err != nil {
		return nil, err
	}
	pod := &run.Spec.Runner
	container := k6Container(run, pod)
	container.Command = runnerCommand(run, s, index)
	container.Env = slices.Clone(pod.Env)
	container.EnvFrom = pod.EnvFrom
	container.VolumeMounts = append(s.mounts(), pod.VolumeMounts...)
	container.LivenessProbe = probe(pod.LivenessProbe)
	container.ReadinessProbe = probe(pod.ReadinessProbe)
	job := newJob(run, runnerName(run.Name, index), runnerLabels(run.Name), pod, container)
	job.Spec.Template.Spec.Hostname = job.Name
	job.Spec.Template.Spec.Volumes = append(s.volumes(), pod.Volumes...)
	job.Spec.Template.Spec.InitContainers = initContainers(pod, s)
	if run.Spec.Separate {
		job.Spec.Template.Spec.Affinity = separateRunners()
	}
	return job, nil
}

// starterJob returns the Job that releases the runners one after the other. Its exit code is
// that of the last request, so earlier failures are not reported. It has no environment and no
// volumes.
func starterJob(run *k6v1alpha1.TestRun, addresses []string) *batchv1.Job {
	pod := &run.Spec.Starter
	container := corev1.Container{
		Name:            "k6-curl",
		Image:           orDefault(pod.Image, defaultStarterImage),
		ImagePullPolicy: pod.ImagePullPolicy,
		Command:         []string{"sh", "-c", releaseCommand(addresses)},
		Resources:       starterResources(pod.Resources),
		SecurityContext: &pod.ContainerSecurityContext,
	}
	return newJob(run, starterName(run.Name), runLabels(run.Name), pod, container)
}

func starterResources(resources corev1.ResourceRequirements) corev1.ResourceRequirements {
	if len(resources.Requests) > 0 || len(resources.Limits) > 0 {
		return resources
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("2Mi"),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("100m"),
			corev1.ResourceMemory: resource.MustParse("200Mi"),
		},
	}
}

// statusPatch is the body that k6's REST API accepts at /v1/status.
type statusPatch struct {
	Data struct {
		Attributes struct {
			Paused  bool `json:"paused"`
			Stopped bool `json:"stopped"`
		} `json:"attributes"`
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"data"`
}

func releaseCommand(addresses []string) string {
	var patch statusPatch
	patch.Data.ID, patch.Data.Type = "default", "status"
	body, _ := json.Marshal(patch) // A struct of plain fields always marshals.
	var requests []string
	for _, address := range addresses {
		requests = append(requests, fmt.Sprintf(
			`curl -s --retry 3 -X PATCH -H 'Content-Type: application/json' http://%s/v1/status -d '%s'`,
			net.JoinHostPort(address, strconv.Itoa(apiPort)), body))
	}
	return strings.Join(requests, ";")
}

// runnerService returns the Service that gives one runner an address.
func runnerService(run *k6v1alpha1.TestRun, index int) *corev1.Service {
	meta := run.Spec.Runner.Metadata
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   run.Namespace,
			Name:        serviceName(run.Name, index),
			Labels:      withOwn(meta.Labels, runnerLabels(run.Name)),
			Annotations: maps.Clone(meta.Annotations),
		},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"job-name": runnerName(run.Name, index)},
			Ports: []corev1.ServicePort{{
				Name: "http-api", Port: apiPort, Protocol: corev1.ProtocolTCP,
			}},
		},
	}
}

// k6Container returns a container with the common settings of the initializer and the runners.
func k6Container(run *k6v1alpha1.TestRun, pod *k6v1alpha1.Pod) corev1.Container {
	return corev1.Container{
		Name:            "k6",
		Image:           orDefault(pod.Image, defaultImage),
		ImagePullPolicy: pod.ImagePullPolicy,
		Ports:           append([]corev1.ContainerPort{{ContainerPort: apiPort}}, run.Spec.Ports...),
		Resources:       pod.Resources,
		SecurityContext: &pod.ContainerSecurityContext,
	}
}

// newJob returns a Job for a container, with one attempt and no restart.
func newJob(run *k6v1alpha1.TestRun, name string, labels map[string]string, pod *k6v1alpha1.Pod, container corev1.Container) *batchv1.Job {
	all := withOwn(pod.Metadata.Labels, labels)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   run.Namespace,
			Name:        name,
			Labels:      all,
			Annotations: maps.Clone(pod.Metadata.Annotations),
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      maps.Clone(all),
					Annotations: maps.Clone(pod.Metadata.Annotations),
				},
				Spec: corev1.PodSpec{
					AutomountServiceAccountToken: new(isTrue(pod.AutomountServiceAccountToken, true)),
					ServiceAccountName:           orDefault(pod.ServiceAccountName, "default"),
					RestartPolicy:                corev1.RestartPolicyNever,
					SchedulerName:                orDefault(pod.SchedulerName, corev1.DefaultSchedulerName),
					Affinity:                     pod.Affinity,
					NodeSelector:                 pod.NodeSelector,
					Tolerations:                  pod.Tolerations,
					TopologySpreadConstraints:    pod.TopologySpreadConstraints,
					SecurityContext:              &pod.SecurityContext,
					ImagePullSecrets:             pod.ImagePullSecrets,
					PriorityClassName:            pod.PriorityClassName,
					Containers:                   []corev1.Container{container},
				},
			},
		},
	}
}

func initContainers(pod *k6v1alpha1.Pod, s script) []corev1.Container {
	var all []corev1.Container
	for i, container := range pod.InitContainers {
		all = append(all, corev1.Container{
			Name:            orDefault(container.Name, fmt.Sprintf("k6-init-%d", i)),
			Image:           container.Image,
			ImagePullPolicy: pod.ImagePullPolicy,
			Command:         container.Command,
			Args:            container.Args,
			WorkingDir:      container.WorkingDir,
			Env:             container.Env,
			EnvFrom:         container.EnvFrom,
			VolumeMounts:    append(s.mounts(), container.VolumeMounts...),
			Resources:       container.Resources,
			RestartPolicy:   container.RestartPolicy,
			SecurityContext: &pod.ContainerSecurityContext,
		})
	}
	return all
}

func probe(declared *corev1.Probe) *corev1.Probe {
	if declared != nil {
		return declared
	}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/v1/status", Port: intstr.FromInt32(apiPort), Scheme: corev1.URISchemeHTTP,
	}}}
}

// separateRunners returns the affinity that keeps runners on different nodes.
func separateRunners() *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: labelApp, Operator: metav1.LabelSelectorOpIn, Values: []string{"k6"}},
				{Key: labelRunner, Operator: metav1.LabelSelectorOpIn, Values: []string{"true"}},
			}},
		}},
	}}
}

// withOwn returns the user's labels and the operator's. The operator's take precedence.
func withOwn(user, own map[string]string) map[string]string {
	all := maps.Clone(user)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, own)
	return all
}
