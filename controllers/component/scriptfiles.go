// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get

// ReadScriptFiles reads a script, and the files beside it, from its ConfigMap. It reports a
// missing script, for which a pod would wait silently.
func (t *Tools) ReadScriptFiles(ctx context.Context, namespace string, script v1alpha1.ConfigMapKey, what string) (map[string]string, *environment.Readiness, error) {
	object, err := t.Cluster.Get(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap"), client.ObjectKey{Namespace: namespace, Name: script.Name})
	if err != nil {
		return nil, nil, err
	}
	if object == nil {
		missing := environment.NotReady(v1alpha1.ReasonConfiguration, fmt.Sprintf(
			"ConfigMap %q with the script of %s not found: create it in namespace %q", script.Name, what, namespace))
		return nil, &missing, nil
	}
	files := configMapFiles(object.Object)
	if _, found := files[script.Key]; !found {
		missing := environment.NotReady(v1alpha1.ReasonConfiguration, fmt.Sprintf(
			"ConfigMap %q has no key %q, which %s refers to%s", script.Name, script.Key, what, describeKeys(files)))
		return nil, &missing, nil
	}
	return files, nil, nil
}

// configMapFiles are the files that a pod finds in a mounted ConfigMap.
func configMapFiles(configMap map[string]any) map[string]string {
	files := map[string]string{}
	texts, _ := configMap["data"].(map[string]any)
	for name, text := range texts {
		files[name], _ = text.(string)
	}
	binary, _ := configMap["binaryData"].(map[string]any)
	for name, encoded := range binary {
		text, _ := encoded.(string)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			files[name] = string(decoded)
		}
	}
	return files
}

// maxListedKeys bounds the keys in a message.
const maxListedKeys = 5

func describeKeys(files map[string]string) string {
	if len(files) == 0 {
		return ": it is empty"
	}
	return ": it has " + prose.EnumerateFirst(slices.Sorted(maps.Keys(files)), maxListedKeys)
}
