// SPDX-License-Identifier: Apache-2.0

// Package modules renders each declared Java service as a Deployment and a Service, with
// the variables that FOLIO modules expect, and assesses their readiness. It is pure.
package modules

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// WorkloadKind is the kind of a module's workload.
const WorkloadKind = "Deployment"

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	serviceKind    = corev1.SchemeGroupVersion.WithKind("Service")
)

// progressDeadlineSeconds exceeds every deadline of a run, which decides instead.
const progressDeadlineSeconds = 24 * 60 * 60

// Build returns a Deployment and a Service for every module that PerfLab runs, with the
// declared patches. env is the prefix of the run's topics in Kafka.
func Build(req environment.Request, env string) []environment.Intent {
	built := req.BuiltModules()
	intents := make([]environment.Intent, 0, 2*len(built))
	for _, module := range built {
		intents = append(intents, buildDeployment(req, env, module), buildService(req, module))
	}
	return environment.Patched(intents, req.System.Patches)
}

func buildDeployment(req environment.Request, env string, module v1alpha1.Module) environment.Intent {
	intent := newIntent(req, deploymentKind, module, fingerprint(req, module))
	intent.Object["spec"] = environment.Fields(&appsv1.DeploymentSpec{
		Replicas: ptr.To(replicas(module)),
		Selector: &metav1.LabelSelector{MatchLabels: selector(req, module)},
		// A rolling update would run two configurations at once.
		Strategy:                appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		RevisionHistoryLimit:    ptr.To[int32](1),
		ProgressDeadlineSeconds: ptr.To[int32](progressDeadlineSeconds),
		Template:                podTemplate(req, env, module),
	})
	return intent
}

func buildService(req environment.Request, module v1alpha1.Module) environment.Intent {
	spec := environment.Fields(&corev1.ServiceSpec{
		Selector: selector(req, module),
		Ports:    servicePorts(module),
	})
	// The Service has its own fingerprint, because it is the same in each run.
	intent := newIntent(req, serviceKind, module, environment.Fingerprint(spec))
	intent.Object["spec"] = spec
	return intent
}

func servicePorts(module v1alpha1.Module) []corev1.ServicePort {
	var ports []corev1.ServicePort
	for _, declared := range containerPorts(module) {
		ports = append(ports, corev1.ServicePort{
			Name: declared.Name, Protocol: declared.Protocol, Port: declared.ContainerPort, TargetPort: intstr.FromString(declared.Name),
		})
	}
	return ports
}

func newIntent(req environment.Request, kind schema.GroupVersionKind, module v1alpha1.Module, fingerprint string) environment.Intent {
	name := naming.Module(req.Experiment, module.Name)
	intent := req.Intent(kind, name, environment.ComponentModule, fingerprint)
	environment.AddLabel(intent, v1alpha1.LabelModule, module.Name)
	return intent
}

func selector(req environment.Request, module v1alpha1.Module) map[string]string {
	return map[string]string{
		v1alpha1.LabelExperiment: req.Experiment,
		v1alpha1.LabelModule:     module.Name,
	}
}
