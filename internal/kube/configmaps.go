// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigMaps returns the data of the ConfigMaps that exist, by name.
func ConfigMaps(ctx context.Context, reader client.Reader, namespace string, names []string) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	for _, name := range names {
		object := &corev1.ConfigMap{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
		switch {
		case err == nil:
			found[name] = object.Data
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading ConfigMap %q: %w", name, err)
		}
	}
	return found, nil
}
