// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/prose"
)

// Assess says whether every module PerfLab runs itself is as declared and nothing of an earlier
// configuration is left. It looks at the Deployments and the modules' pods.
func Assess(req environment.Request, observed environment.Observed) environment.Readiness {
	built := req.BuiltModules()
	states := make([]state, 0, len(built))
	for _, module := range built {
		states = append(states, observe(req, module, observed))
	}
	pending := slices.DeleteFunc(slices.Clone(states), state.isReady)
	if len(pending) == 0 {
		return environment.Ready(prose.Partly(len(states), len(states), "module") + " ready")
	}
	if trouble, found := environment.PodTrouble(podsOf(pending), observed.Events, observed.Now); found {
		return trouble
	}
	if refused, found := refusal(pending); found {
		return refused
	}
	return waiting(pending, len(states))
}

// state is what the cluster holds of one module.
type state struct {
	name string
	// applied says that the Deployment is the one we want.
	applied bool
	// settled says that its controller has seen it and counts as many pods as
	// declared, all of them new and ready.
	settled bool
	// refusal is why pods can't be made, if they can't.
	refusal string
	// current pods are those of the wanted template, earlier ones those of
	// another one or going away.
	current, earlier []corev1.Pod
}

func (s state) isReady() bool { return s.applied && s.settled && len(s.earlier) == 0 }

func observe(req environment.Request, module v1alpha1.Module, observed environment.Observed) state {
	wanted := fingerprint(req, module)
	object := observed.Get(deploymentKind.Kind, naming.Module(req.Experiment, module.Name))
	state := state{name: module.Name, applied: environment.FingerprintOf(object) == wanted}
	if state.applied {
		readDeployment(&state, object, Replicas(req, module))
	}
	for _, pod := range observed.Pods {
		switch {
		case pod.Labels[v1alpha1.LabelModule] != module.Name || environment.PodOver(pod):
		case pod.DeletionTimestamp == nil && pod.Annotations[v1alpha1.AnnotationFingerprint] == wanted:
			state.current = append(state.current, pod)
		default:
			state.earlier = append(state.earlier, pod)
		}
	}
	return state
}

func readDeployment(state *state, object *unstructured.Unstructured, replicas int32) {
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
		// The API server has checked it; what can't be read is not settled.
		return
	}
	status := deployment.Status
	state.settled = status.ObservedGeneration >= deployment.Generation &&
		deployment.DeletionTimestamp == nil &&
		deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == replicas &&
		status.Replicas == replicas && status.UpdatedReplicas == replicas && status.ReadyReplicas == replicas
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			state.refusal = prose.Sentence(condition.Message)
		}
	}
}

func podsOf(states []state) []corev1.Pod {
	var pods []corev1.Pod
	for _, state := range states {
		pods = append(pods, state.current...)
	}
	return pods
}

func refusal(pending []state) (environment.Readiness, bool) {
	for _, state := range pending {
		if state.refusal != "" {
			return environment.NotReady(v1alpha1.ReasonRefused,
				fmt.Sprintf("the cluster refuses the pods of module %s: %s", state.name, state.refusal)), true
		}
	}
	return environment.Readiness{}, false
}

// waiting says what the modules that are not ready wait for, the earliest
// stage first: nothing of a later one can be done before.
func waiting(pending []state, total int) environment.Readiness {
	stages := []struct {
		reason, doing string
		holds         func(state) bool
	}{
		{v1alpha1.ReasonRolling, "pods of an earlier configuration are still there", func(s state) bool { return len(s.earlier) > 0 }},
		{v1alpha1.ReasonCreating, "pods are being made", func(s state) bool { return !s.applied || !started(s) }},
		{v1alpha1.ReasonNotReady, "pods run, but don't answer their readiness probe yet", func(state) bool { return true }},
	}
	count := prose.Partly(total-len(pending), total, "module") + " ready"
	for _, stage := range stages {
		held := slices.DeleteFunc(slices.Clone(pending), func(s state) bool { return !stage.holds(s) })
		if len(held) > 0 {
			return environment.NotReady(stage.reason, fmt.Sprintf("%s; %s: %s", count, prose.Enumerate(titles(held)), stage.doing))
		}
	}
	return environment.NotReady(v1alpha1.ReasonNotReady, count)
}

// started reports whether all of the module's pods run.
func started(s state) bool {
	return len(s.current) > 0 && !slices.ContainsFunc(s.current, func(pod corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodRunning
	})
}

func titles(states []state) []string {
	names := make([]string, 0, len(states))
	for _, state := range states {
		names = append(names, state.name)
	}
	return names
}
