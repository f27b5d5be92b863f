// SPDX-License-Identifier: Apache-2.0

package references

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// walk visits a declaration, field by field. It identifies references by their types, so
// that a new field of a known type needs no code here; a test finds unknown types.
func (f *finder) walk(path *field.Path, declared any) { f.walkValue(path, reflect.ValueOf(declared)) }

func (f *finder) walkValue(path *field.Path, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			f.walkValue(path, value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			f.walkValue(path.Index(i), value.Index(i))
		}
	case reflect.Struct:
		f.reference(path, value.Interface())
		for i := range value.NumField() {
			f.walkField(path, value.Type().Field(i), value.Field(i))
		}
	default:
		// Numbers and strings, or a map of them.
	}
}

func (f *finder) walkField(path *field.Path, declared reflect.StructField, value reflect.Value) {
	if !declared.IsExported() {
		return
	}
	name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
	if name != "" {
		path = path.Child(name)
	}
	f.walkValue(path, value)
}

// reference handles the types that refer to an object.
func (f *finder) reference(path *field.Path, value any) {
	switch reference := value.(type) {
	case v1alpha1.PerfExperimentSpec:
		f.named(path.Child("serviceAccountName"), verbImpersonate, "serviceaccounts", reference.ServiceAccountName)
	case v1alpha1.SecretName:
		f.secret(path, reference.Name)
	case v1alpha1.SecretKey:
		f.secret(path, reference.Name)
	case corev1.SecretKeySelector:
		f.secret(path, reference.Name)
	case v1alpha1.ConfigMapName:
		f.configMap(path, reference.Name)
	case v1alpha1.ConfigMapKey:
		f.configMap(path, reference.Name)
	case corev1.ConfigMapKeySelector:
		f.configMap(path, reference.Name)
	case v1alpha1.VolumeClaim:
		f.claim(path, reference.ClaimName)
	case v1alpha1.VolumeFolder:
		f.claim(path, reference.ClaimName)
	case v1alpha1.ScriptVolume:
		f.claim(path, reference.ClaimName)
	case v1alpha1.ModuleVolume:
		f.volume(path, reference)
	case v1alpha1.WorkloadRef:
		// The operator changes it on behalf of the author.
		f.workload(path, verbPatch, reference.Kind, reference.Name)
	case v1alpha1.Patch:
		f.patch(path.Child("merge"), reference)
	case v1alpha1.KillFault, v1alpha1.RestartFault, v1alpha1.SwitchoverFault:
		f.need(path, Right{Verb: verbDelete, Resource: "pods"}, "anyone who disrupts pods")
	case v1alpha1.PostgresRestart:
		f.postgresImage(path.Child("image"), reference.Image)
	case v1alpha1.Postgres:
		f.postgresImage(path.Child("image"), reference.Image)
	case v1alpha1.PostgresSet:
		f.postgresImage(path.Child("image"), reference.Image)
	}
}

// postgresImages is the prefix of CloudNativePG's images.
const postgresImages = "ghcr.io/cloudnative-pg/"

// postgresImage adds the permission to create pods for an image of the author: it runs as
// the ServiceAccount that CloudNativePG creates for the server, which may read Secrets.
// Creating pods allows using any ServiceAccount of the namespace.
func (f *finder) postgresImage(path *field.Path, image string) {
	if image != "" && !strings.HasPrefix(image, postgresImages) {
		f.create(path, "pods", "anyone who runs an image as CloudNativePG's ServiceAccount")
	}
}

func (f *finder) volume(path *field.Path, volume v1alpha1.ModuleVolume) {
	if volume.Secret != nil {
		f.secret(path.Child("secret"), volume.Secret.Name)
	}
	if volume.ConfigMap != nil {
		f.configMap(path.Child("configMap"), volume.ConfigMap.Name)
	}
}

func (f *finder) workload(path *field.Path, verb string, kind v1alpha1.WorkloadKind, name string) {
	resource := "deployments"
	if kind == v1alpha1.WorkloadStatefulSet {
		resource = "statefulsets"
	}
	f.need(path, Right{Verb: verb, Group: "apps", Resource: resource, Name: name}, "")
}
