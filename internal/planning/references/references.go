// SPDX-License-Identifier: Apache-2.0

// Package references finds the objects that a declaration uses besides its own: Secrets,
// ConfigMaps, existing workloads and ServiceAccounts, and pods with more privileges than PerfLab's
// own. The operator may use all of these for any author, so each comes with the permission that its
// author needs, which admission checks. It is pure.
//
// A declaration is read as written, with all its arms and levels: every name in a resolved
// arm is written as a whole in the system or in the arm. This holds for patches, too, which
// are checked by the paths that they set.
package references

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// Right is a permission in the declaration's namespace.
type Right struct {
	Verb, Group, Resource string
	// Name of the object; empty for all objects of the resource.
	Name string
}

// kinds are the kinds of named resources, for messages.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "deployments": "Deployment", "secrets": "Secret", "serviceaccounts": "ServiceAccount", "statefulsets": "StatefulSet",
}

// String formats the permission: get Secret "login", create pods.
func (r Right) String() string {
	switch {
	case r.Name != "":
		return fmt.Sprintf("%s %s %q", r.Verb, kinds[r.Resource], r.Name)
	case r.Verb == verbGet:
		return fmt.Sprintf("%s every %s", r.Verb, kinds[r.Resource])
	default:
		return r.Verb + " " + r.Resource
	}
}

const (
	verbCreate      = "create"
	verbDelete      = "delete"
	verbGet         = "get"
	verbImpersonate = "impersonate"
	verbPatch       = "patch"
)

// Need is the permission that a field needs.
type Need struct {
	// Field in its author's notation.
	Field *field.Path
	// In is the PerfSystem that contains the field; empty if the validated object does.
	// Reference is then the field that refers to the PerfSystem.
	In        string
	Reference *field.Path
	// Right that the author needs.
	Right Right
	// Whose describes who otherwise needs the permission, as "anyone who mounts …", if the field does not
	// make that clear.
	Whose string
}

// Experiment returns the references of an experiment. The system is the one of its
// systemRef, nil if that does not exist; an inline system is always read.
func Experiment(spec *v1alpha1.PerfExperimentSpec, shared *v1alpha1.System) []Need {
	return experiment(field.NewPath("spec"), spec, shared)
}

// Schedule returns the references of a PerfSchedule's experiments, and the workloads whose
// images the schedule itself reads, because its status shows them.
func Schedule(spec *v1alpha1.PerfScheduleSpec, shared *v1alpha1.System) []Need {
	path, found := field.NewPath("spec"), &finder{}
	for i, source := range spec.OnImageChange {
		found.workload(path.Child("onImageChange").Index(i), verbGet, v1alpha1.WorkloadKind(source.Kind), source.Name)
	}
	return append(found.needs, experiment(path.Child("template", "spec"), &spec.Template.Spec, shared)...)
}

func experiment(path *field.Path, spec *v1alpha1.PerfExperimentSpec, shared *v1alpha1.System) []Need {
	needs := of(path, spec)
	if spec.SystemRef == nil || shared == nil {
		return needs
	}
	for _, need := range System(shared) {
		need.In, need.Reference = spec.SystemRef.Name, path.Child("systemRef", "name")
		needs = append(needs, need)
	}
	return needs
}

// System returns the references of a PerfSystem.
func System(system *v1alpha1.System) []Need { return of(field.NewPath("spec"), system) }

func of(path *field.Path, spec any) []Need {
	found := &finder{}
	found.walk(path, spec)
	return found.needs
}

// finder collects references.
type finder struct{ needs []Need }

func (f *finder) need(path *field.Path, right Right, whose string) {
	f.needs = append(f.needs, Need{Field: path, Right: right, Whose: whose})
}

// named adds a permission on a named object.
func (f *finder) named(path *field.Path, verb, resource, name string) {
	if name != "" {
		f.need(path, Right{Verb: verb, Resource: resource, Name: name}, "")
	}
}

func (f *finder) secret(path *field.Path, name string) { f.named(path, verbGet, "secrets", name) }

func (f *finder) configMap(path *field.Path, name string) {
	f.named(path, verbGet, "configmaps", name)
}

// claim adds the permission to create pods instead of reading the claim: mounting a volume
// gives access to its content, while read access to a claim is common.
func (f *finder) claim(path *field.Path, name string) {
	if name != "" {
		f.create(path, "pods", fmt.Sprintf("anyone who mounts PersistentVolumeClaim %q", name))
	}
}

func (f *finder) create(path *field.Path, resource, whose string) {
	f.need(path, Right{Verb: verbCreate, Resource: resource}, whose)
}

// Notes returns the references of new or changed notes, because notes may change in started
// experiments. An unchanged note needs no permission; another key of the same ConfigMap is
// another note.
func Notes(before, after []v1alpha1.Note) []Need {
	found := &finder{}
	for i, note := range after {
		stays := func(old v1alpha1.Note) bool { return equality.Semantic.DeepEqual(old, note) }
		if !slices.ContainsFunc(before, stays) {
			found.walk(field.NewPath("spec", "notes").Index(i), note)
		}
	}
	return found.needs
}
