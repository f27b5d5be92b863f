// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// Adoption is a workload and the changes that a run makes to it.
type Adoption struct {
	// Module that the workload runs.
	Module v1alpha1.Module
	// Object is the current workload, or nil if it does not exist.
	Object *unstructured.Unstructured
	// Intent holds the fields to change. It is nil if the workload can't be adopted.
	Intent environment.Intent
	// Refusal is the reason why the workload can't be adopted.
	Refusal *environment.Readiness
	// Pods that the workload selects.
	Pods []corev1.Pod
	// Events of pods that have not been ready for a while.
	Events []corev1.Event

	original map[string]any
	// template is the fingerprint of the changed pod template.
	template string
}

// Adopt returns the changes that a run makes to a workload: the module's environment, JVM,
// resources, replicas and placement, each only if declared. env holds the addresses of the
// rest of the system; variables that the module declares take precedence. All changes
// derive from the original workload, so that no run's change outlives the run.
func Adopt(req environment.Request, module v1alpha1.Module, env []corev1.EnvVar, object *unstructured.Unstructured) Adoption {
	loan := Adoption{Module: module, Object: object}
	if object == nil {
		loan.refuse(v1alpha1.ReasonWorkloadMissing, fmt.Sprintf("%s %q not found in namespace %q: install it, or correct workloadRef of module %s",
			kind(module), module.WorkloadRef.Name, req.Namespace, module.Name))
		return loan
	}
	borrower, own := Adopter(object), AdopterName(req.Namespace, req.Experiment)
	if borrower != "" && borrower != own {
		loan.refuse(v1alpha1.ReasonWorkloadTaken, fmt.Sprintf("experiment %s has adopted %s: wait until it finishes, or delete it", borrower, loan.title()))
		return loan
	}
	original, err := readOriginal(object)
	if err != nil {
		loan.refuse(v1alpha1.ReasonWorkloadRefused, fmt.Sprintf("the original of %s can't be read: %v", loan.title(), err))
		return loan
	}
	loan.original = original
	loan.build(req, env, own)
	return loan
}

func (l *Adoption) refuse(reason, message string) {
	refusal := environment.NotReady(reason, message)
	l.Refusal, l.Intent = &refusal, nil
}

// title names the workload in a sentence.
func (l *Adoption) title() string {
	return fmt.Sprintf("%s %q", kind(l.Module), l.Module.WorkloadRef.Name)
}

// build builds the intent, or sets the refusal.
func (l *Adoption) build(req environment.Request, env []corev1.EnvVar, borrower string) {
	container, reason, message := l.findContainer()
	if message != "" {
		l.refuse(reason, message)
		return
	}
	recorded, fits := record(l.original)
	if !fits {
		l.refuse(v1alpha1.ReasonWorkloadRefused, fmt.Sprintf(
			"%s is too large to be adopted: its original must fit into its annotations, which hold 256 KiB in total; make it smaller, or have PerfLab run the module from its image", l.title()))
		return
	}
	variables := moduleVariables(l.Module, env, container)
	if clash := findClash(container, variables); clash != "" {
		l.refuse(v1alpha1.ReasonWorkloadRefused, fmt.Sprintf(
			"variable %s of container %q of %s comes from a Secret, a ConfigMap or a field, but the run sets it as a plain value, or vice versa: define it in the workload as the run does, or don't declare it",
			clash, container.Name, l.title()))
		return
	}
	spec := l.changes(req, container, variables)
	intent := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	intent.SetAPIVersion(l.Object.GetAPIVersion())
	intent.SetKind(l.Object.GetKind())
	intent.SetName(l.Object.GetName())
	intent.SetNamespace(l.Object.GetNamespace())
	intent = l.patched(intent, req)
	l.template = stamp(intent)
	intent.SetAnnotations(map[string]string{
		v1alpha1.AnnotationFingerprint: environment.Fingerprint([]any{intent.Object["spec"], recorded, req.Run}),
		v1alpha1.AnnotationBorrowedBy:  borrower,
		v1alpha1.AnnotationOriginal:    recorded,
	})
	l.Intent = intent
}

// findContainer returns the container to change, or the reason why the workload can't be
// changed.
func (l *Adoption) findContainer() (container *corev1.Container, reason, message string) {
	spec, _ := l.original["spec"].(map[string]any)
	if paused, _ := spec["paused"].(bool); paused {
		return nil, v1alpha1.ReasonWorkloadRefused, l.title() + " is paused, so no change would reach its pods: resume it with kubectl rollout resume"
	}
	if strategy, _, _ := unstructured.NestedString(spec, "updateStrategy", "type"); strategy == "OnDelete" {
		return nil, v1alpha1.ReasonWorkloadRefused, l.title() + " has updateStrategy OnDelete, so no change would reach its pods: set RollingUpdate"
	}
	if partition, _, _ := unstructured.NestedInt64(spec, "updateStrategy", "rollingUpdate", "partition"); partition > 0 {
		return nil, v1alpha1.ReasonWorkloadRefused, l.title() + " has updateStrategy.rollingUpdate.partition, so changes would reach only some of its pods: set it to 0"
	}
	if replicas, found, _ := unstructured.NestedInt64(spec, "replicas"); found && replicas == 0 && l.Module.Replicas == nil {
		return nil, v1alpha1.ReasonWorkloadRefused, fmt.Sprintf("%s has 0 replicas: declare replicas of module %s, or scale it up", l.title(), l.Module.Name)
	}
	var pod corev1.PodSpec
	template, _, _ := unstructured.NestedMap(spec, "template", "spec")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod); err != nil {
		return nil, v1alpha1.ReasonWorkloadRefused, fmt.Sprintf("the pod template of %s can't be read: %v", l.title(), err)
	}
	wanted := l.Module.WorkloadRef.Container
	at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return wanted == "" || c.Name == wanted })
	if at < 0 {
		return nil, v1alpha1.ReasonWorkloadMissing, fmt.Sprintf("%s has no container %q, only %s: correct workloadRef.container of module %s",
			l.title(), wanted, prose.Enumerate(containerNames(pod.Containers)), l.Module.Name)
	}
	return &pod.Containers[at], "", ""
}

func containerNames(containers []corev1.Container) []string {
	names := make([]string, 0, len(containers))
	for _, container := range containers {
		names = append(names, container.Name)
	}
	return names
}

func kind(module v1alpha1.Module) string {
	if module.WorkloadRef.Kind == "" {
		return string(v1alpha1.WorkloadDeployment)
	}
	return string(module.WorkloadRef.Kind)
}

// IsApplied reports whether the workload was already changed for this run. Each run changes
// it once, so that it does not fight other controllers.
func (l *Adoption) IsApplied() bool {
	return l.Intent != nil && environment.ReadFingerprint(l.Object) == environment.ReadFingerprint(l.Intent)
}

// ApplyIntent returns the intent to apply to exactly the version of the workload that was
// read. Fields that an earlier run changed and this run does not change get their original
// values, because server-side apply alone would remove them.
func (l *Adoption) ApplyIntent(manager string) environment.Intent {
	intent := l.Intent.DeepCopy()
	ours := applied(l.Object, manager)
	for path := range ours.Leaves().All() {
		path = path.Copy()
		if _, intended := lookup(intent.Object, path); intended {
			continue
		}
		if before, wasThere := lookup(l.original, path); wasThere {
			setField(intent.Object, path, before)
		}
	}
	reorder(intent.Object, l.original, ours)
	intent.SetResourceVersion(l.Object.GetResourceVersion())
	return intent
}
