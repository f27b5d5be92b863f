// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
)

const (
	// maxLabels of an object are cached, and as many of its owners: an object with more
	// owners does not belong to an experiment.
	maxLabels = 64
	// maxPartBytes bounds the decoded size of a spec or status that is cached whole.
	maxPartBytes = 512 << 10
	// maxPodBytes bounds the stored size of a pod's containers, and of its status.
	maxPodBytes = 128 << 10
)

// ownLabels mark objects of experiments: those that PerfLab makes, and those that other
// operators make for it.
var ownLabels = []string{
	v1alpha1.LabelExperiment, contract.LabelTestRun,
	contract.LabelStrimziCluster, contract.LabelPostgresCluster, contract.LabelPostgresPooler,
}

// selectedLabels are all labels that the operator selects objects by.
var selectedLabels = slices.Concat(ownLabels, slices.Collect(maps.Keys(naming.RunLabels(&v1alpha1.PerfRun{}))), []string{
	v1alpha1.LabelComponent, v1alpha1.LabelModule, v1alpha1.LabelLoad, contract.LabelRunner, contract.LabelPostgresRole, batchv1.JobNameLabel,
})

// StripTransform reduces objects to what the cache keeps: no managed fields, and of
// unstructured objects only what reconciles read. A cluster may have tens of thousands of
// them, anyone may set our labels, and a megabyte of text takes fifty when decoded. The
// operator reads workloads to adopt, and anything else it takes over, from the API server.
func StripTransform() toolscache.TransformFunc {
	return func(object any) (any, error) {
		if whole, is := object.(*unstructured.Unstructured); is {
			return strip(whole), nil
		}
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	}
}

// strip keeps the identity of an object. If it may belong to an experiment, strip also keeps
// PerfLab's annotations, the numbers of its spec, and its status.
func strip(whole *unstructured.Unstructured) *unstructured.Unstructured {
	stripped := stripToIdentity(whole)
	if isBuiltInGroup(whole.GroupVersionKind().Group) && !isOwn(whole) {
		return stripped
	}
	stripped.SetGeneration(whole.GetGeneration())
	stripped.SetAnnotations(ownAnnotations(whole.GetAnnotations()))
	if spec, is := whole.Object["spec"].(map[string]any); is {
		stripped.Object["spec"] = stripSpec(spec, isAdopted(whole))
	}
	if status, has := whole.Object["status"]; has && decodedBytes(status) <= maxPartBytes {
		stripped.Object["status"] = status
	}
	return stripped
}

// stripSpec keeps the whole spec of an adopted workload unless it is very large: the operator
// compares it with its own changes. Of other specs it keeps only the numbers.
func stripSpec(spec map[string]any, adopted bool) map[string]any {
	if adopted && decodedBytes(spec) <= maxPartBytes {
		return spec
	}
	numbers := map[string]any{}
	for name, value := range spec {
		if number, is := value.(int64); is && len(numbers) < maxLabels {
			numbers[name] = number
		}
	}
	return numbers
}

// decodedBytes estimates the memory of a decoded value.
func decodedBytes(value any) int {
	const each = 64
	sum := each
	switch value := value.(type) {
	case string:
		sum += len(value)
	case []any:
		for _, item := range value {
			sum += decodedBytes(item)
		}
	case map[string]any:
		for name, item := range value {
			sum += each + len(name) + decodedBytes(item)
		}
	}
	return sum
}

// ownAnnotations are those that PerfLab writes.
func ownAnnotations(all map[string]string) map[string]string {
	own := maps.Clone(all)
	maps.DeleteFunc(own, func(name, _ string) bool { return !strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/") })
	if len(own) == 0 || len(own) > maxLabels {
		return nil
	}
	return own
}

// boundLabels keeps all labels, or the selected ones if there are too many.
func boundLabels(all map[string]string) map[string]string {
	if len(all) <= maxLabels {
		return all
	}
	few := map[string]string{}
	for _, name := range selectedLabels {
		if value, has := all[name]; has {
			few[name] = value
		}
	}
	return few
}

// isBuiltInGroup reports whether the API group is one of Kubernetes' own, whose objects are
// mostly not of experiments.
func isBuiltInGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// isOwn reports whether the object is labeled as an experiment's or adopted by one.
func isOwn(object client.Object) bool {
	return isAdopted(object) || slices.ContainsFunc(ownLabels, func(label string) bool {
		_, has := object.GetLabels()[label]
		return has
	})
}

func isAdopted(object client.Object) bool {
	_, adopted := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
	return adopted
}

// stripToIdentity keeps the identity and the owners of an object.
func stripToIdentity(whole *unstructured.Unstructured) *unstructured.Unstructured {
	stripped := &unstructured.Unstructured{}
	stripped.SetGroupVersionKind(whole.GroupVersionKind())
	stripped.SetNamespace(whole.GetNamespace())
	stripped.SetName(whole.GetName())
	stripped.SetUID(whole.GetUID())
	stripped.SetResourceVersion(whole.GetResourceVersion())
	stripped.SetCreationTimestamp(whole.GetCreationTimestamp())
	stripped.SetDeletionTimestamp(whole.GetDeletionTimestamp())
	stripped.SetLabels(boundLabels(whole.GetLabels()))
	if owners := whole.GetOwnerReferences(); len(owners) <= maxLabels {
		stripped.SetOwnerReferences(owners)
	}
	return stripped
}

func stripPods(object any) (any, error) {
	if pod, is := object.(*corev1.Pod); is {
		return StripPod(pod), nil
	}
	return object, nil
}

// StripPod reduces a pod, in place, to what reconciles read: of its spec the node, and the
// containers if they are not very large.
func StripPod(pod *corev1.Pod) *corev1.Pod {
	pod.SetManagedFields(nil)
	pod.Annotations = ownAnnotations(pod.Annotations)
	pod.Labels = boundLabels(pod.Labels)
	if len(pod.OwnerReferences) > maxLabels {
		pod.OwnerReferences = nil
	}
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName, InitContainers: pod.Spec.InitContainers, Containers: pod.Spec.Containers}
	if spec.Size() > maxPodBytes {
		spec.InitContainers, spec.Containers = nil, nil
	}
	pod.Spec = spec
	if pod.Status.Size() > maxPodBytes {
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP}
	}
	return pod
}
