// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/naming"
)

const portName = "http"

// terminationGraceSeconds is short because no load runs when modules stop.
const terminationGraceSeconds = 5

// startupSeconds is the startup limit of a JVM on a busy node.
const startupSeconds = 10 * 60

// podTemplate returns a module's pod template, with a fingerprint that identifies its pods.
func podTemplate(req environment.Request, env string, module v1alpha1.Module) corev1.PodTemplateSpec {
	template := bareTemplate(req, env, module)
	template.Annotations = map[string]string{v1alpha1.AnnotationFingerprint: fingerprint(req, module)}
	return template
}

// fingerprint identifies the pod template of a module. It uses the declared topics instead
// of env, which derives from them, so that it depends only on the request.
func fingerprint(req environment.Request, module v1alpha1.Module) string {
	var topics []v1alpha1.TopicGroup
	if req.System.Kafka != nil {
		topics = req.System.Kafka.Topics
	}
	declaration := []any{bareTemplate(req, environment.Fingerprint(topics), module)}
	for _, patch := range req.Patches(v1alpha1.PatchKind(deploymentKind.Kind)) {
		if patch.Name == "" || patch.Name == module.Name {
			declaration = append(declaration, patch)
		}
	}
	return environment.Fingerprint(declaration)
}

func bareTemplate(req environment.Request, env string, module v1alpha1.Module) corev1.PodTemplateSpec {
	labels := naming.ComponentLabels(req.Experiment, environment.ComponentModule)
	labels[v1alpha1.LabelModule] = module.Name
	pod := podspec.Restricted(container(req, env, module))
	pod.TerminationGracePeriodSeconds = new(int64(terminationGraceSeconds))
	pod.SecurityContext.RunAsUser = module.RunAsUser
	podspec.Place(&pod, module.Placement, &metav1.LabelSelector{MatchLabels: selector(req, module)})
	mount(&pod, module.Volumes)
	mountTrust(req, &pod)
	req.Pulls.Set(&pod)
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod}
}

func container(req environment.Request, env string, module v1alpha1.Module) corev1.Container {
	return corev1.Container{
		Name:            module.Name,
		Image:           module.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         slices.Clone(module.Command),
		Args:            slices.Clone(module.Args),
		Ports:           containerPorts(module),
		Env:             containerEnv(req, env, module),
		Resources:       *module.Resources.DeepCopy(),
		// The frequent startup probe makes runs start sooner, and ends with the first
		// success.
		StartupProbe:   probe(health(module), 1, startupSeconds),
		ReadinessProbe: probe(health(module), 2, 3),
		// A module under full load may answer late, which is a result and no reason for a
		// restart. Only a module that accepts no connection is dead.
		LivenessProbe:   probe(connection(intstr.FromString(portName)), 10, 6),
		SecurityContext: podspec.ContainerSecurityContext(),
		// The last lines of the log, which show why a module can't start, become part of its
		// status.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func probe(handler corev1.ProbeHandler, periodSeconds, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     handler,
		PeriodSeconds:    periodSeconds,
		TimeoutSeconds:   5,
		FailureThreshold: failures,
	}
}

// health returns the probe of a ready module: a request of its health path, or a connection.
func health(module v1alpha1.Module) corev1.ProbeHandler {
	if module.HealthPath == "" {
		return connection(healthPort(module))
	}
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: module.HealthPath, Port: healthPort(module), Scheme: corev1.URISchemeHTTP}}
}

// healthPort returns the name of the module's own port, or another port.
func healthPort(module v1alpha1.Module) intstr.IntOrString {
	if module.HealthPort == nil {
		return intstr.FromString(portName)
	}
	return intstr.FromInt32(*module.HealthPort)
}

func containerPorts(module v1alpha1.Module) []corev1.ContainerPort {
	ports := []corev1.ContainerPort{{Name: portName, ContainerPort: module.Port, Protocol: corev1.ProtocolTCP}}
	for _, further := range module.Ports {
		ports = append(ports, corev1.ContainerPort{Name: further.Name, ContainerPort: further.Port, Protocol: corev1.ProtocolTCP})
	}
	return ports
}

func connection(port intstr.IntOrString) corev1.ProbeHandler {
	return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
}

func replicas(module v1alpha1.Module) int32 { return ptr.Deref(module.Replicas, 1) }

// Replicas returns the number of a module's pods, with patches applied.
func Replicas(req environment.Request, module v1alpha1.Module) int32 {
	bare := newIntent(req, deploymentKind, module, "")
	bare.Object["spec"] = map[string]any{"replicas": int64(replicas(module))}
	patched := environment.Patched([]environment.Intent{bare}, req.System.Patches)[0]
	wanted, found, err := unstructured.NestedInt64(patched.Object, "spec", "replicas")
	if err != nil || !found {
		// The API server's default.
		return 1
	}
	return int32(wanted)
}
