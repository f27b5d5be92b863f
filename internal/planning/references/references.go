// SPDX-License-Identifier: Apache-2.0

// Package references says what a declaration reaches for beyond its own objects:
// Secrets, ConfigMaps, workloads and ServiceAccounts that are already there,
// and pods that are more than PerfLab makes by itself. The operator may use all
// of these, whoever declares them; so each comes with the right its author
// needs, and admission asks for it. It is pure.
//
// A declaration is read as it is written, with all its arms and levels, and not
// arm by arm: whatever an arm makes of the system, the names in it stand in the
// system or in the arm, whole. That holds for patches, too, which are judged by
// the paths they set and never by what stands beside them.
package references

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// Right is an access to the Kubernetes API, within the declaration's namespace.
type Right struct {
	Verb, Group, Resource string
	// Name of the object; empty: all of the resource.
	Name string
}

// kinds are what resources that are named are called in a sentence.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "deployments": "Deployment", "secrets": "Secret", "serviceaccounts": "ServiceAccount", "statefulsets": "StatefulSet",
}

// String is the right as people say it: get Secret "login", create pods.
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
	verbGet         = "get"
	verbImpersonate = "impersonate"
	verbPatch       = "patch"
)

// Need is a right that a field takes.
type Need struct {
	// Field as its author wrote it.
	Field *field.Path
	// In is the PerfSystem the field stands in; empty: in what is judged. Reference is
	// then the field of what is judged that refers to it.
	In        string
	Reference *field.Path
	// Right that its author must have.
	Right Right
	// Whose says who needs the right by nature, as "who mounts …", where the
	// field alone does not.
	Whose string
}

// Experiment is what an experiment reaches for. The system is the one its
// systemRef refers to, nil where that is not there; one that stands in the
// experiment is read in any case.
func Experiment(spec *v1alpha1.PerfExperimentSpec, shared *v1alpha1.System) []Need {
	return experiment(field.NewPath("spec"), spec, shared)
}

// Schedule is what the experiments of a PerfSchedule reach for, and the workloads that it
// looks at itself: what their images are is told in its status.
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

// System is what a system of its own, a PerfSystem, reaches for.
func System(system *v1alpha1.System) []Need { return of(field.NewPath("spec"), system) }

func of(path *field.Path, spec any) []Need {
	found := &finder{}
	found.walk(path, spec)
	return found.needs
}

// finder collects what is reached for.
type finder struct{ needs []Need }

func (f *finder) need(path *field.Path, right Right, whose string) {
	f.needs = append(f.needs, Need{Field: path, Right: right, Whose: whose})
}

// named needs a right over an object that is referred to by its name.
func (f *finder) named(path *field.Path, verb, resource, name string) {
	if name != "" {
		f.need(path, Right{Verb: verb, Resource: resource, Name: name}, "")
	}
}

func (f *finder) secret(path *field.Path, name string) { f.named(path, verbGet, "secrets", name) }

func (f *finder) configMap(path *field.Path, name string) {
	f.named(path, verbGet, "configmaps", name)
}

// claim needs pods, and not a look at the claim: what a volume holds is for who
// can mount it, while a claim may be read by every onlooker of the namespace.
func (f *finder) claim(path *field.Path, name string) {
	if name != "" {
		f.create(path, "pods", fmt.Sprintf("who mounts PersistentVolumeClaim %q", name))
	}
}

func (f *finder) create(path *field.Path, resource, whose string) {
	f.need(path, Right{Verb: verbCreate, Resource: resource}, whose)
}

// Notes is what notes reach for that are new, or other than before: they may change
// when nothing else may. Of a note that stays nobody is asked: another key of the same
// ConfigMap is another note.
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
