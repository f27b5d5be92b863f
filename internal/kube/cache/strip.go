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
	// mostLabels of an object are cached, and as many of its owners: an object with more
	// owners does not belong to an experiment.
	mostLabels = 64
	// mostKept bounds the weight of each part of an object that is kept whole.
	mostKept = 512 << 10
	// mostPod bounds the containers of a pod, as they are stored.
	mostPod = 128 << 10
)

// ourLabels are those by which objects that work for experiments are known: what we
// make, and what other operators make for us.
var ourLabels = []string{
	v1alpha1.LabelExperiment, contract.LabelTestRun,
	contract.LabelStrimziCluster, contract.LabelPostgresCluster, contract.LabelPostgresPooler,
}

// lookedFor are all labels that objects are selected by.
var lookedFor = slices.Concat(ourLabels, slices.Collect(maps.Keys(naming.RunLabels(&v1alpha1.PerfRun{}))), []string{
	v1alpha1.LabelComponent, v1alpha1.LabelModule, v1alpha1.LabelLoad, contract.LabelRunner, contract.LabelPostgresRole, batchv1.JobNameLabel,
})

// StripTransform is what the cache keeps of any other kind: no managed fields, and of an object that
// is known by its kind alone only what passes read. A cluster may have tens of thousands
// of them, anybody may set our labels on his, and a megabyte of text takes fifty when
// it is decoded. Workloads to adopt are read from the API server, as is everything that an
// experiment takes over.
func StripTransform() toolscache.TransformFunc {
	return func(object any) (any, error) {
		if whole, is := object.(*unstructured.Unstructured); is {
			return lean(whole), nil
		}
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	}
}

// lean keeps whose an object is, and of one that may work for an experiment our
// annotations, the numbers of its spec, and its status.
func lean(whole *unstructured.Unstructured) *unstructured.Unstructured {
	known := stripToIdentity(whole)
	if isCommon(whole.GroupVersionKind().Group) && !isOurs(whole) {
		return known
	}
	known.SetGeneration(whole.GetGeneration())
	known.SetAnnotations(ourAnnotations(whole.GetAnnotations()))
	if spec, is := whole.Object["spec"].(map[string]any); is {
		known.Object["spec"] = leanSpec(spec, isBorrowed(whole))
	}
	if status, has := whole.Object["status"]; has && weight(status) <= mostKept {
		known.Object["status"] = status
	}
	return known
}

// leanSpec is what is kept of a spec: all that is borrowed and not very large, for it is
// compared with what was changed in it; else the numbers.
func leanSpec(spec map[string]any, borrowed bool) map[string]any {
	if borrowed && weight(spec) <= mostKept {
		return spec
	}
	numbers := map[string]any{}
	for name, value := range spec {
		if number, is := value.(int64); is && len(numbers) < mostLabels {
			numbers[name] = number
		}
	}
	return numbers
}

// weight is about how many bytes a decoded value takes.
func weight(value any) int {
	const each = 64
	sum := each
	switch value := value.(type) {
	case string:
		sum += len(value)
	case []any:
		for _, item := range value {
			sum += weight(item)
		}
	case map[string]any:
		for name, item := range value {
			sum += each + len(name) + weight(item)
		}
	}
	return sum
}

// ourAnnotations are those that operators like this one write.
func ourAnnotations(all map[string]string) map[string]string {
	ours := maps.Clone(all)
	maps.DeleteFunc(ours, func(name, _ string) bool { return !strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/") })
	if len(ours) == 0 || len(ours) > mostLabels {
		return nil
	}
	return ours
}

// fewLabels are all of an object's, or of very many those that we look for.
func fewLabels(all map[string]string) map[string]string {
	if len(all) <= mostLabels {
		return all
	}
	few := map[string]string{}
	for _, name := range lookedFor {
		if value, has := all[name]; has {
			few[name] = value
		}
	}
	return few
}

// isCommon: everybody makes objects of these API groups.
func isCommon(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// isOurs: the object says that it works for an experiment, or is borrowed by one.
func isOurs(object client.Object) bool {
	return isBorrowed(object) || slices.ContainsFunc(ourLabels, func(label string) bool {
		_, has := object.GetLabels()[label]
		return has
	})
}

func isBorrowed(object client.Object) bool {
	_, borrowed := object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
	return borrowed
}

// stripToIdentity is what it takes to tell whose an object is.
func stripToIdentity(whole *unstructured.Unstructured) *unstructured.Unstructured {
	known := &unstructured.Unstructured{}
	known.SetGroupVersionKind(whole.GroupVersionKind())
	known.SetNamespace(whole.GetNamespace())
	known.SetName(whole.GetName())
	known.SetUID(whole.GetUID())
	known.SetResourceVersion(whole.GetResourceVersion())
	known.SetCreationTimestamp(whole.GetCreationTimestamp())
	known.SetDeletionTimestamp(whole.GetDeletionTimestamp())
	known.SetLabels(fewLabels(whole.GetLabels()))
	if owners := whole.GetOwnerReferences(); len(owners) <= mostLabels {
		known.SetOwnerReferences(owners)
	}
	return known
}

// StripPodTransform is what is kept in mind of a pod: of its spec where it runs, and its containers if
// they are not very large.
func StripPodTransform() toolscache.TransformFunc {
	return func(object any) (any, error) {
		if pod, is := object.(*corev1.Pod); is {
			return StripPod(pod), nil
		}
		return object, nil
	}
}

// StripPod is what is kept in mind of a pod.
func StripPod(pod *corev1.Pod) *corev1.Pod {
	pod.SetManagedFields(nil)
	pod.Annotations = ourAnnotations(pod.Annotations)
	pod.Labels = fewLabels(pod.Labels)
	if len(pod.OwnerReferences) > mostLabels {
		pod.OwnerReferences = nil
	}
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName, InitContainers: pod.Spec.InitContainers, Containers: pod.Spec.Containers}
	if spec.Size() > mostPod {
		spec.InitContainers, spec.Containers = nil, nil
	}
	pod.Spec = spec
	if pod.Status.Size() > mostPod {
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP}
	}
	return pod
}
