// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/planning/validate"
)

// errInvalid means that the cluster would refuse a manifest.
var errInvalid = errors.New("the manifest is invalid")

// manifest has the objects of the files.
type manifest struct {
	experiments []*v1alpha1.PerfExperiment
	// schedules by the experiment of their template.
	schedules map[*v1alpha1.PerfExperiment]*v1alpha1.PerfSchedule
	systems   map[string]*v1alpha1.PerfSystem
	// configMaps have the data of ConfigMaps by name: price lists and scripts.
	configMaps map[string]map[string]string
}

// readManifest reads the experiments and systems of files, and checks them like
// the cluster.
func readManifest(ctx context.Context, in *input, paths []string) (manifest, error) {
	read := manifest{
		schedules: map[*v1alpha1.PerfExperiment]*v1alpha1.PerfSchedule{}, systems: map[string]*v1alpha1.PerfSystem{}, configMaps: map[string]map[string]string{},
	}
	for _, path := range paths {
		objects, err := readDocuments(in, path)
		if err != nil {
			return manifest{}, err
		}
		for _, object := range objects {
			// Other kinds, such as Secrets with logins, are not checked.
			if schema.IsOurs(object) {
				if faults := schema.Check(ctx, object); len(faults) > 0 {
					return manifest{}, invalidError(objectTitle(path, object), withSuggestions(object, faults))
				}
			}
			if err := read.add(path, object); err != nil {
				return manifest{}, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return read, nil
}

func readDocuments(in *input, path string) (objects []*unstructured.Unstructured, err error) {
	err = in.objects(path, func(stream io.Reader) error {
		if objects, err = schema.Documents(stream); err != nil {
			return fmt.Errorf("%w: %w", errUnusable, err)
		}
		return nil
	})
	return objects, err
}

func (m *manifest) add(path string, object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case experimentKind:
		experiment := &v1alpha1.PerfExperiment{}
		m.experiments = append(m.experiments, experiment)
		return decode(object, experiment)
	case scheduleKind:
		schedule := &v1alpha1.PerfSchedule{}
		if err := decode(object, schedule); err != nil {
			return err
		}
		template := &v1alpha1.PerfExperiment{ObjectMeta: schedule.ObjectMeta, Spec: schedule.Spec.Template.Spec}
		m.experiments = append(m.experiments, template)
		m.schedules[template] = schedule
	case "PerfSystem":
		system := &v1alpha1.PerfSystem{}
		if err := decode(object, system); err != nil {
			return err
		}
		if faults, _ := validate.System(&system.Spec, field.NewPath("spec")); len(faults) > 0 {
			return invalidError(objectTitle(path, object), faults)
		}
		m.systems[system.Name] = system
	case "ConfigMap":
		data, _, err := unstructured.NestedStringMap(object.Object, "data")
		if err != nil {
			return fmt.Errorf("reading ConfigMap %q: %w", object.GetName(), err)
		}
		m.configMaps[object.GetName()] = data
	}
	return nil
}

// validate checks an experiment, or the schedule that has it as template. The title
// names the object.
func (m *manifest) validate(experiment *v1alpha1.PerfExperiment, system *v1alpha1.System) (title string, faults field.ErrorList, warnings []string) {
	known := validate.Known{System: system, ConfigMaps: m.configMaps}
	if schedule := m.schedules[experiment]; schedule != nil {
		faults, found := validate.Schedule(schedule, known)
		return fmt.Sprintf("PerfSchedule %q", schedule.Name), faults, found.Sentences()
	}
	faults, found := validate.Experiment(experiment, known)
	return fmt.Sprintf("PerfExperiment %q", experiment.Name), faults, found.Sentences()
}

func decode(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("reading %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func objectTitle(path string, object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s: %s %q", path, object.GetKind(), object.GetName())
}

// system returns the system of an experiment.
func (m *manifest) system(experiment *v1alpha1.PerfExperiment) (*v1alpha1.System, error) {
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
