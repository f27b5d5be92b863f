// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// formatVariable returns a variable's value or its source. An empty value differs from a
// missing one.
func formatVariable(variable corev1.EnvVar) string {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return cmp.Or(variable.Value, `""`)
	case from.SecretKeyRef != nil:
		return source("Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
	case from.ConfigMapKeyRef != nil:
		return source("ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
	default:
		return compact(from)
	}
}

func source(kind, name, key string, optional *bool) string {
	if ptr.Deref(optional, false) {
		kind = "optional " + kind
	}
	return fmt.Sprintf("from %s %s, key %s", kind, name, key)
}

// isSource matches the output of source, which is safe to show even for a Secret.
var isSource = regexp.MustCompile(`^from (optional )?(Secret|ConfigMap) \S+, key \S+$`).MatchString
