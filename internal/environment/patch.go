// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// Patched returns the intents with the declared patches applied in order. It keeps the
// fields that identify an object to the operator: apiVersion, kind, name, namespace, owner,
// and the operator's labels and annotations; PatchFault rejects patches of these. It edits
// neither the intents nor the patches.
func Patched(intents []Intent, patches []v1alpha1.Patch) []Intent {
	patched := slices.Clone(intents)
	for i, intent := range intents {
		for _, patch := range patches {
			if concerns(patch, intent) {
				patched[i] = merged(patched[i], patch.Merge.Raw)
			}
		}
	}
	return patched
}

// PatchFault returns why a patch is not allowed; nil if it is. Admission calls it before
// anything is rendered.
func PatchFault(patch v1alpha1.Patch) error {
	var merge map[string]any
	if err := json.Unmarshal(patch.Merge.Raw, &merge); err != nil || len(merge) == 0 {
		return fmt.Errorf("the patch of %s has nothing to merge: write an object, for example merge: {spec: {…}}", patch.Kind)
	}
	for field := range merge {
		if field != "metadata" && field != "spec" {
			return fmt.Errorf("the patch of %s sets %q: a patch can only change spec, metadata.labels and metadata.annotations", patch.Kind, field)
		}
	}
	metadata, isMap := merge["metadata"].(map[string]any)
	if _, given := merge["metadata"]; given && !isMap {
		return fmt.Errorf("the patch of %s removes metadata: write the label or annotation to change", patch.Kind)
	}
	for field, value := range metadata {
		entries, isMap := value.(map[string]any)
		if field != "labels" && field != "annotations" || !isMap {
			return fmt.Errorf("the patch of %s sets metadata.%s: a patch can only change metadata.labels and metadata.annotations", patch.Kind, field)
		}
		for key := range entries {
			if isOurs(key) {
				return fmt.Errorf("the patch of %s sets metadata.%s[%q], by which the operator identifies its objects: use another key", patch.Kind, field, key)
			}
		}
	}
	return nil
}

// isOurs reports whether the operator sets this label or annotation.
func isOurs(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == v1alpha1.GroupVersion.Group || key == "app.kubernetes.io/managed-by" || key == contract.LabelStrimziCluster
}

// concerns reports whether a patch applies to this object. Modules match by the module's
// name, pools by a prefix, others by their own name.
func concerns(patch v1alpha1.Patch, intent Intent) bool {
	if string(patch.Kind) != intent.GetKind() {
		return false
	}
	switch {
	case patch.Name == "":
		return true
	case intent.GetLabels()[v1alpha1.LabelModule] != "":
		return intent.GetLabels()[v1alpha1.LabelModule] == patch.Name
	case intent.GetKind() == contract.KindKafkaNodePool:
		return strings.HasPrefix(intent.GetName(), patch.Name+"-")
	default:
		return intent.GetName() == patch.Name
	}
}

// merged applies a JSON merge patch (RFC 7386).
func merged(intent Intent, merge []byte) Intent {
	before, err := json.Marshal(intent.Object)
	if err != nil {
		// Intents consist of JSON types and always marshal.
		panic(fmt.Sprintf("encoding %s %q: %v", intent.GetKind(), intent.GetName(), err))
	}
	after, err := jsonpatch.MergePatch(before, merge)
	if err != nil {
		// The API server accepts only objects as patches.
		panic(fmt.Sprintf("patching %s %q: %v", intent.GetKind(), intent.GetName(), err))
	}
	result := &unstructured.Unstructured{}
	if err := json.Unmarshal(after, &result.Object); err != nil {
		panic(fmt.Sprintf("decoding the patched %s %q: %v", intent.GetKind(), intent.GetName(), err))
	}
	keepIdentity(result, intent)
	return result
}

func keepIdentity(patched, intent Intent) {
	labels, annotations := patched.GetLabels(), patched.GetAnnotations()
	delete(patched.Object, "metadata")
	patched.SetGroupVersionKind(intent.GroupVersionKind())
	patched.SetNamespace(intent.GetNamespace())
	patched.SetName(intent.GetName())
	patched.SetOwnerReferences(intent.GetOwnerReferences())
	patched.SetLabels(overlaid(labels, intent.GetLabels()))
	patched.SetAnnotations(overlaid(annotations, intent.GetAnnotations()))
}

// overlaid returns the base with the overrides.
func overlaid(base, overrides map[string]string) map[string]string {
	result := map[string]string{}
	maps.Copy(result, base)
	maps.Copy(result, overrides)
	return result
}
