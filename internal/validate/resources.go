// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
)

// resourceFindings are about the resources of one container.
func resourceFindings(who string, resources corev1.ResourceRequirements, at setting) []finding {
	var found []finding
	for _, name := range slices.Sorted(maps.Keys(resources.Limits)) {
		limit := resources.Limits[name]
		found = append(found, positive(fmt.Sprintf("the %s limit of %s", name, who), &limit, below(at, "limits", string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request := resources.Requests[name]
		if request.Sign() < 0 {
			found = append(found, wrong(request.String(), fmt.Sprintf("%s requests %s of %s: write an amount of 0 or more", who, &request, name),
				below(at, "requests", string(name))))
		}
		limit, limited := resources.Limits[name]
		if limited && request.Cmp(limit) > 0 {
			found = append(found, wrong(request.String(),
				fmt.Sprintf("%s requests %s of %s, more than its limit of %s: lower the request, or raise the limit", who, &request, name, &limit),
				below(at, "requests", string(name)), below(at, "limits", string(name))))
		}
	}
	return found
}

func storageFindings(who string, storage *v1alpha1.Storage, at setting) []finding {
	if storage == nil {
		return nil
	}
	return positive("the storage of "+who, &storage.Size, at)
}

// positive asks for a size above nothing.
func positive(what string, size *resource.Quantity, at setting) []finding {
	if size == nil || size.Sign() > 0 {
		return nil
	}
	return []finding{wrong(size.String(), fmt.Sprintf("%s is %s: write a size above 0, for example 512Mi, or leave it out", what, size), at)}
}

// memoryLimit is nil where memory is not limited.
func memoryLimit(resources corev1.ResourceRequirements) *resource.Quantity {
	limit, limited := resources.Limits[corev1.ResourceMemory]
	if !limited {
		return nil
	}
	return &limit
}

func below(at setting, path ...string) setting { return append(slices.Clone(at), path...) }
