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

// Whose the rights are that patches take.
const (
	whoShapesPods  = "who sets this in a pod"
	whoExposes     = "who changes what leads to pods"
	whoSetsAccount = "who says what a ServiceAccount is"
	whoPatchesPods = "patches of pods are not inspected"
)

// patch looks at a JSON merge patch of an object.
func (f *finder) patch(path *field.Path, patch v1alpha1.Patch) {
	if patch.Kind == "Service" {
		f.create(path, "services", whoExposes)
		return
	}
	var merge any
	if err := json.Unmarshal(patch.Merge.Raw, &merge); err != nil {
		// Nothing is made of a patch that can't be read.
		return
	}
	f.shaped(path, merge, shapes[patch.Kind])
}

// shaped follows a patch as far as its shape goes. Where the shape has fields,
// anything but an object takes away what PerfLab wrote there: null does so in a
// merge patch.
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

// member is an entry of an object. What it is called may already be a
// reference.
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

// names looks for references at any depth. The key is that of the field the
// value stands in.
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

// entry looks at a field and what is beneath it.
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

// podPatch is an annotation by which CloudNativePG patches its pods.
const podPatch = "cnpg.io/podPatch"

// text looks at a string: is it the name of something?
func (f *finder) text(path *field.Path, parent, key, text string) {
	switch {
	case key == podPatch:
		f.need(path, Right{Verb: verbGet, Resource: "secrets"}, whoPatchesPods)
	case parent == "labels" || parent == "annotations":
		// Whatever they are called, they name nothing that is put into a pod.
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
	// isSecret finds fields that refer to a Secret by its name: what says so, and
	// those of CloudNativePG that don't.
	isSecret = regexp.MustCompile(`(?i)secret|^(password|bindPassword|endpointCA|ssl(Key|Cert|RootCert)|` +
		`accessKeyId|region|sessionToken|connectionString|storage(Account|Key|SasToken)|applicationCredentials)$`).MatchString

	isConfigMap = regexp.MustCompile(`(?i)configMap`).MatchString

	isServiceLike = regexp.MustCompile(`(?i)service|route|ingress`).MatchString
)

// isService reports whether a field of Strimzi or CloudNativePG shapes what
// leads to pods.
func isService(key string) bool {
	return isServiceLike(key) && !strings.Contains(strings.ToLower(key), "serviceaccount") && key != "enableServiceLinks"
}

// plain are keys that a path can hold as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString

func below(path *field.Path, key string) *field.Path {
	if plain(key) {
		return path.Child(key)
	}
	return path.Key(key)
}
