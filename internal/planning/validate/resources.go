// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/repair"
)

// minimumBytes is too small for any heap, container or volume.
const minimumBytes = 1 << 20

// maximumCores is more than any plausible request.
const maximumCores = 100

// resourceFindings validates the resources of one container.
func resourceFindings(who string, resources corev1.ResourceRequirements, at setting) []finding {
	var found []finding
	for _, name := range slices.Sorted(maps.Keys(resources.Limits)) {
		found = append(found, limitFindings(who, name, resources.Limits[name], below(at, "limits", string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request, place := resources.Requests[name], below(at, "requests", string(name))
		found = append(found, requestFindings(who, name, request, place)...)
		if limit, limited := resources.Limits[name]; limited && request.Cmp(limit) > 0 {
			found = append(found, wrong(request.String(),
				fmt.Sprintf("%s requests %s of %s, more than its limit of %s: lower the request, or raise the limit", who, &request, name, &limit),
				place, below(at, "limits", string(name))))
		}
	}
	return found
}

func limitFindings(who string, name corev1.ResourceName, limit resource.Quantity, at setting) []finding {
	what := fmt.Sprintf("the %s limit of %s", name, who)
	switch {
	case !isResource(name):
		return []finding{unknownResource(who, name, at)}
	case isBytes(name):
		return sizeFindings(what, &limit, at)
	default:
		return append(positive(what, &limit, "500m", at), coreFindings(what, name, limit, at)...)
	}
}

func requestFindings(who string, name corev1.ResourceName, request resource.Quantity, at setting) []finding {
	what := fmt.Sprintf("the %s request of %s", name, who)
	switch {
	case !isResource(name):
		return []finding{unknownResource(who, name, at)}
	case request.Sign() < 0:
		return []finding{wrong(request.String(), fmt.Sprintf("%s requests %s of %s: write an amount of 0 or more", who, &request, name), at)}
	case isBytes(name) && request.Sign() > 0 && isWhole(request) && request.Value() < minimumBytes:
		// The container still starts.
		return []finding{doubtful(sizeFault(what, request), at)}
	case isBytes(name) && request.Sign() > 0:
		return sizeFindings(what, &request, at)
	default:
		return coreFindings(what, name, request, at)
	}
}

// coreFindings warns of many cores: 500 usually means 500m, half a core.
func coreFindings(what string, name corev1.ResourceName, amount resource.Quantity, at setting) []finding {
	if name != corev1.ResourceCPU || amount.Value() < maximumCores {
		return nil
	}
	thousandths := cmp.Or(repair.Cores(amount.String()), fmt.Sprintf("%dm", amount.Value()))
	if amount.Format == resource.BinarySI {
		thousandths = strings.TrimRight(amount.String(), "KMGTPEi") + "m"
	}
	return []finding{doubtful(fmt.Sprintf("%s is %s, which is %d cores: write %s for millicores", what, &amount, amount.Value(), thousandths), at)}
}

// isResource reports whether Kubernetes accepts the name of a container's resource.
func isResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || isBytes(name) ||
		strings.Contains(string(name), "/") && len(validation.IsQualifiedName(string(name))) == 0
}

// isBytes reports whether a resource is a number of bytes.
func isBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func unknownResource(who string, name corev1.ResourceName, at setting) finding {
	return wrong(string(name), fmt.Sprintf("%s: Kubernetes has no resource %q: write cpu, memory or ephemeral-storage, or the full name of an extended resource, for example example.org/device", who, name), at)
}

func storageFindings(who string, storage *v1alpha1.Storage, at setting) []finding {
	if storage == nil {
		return nil
	}
	return sizeFindings("the storage of "+who, &storage.Size, at)
}

// sizeFindings validates a number of bytes. In Kubernetes 512m is half a byte, and 512
// without a unit is 512 bytes.
func sizeFindings(what string, size *resource.Quantity, at setting) []finding {
	if size == nil || size.Sign() <= 0 || size.Value() >= minimumBytes {
		return positive(what, size, "512Mi", at)
	}
	return []finding{wrong(size.String(), sizeFault(what, *size), at)}
}

func sizeFault(what string, size resource.Quantity) string {
	bytes := strconv.FormatFloat(size.AsApproximateFloat64(), 'f', -1, 64)
	return fmt.Sprintf("%s is %s, which is %s bytes: write %s", what, &size, bytes, inMebibytes(size))
}

// isWhole reports whether a number of bytes has no fraction.
func isWhole(size resource.Quantity) bool { return size.MilliValue()%1000 == 0 }

// inMebibytes returns the number with the probably intended unit.
func inMebibytes(size resource.Quantity) string {
	number := strings.TrimRight(size.String(), "munkKMGTPEi")
	if _, err := strconv.ParseUint(number, 10, 64); err != nil || len(number) > 5 {
		return "a size such as 512Mi"
	}
	return number + "Mi"
}

// positive requires a positive size.
func positive(what string, amount *resource.Quantity, example string, at setting) []finding {
	if amount == nil || amount.Sign() > 0 {
		return nil
	}
	return []finding{wrong(amount.String(), fmt.Sprintf("%s is %s: write a size above 0, for example %s, or remove it", what, amount, example), at)}
}

// memoryLimit returns the memory limit; nil if there is none.
func memoryLimit(resources corev1.ResourceRequirements) *resource.Quantity {
	limit, limited := resources.Limits[corev1.ResourceMemory]
	if !limited {
		return nil
	}
	return &limit
}

func below(at setting, path ...string) setting { return append(slices.Clone(at), path...) }
