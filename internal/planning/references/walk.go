// SPDX-License-Identifier: Apache-2.0

package references

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// walk looks at a declaration, field by field. References are told by their
// types, so that a new field of a type that is known is found without a line
// here; a test says so of types that are not.
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
		// A number, a text, or a map of them.
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

// reference knows the types that refer to something.
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
		// The operator changes it for the author.
		f.workload(path, verbPatch, reference.Kind, reference.Name)
	case v1alpha1.Patch:
		f.patch(path.Child("merge"), reference)
	case v1alpha1.Postgres:
		f.postgresImage(path.Child("image"), reference.Image)
	case v1alpha1.PostgresSet:
		f.postgresImage(path.Child("image"), reference.Image)
	}
}

// postgresImages are CloudNativePG's own.
const postgresImages = "ghcr.io/cloudnative-pg/"

// postgresImage needs pods for an image of the author's: it runs as the ServiceAccount that
// CloudNativePG makes for the server, which may read Secrets. Who may make pods may run as
// any ServiceAccount of the namespace.
func (f *finder) postgresImage(path *field.Path, image string) {
	if image != "" && !strings.HasPrefix(image, postgresImages) {
		f.create(path, "pods", "who runs an image as CloudNativePG's ServiceAccount")
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
