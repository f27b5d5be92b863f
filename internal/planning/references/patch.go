// SPDX-License-Identifier: Apache-2.0

package references

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// Users who otherwise need the permissions that patches need.
const (
	whoShapesPods  = "anyone who sets this in a pod"
	whoExposes     = "anyone who changes access to pods"
	whoSetsAccount = "anyone who configures a ServiceAccount"
	whoPatchesPods = "anyone who uses a patch of pods, which PerfLab does not inspect,"
)

// patch walks a JSON merge patch of an object.
func (f *finder) patch(path *field.Path, patch v1alpha1.Patch) {
	if patch.Kind == "Service" {
		f.create(path, "services", whoExposes)
		return
	}
	var merge any
	if err := json.Unmarshal(patch.Merge.Raw, &merge); err != nil {
		// An unreadable patch has no effect.
		return
	}
	f.shaped(path, merge, shapes[patch.Kind])
}

// shaped follows a patch along its shape. A value other than an object removes PerfLab's
// fields there, as null does in a merge patch.
func (f *finder) shaped(path *field.Path, value any, shape shape) {
	if shape.free {
		return
	}
	if shape.names {
		f.names(path, "", value)
		return
	}
	entries, isMap := value.(map[string]any)
	list, isList := value.([]any)
	if shape.fields == nil || !isMap && !isList {
		f.create(path, "pods", whoShapesPods)
		f.names(path, "", value)
		return
	}
	for i, entry := range list {
		f.shaped(path.Index(i), entry, shape)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		f.member(path, key, entries[key], shape.fields[key])
	}
}

// member checks an entry of an object, whose key may be a reference.
func (f *finder) member(path *field.Path, key string, value any, shape shape) {
	at := below(path, key)
	if shape.free {
		return
	}
	if text, isText := value.(string); shape.image && isText {
		f.postgresImage(at, text)
		return
	}
	if shape.fields != nil {
		f.shaped(at, value, shape)
		return
	}
	if !shape.names {
		f.create(at, "pods", whoShapesPods)
	}
	f.entry(at, "", key, value)
}

// names finds references at any depth. The key is the name of the value's field.
func (f *finder) names(path *field.Path, key string, value any) {
	switch typed := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(typed)) {
			f.entry(below(path, name), key, name, typed[name])
		}
	case []any:
		for i, entry := range typed {
			if text, isText := entry.(string); isText {
				f.text(path.Index(i), "", key, text)
			}
			f.names(path.Index(i), key, entry)
		}
	}
}

// entry checks a field and its children.
func (f *finder) entry(path *field.Path, parent, key string, value any) {
	if text, isText := value.(string); isText {
		f.text(path, parent, key, text)
		return
	}
	switch {
	case key == "listeners":
		f.create(path, "services", whoExposes)
		f.need(path, Right{Verb: verbCreate, Group: "networking.k8s.io", Resource: "ingresses"}, whoExposes)
	case isService(key):
		f.create(path, "services", whoExposes)
	case key == "serviceAccountTemplate" || key == "serviceAccount":
		f.create(path, "serviceaccounts", whoSetsAccount)
	}
	f.names(path, key, value)
}

// podPatch is CloudNativePG's annotation for patches of pods.
const podPatch = "cnpg.io/podPatch"

// text checks whether a string is a reference.
func (f *finder) text(path *field.Path, parent, key, text string) {
	switch {
	case key == podPatch:
		f.need(path, Right{Verb: verbGet, Resource: "secrets"}, whoPatchesPods)
	case parent == "labels" || parent == "annotations":
		// Other names are not mounted into a pod.
	case key == "claimName":
		f.claim(path, text)
	case key == "serviceAccountName" || key == "serviceAccount":
		f.named(path, verbImpersonate, "serviceaccounts", text)
	case key == "name" && isConfigMap(parent):
		f.configMap(path, text)
	case key == "name" && isSecret(parent), key == "secretName", strings.Contains(strings.ToLower(key), "secret"):
		f.secret(path, text)
	}
}

var (
	// isSecret matches fields with the name of a Secret, including CloudNativePG's fields
	// without that word.
	isSecret = regexp.MustCompile(`(?i)secret|^(password|bindPassword|endpointCA|ssl(Key|Cert|RootCert)|` +
		`accessKeyId|region|sessionToken|connectionString|storage(Account|Key|SasToken)|applicationCredentials)$`).MatchString

	isConfigMap = regexp.MustCompile(`(?i)configMap`).MatchString

	isServiceLike = regexp.MustCompile(`(?i)service|route|ingress`).MatchString
)

// isService reports whether a field of Strimzi or CloudNativePG configures access to pods.
func isService(key string) bool {
	return isServiceLike(key) && !strings.Contains(strings.ToLower(key), "serviceaccount") && key != "enableServiceLinks"
}

// plain matches keys that need no quotes in a path.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString

func below(path *field.Path, key string) *field.Path {
	if plain(key) {
		return path.Child(key)
	}
	return path.Key(key)
}
