// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/planning/validate"
)

// Manifest has the objects of the files.
type Manifest struct {
	Experiments []*v1alpha1.PerfExperiment
	// schedules by the experiment of their template.
	schedules map[*v1alpha1.PerfExperiment]*v1alpha1.PerfSchedule
	systems   map[string]*v1alpha1.PerfSystem
	// ConfigMaps have the data of ConfigMaps by name: price lists and scripts.
	ConfigMaps map[string]map[string]string
}

// ReadManifest reads the experiments and systems of files, and checks them like
// the cluster.
func ReadManifest(ctx context.Context, in *Input, paths []string) (Manifest, error) {
	read := Manifest{
		schedules: map[*v1alpha1.PerfExperiment]*v1alpha1.PerfSchedule{}, systems: map[string]*v1alpha1.PerfSystem{}, ConfigMaps: map[string]map[string]string{},
	}
	for _, path := range paths {
		objects, err := ReadDocuments(in, path)
		if err != nil {
			return Manifest{}, err
		}
		for _, object := range objects {
			// Other kinds, such as Secrets with logins, are not checked.
			if schema.IsOurs(object) {
				if faults := schema.Check(ctx, object); len(faults) > 0 {
					return Manifest{}, InvalidError(objectTitle(path, object), withSuggestions(object, faults))
				}
			}
			if err := read.add(path, object); err != nil {
				return Manifest{}, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return read, nil
}

// ReadDocuments reads all objects of a file, of any kind.
func ReadDocuments(in *Input, path string) (objects []*unstructured.Unstructured, err error) {
	err = in.objects(path, func(stream io.Reader) error {
		if objects, err = schema.Documents(stream); err != nil {
			return fmt.Errorf("%w: %w", exit.ErrUnusable, err)
		}
		return nil
	})
	return objects, err
}

func (m *Manifest) add(path string, object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case cluster.ExperimentKind:
		experiment := &v1alpha1.PerfExperiment{}
		m.Experiments = append(m.Experiments, experiment)
		return Decode(object, experiment)
	case cluster.ScheduleKind:
		schedule := &v1alpha1.PerfSchedule{}
		if err := Decode(object, schedule); err != nil {
			return err
		}
		template := &v1alpha1.PerfExperiment{ObjectMeta: schedule.ObjectMeta, Spec: schedule.Spec.Template.Spec}
		m.Experiments = append(m.Experiments, template)
		m.schedules[template] = schedule
	case "PerfSystem":
		system := &v1alpha1.PerfSystem{}
		if err := Decode(object, system); err != nil {
			return err
		}
		if faults, _ := validate.System(&system.Spec, field.NewPath("spec")); len(faults) > 0 {
			return InvalidError(objectTitle(path, object), faults)
		}
		m.systems[system.Name] = system
	case "ConfigMap":
		data, _, err := unstructured.NestedStringMap(object.Object, "data")
		if err != nil {
			return fmt.Errorf("reading ConfigMap %q: %w", object.GetName(), err)
		}
		m.ConfigMaps[object.GetName()] = data
	}
	return nil
}

// Validate checks an experiment, or the schedule that has it as template. The title
// names the object.
func (m *Manifest) Validate(experiment *v1alpha1.PerfExperiment, system *v1alpha1.System) (title string, faults field.ErrorList, warnings []string) {
	known := validate.Known{System: system, ConfigMaps: m.ConfigMaps}
	if schedule := m.schedules[experiment]; schedule != nil {
		faults, found := validate.Schedule(schedule, known)
		return fmt.Sprintf("PerfSchedule %q", schedule.Name), faults, found.Sentences()
	}
	faults, found := validate.Experiment(experiment, known)
	return fmt.Sprintf("PerfExperiment %q", experiment.Name), faults, found.Sentences()
}

// Decode converts an object to its Go type.
func Decode(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("reading %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func objectTitle(path string, object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s: %s %q", path, object.GetKind(), object.GetName())
}

// System returns the system of an experiment.
func (m *Manifest) System(experiment *v1alpha1.PerfExperiment) (*v1alpha1.System, error) {
	reference := experiment.Spec.SystemRef
	if reference == nil {
		return &experiment.Spec.System, nil
	}
	system, found := m.systems[reference.Name]
	if !found {
		return nil, fmt.Errorf("experiment %q refers to PerfSystem %q, which is not in the files: add its file with -f", experiment.Name, reference.Name)
	}
	return &system.Spec, nil
}
