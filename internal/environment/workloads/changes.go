// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/podspec"
)

// restarts are the resets that restart a module's pods before each run.
var restarts = []v1alpha1.ResetPolicy{
	v1alpha1.ResetRestartModules, v1alpha1.ResetRestoreData, v1alpha1.ResetReschedule, v1alpha1.ResetRecreate,
}

// changes returns the fields of the workload's spec that the run sets.
func (l *Adoption) changes(req environment.Request, container *corev1.Container, variables []corev1.EnvVar) map[string]any {
	pod := map[string]any{}
	if placement := l.Module.Placement; placement != nil {
		pod = podspec.PlacementFields(placement, l.selector())
	}
	changed := map[string]any{"name": container.Name}
	if len(variables) > 0 {
		changed["env"] = listed(variables)
	}
	podspec.AddResources(changed, l.Module.Resources)
	if len(changed) > 1 {
		pod["containers"] = []any{changed}
	}
	template := map[string]any{}
	if len(pod) > 0 {
		template["spec"] = pod
	}
	if slices.Contains(restarts, req.Reset) {
		template["metadata"] = map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRun: req.Run}}
	}
	spec := map[string]any{"template": template}
	if replicas := l.Module.Replicas; replicas != nil {
		spec["replicas"] = int64(*replicas)
	}
	return spec
}

// listed returns variables as fields. An empty value is explicit, because server-side apply
// keeps the old value of a missing field.
func listed(variables []corev1.EnvVar) []any {
	items := make([]any, 0, len(variables))
	for _, variable := range variables {
		fields := environment.Fields(variable.DeepCopy())
		if variable.ValueFrom == nil {
			fields["value"] = variable.Value
		}
		items = append(items, fields)
	}
	return items
}

// selector returns the workload's pod selector.
func (l *Adoption) selector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	fields, _, _ := unstructured.NestedMap(l.original, "spec", "selector")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, selector); err != nil {
		// The API server has checked it.
		return nil
	}
	return selector
}

// moduleVariables returns the variables that the run sets. Existing variables keep their
// order.
func moduleVariables(module v1alpha1.Module, env []corev1.EnvVar, container *corev1.Container) []corev1.EnvVar {
	variables := podspec.OverrideEnv(env, module.Env)
	if options := module.JVM.VariableOrDefault(); module.JVM != nil && podspec.EnvIndex(variables, options) < 0 {
		variables = append(variables, corev1.EnvVar{Name: options, Value: javaOptions(module.JVM, container)})
	}
	variables = append(variables, dependents(container.Env, variables)...)
	last := len(container.Env)
	slices.SortStableFunc(variables, func(a, b corev1.EnvVar) int {
		return cmp.Compare(rank(container.Env, a.Name, last), rank(container.Env, b.Name, last))
	})
	return variables
}

// dependents returns the container's variables that refer to variables the run adds, with
// the references replaced by their values. The kubelet expands only references to earlier
// variables, and added variables come last.
func dependents(before, set []corev1.EnvVar) []corev1.EnvVar {
	var found []corev1.EnvVar
	for _, variable := range before {
		value := variable.Value
		for _, added := range set {
			if podspec.EnvIndex(before, added.Name) < 0 && added.ValueFrom == nil {
				value = strings.ReplaceAll(value, "$("+added.Name+")", added.Value)
			}
		}
		if value != variable.Value && podspec.EnvIndex(set, variable.Name) < 0 {
			found = append(found, corev1.EnvVar{Name: variable.Name, Value: value})
		}
	}
	return found
}

func rank(variables []corev1.EnvVar, name string, otherwise int) int {
	if at := podspec.EnvIndex(variables, name); at >= 0 {
		return at
	}
	return otherwise
}

// javaOptions returns the container's JVM options with the declared ones set and heap
// logging enabled.
func javaOptions(declared *v1alpha1.JVM, container *corev1.Container) string {
	var before string
	if at := podspec.EnvIndex(container.Env, declared.VariableOrDefault()); at >= 0 {
		before = container.Env[at].Value
	}
	return jvm.WithLogInit(jvm.Rewrite(before, environment.JVMSettings(declared)))
}

// findClash returns a variable that has a value in one place and a source in the other:
// server-side apply would keep both, which is invalid.
func findClash(container *corev1.Container, variables []corev1.EnvVar) string {
	for _, variable := range variables {
		at := podspec.EnvIndex(container.Env, variable.Name)
		if at >= 0 && variableSource(container.Env[at]) != variableSource(variable) {
			return variable.Name
		}
	}
	return ""
}

// variableSource describes the source of a variable's value. A plain value has no source;
// an empty value is compatible with any source.
func variableSource(variable corev1.EnvVar) string {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return ""
	case from.SecretKeyRef != nil:
		return "Secret"
	case from.ConfigMapKeyRef != nil:
		return "ConfigMap"
	default:
		return "other"
	}
}

// patched applies the declared patches, which select modules by a label.
func (l *Adoption) patched(intent environment.Intent, req environment.Request) environment.Intent {
	intent.SetLabels(map[string]string{v1alpha1.LabelModule: l.Module.Name})
	kinds := v1alpha1.PatchKind(intent.GetKind())
	patched := environment.Patched([]environment.Intent{intent}, req.Patches(kinds))[0]
	labels := patched.GetLabels()
	delete(labels, v1alpha1.LabelModule)
	if len(labels) == 0 {
		// An empty map would make us own every label.
		labels = nil
	}
	patched.SetLabels(labels)
	return patched
}

// stamp adds a fingerprint to the pod template and returns it. The fingerprint identifies
// the template's pods. A template without changes stays as it is, and so do its pods.
func stamp(intent environment.Intent) string {
	template, _, _ := unstructured.NestedFieldNoCopy(intent.Object, "spec", "template")
	if fields, isMap := template.(map[string]any); isMap && len(fields) == 0 {
		return ""
	}
	fingerprint := environment.Fingerprint(template)
	err := unstructured.SetNestedField(intent.Object, fingerprint, "spec", "template", "metadata", "annotations", v1alpha1.AnnotationFingerprint)
	if err != nil {
		// Only a patch can replace the object by another type, which the API server
		// rejects.
		return ""
	}
	return fingerprint
}
