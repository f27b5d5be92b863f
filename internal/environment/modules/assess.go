// SPDX-License-Identifier: Apache-2.0

package modules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Assess reports whether every module that PerfLab runs is as declared, without pods of an
// earlier configuration. It reads the Deployments and the modules' pods.
func Assess(req environment.Request, observed environment.Observed) environment.Readiness {
	built := req.BuiltModules()
	rollouts := make([]environment.Rollout, 0, len(built))
	for _, module := range built {
		rollouts = append(rollouts, newRollout(req, module, observed))
	}
	return environment.AssessRollouts("module", rollouts, observed.Events, observed.Now)
}

// newRollout returns the rollout of one module.
func newRollout(req environment.Request, module v1alpha1.Module, observed environment.Observed) environment.Rollout {
	wanted := fingerprint(req, module)
	object := observed.Get(deploymentKind.Kind, naming.Module(req.Experiment, module.Name))
	rollout := environment.Rollout{Module: module.Name, Title: "module " + module.Name, Applied: environment.ReadFingerprint(object) == wanted}
	if rollout.Applied {
		rollout.ReadStatus(object)
		replicas, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		rollout.Settled = rollout.Settled && found && replicas == int64(Replicas(req, module))
	}
	pods := slices.DeleteFunc(slices.Clone(observed.Pods), func(pod corev1.Pod) bool { return pod.Labels[v1alpha1.LabelModule] != module.Name })
	rollout.Current, rollout.Earlier = environment.SplitPods(pods, wanted)
	return rollout
}
