// SPDX-License-Identifier: Apache-2.0

// Package imported is the kind of loads that another tool put on, before PerfLab
// knew of them. They are records; nothing here can put one on.
package imported

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
)

type importedLoad struct {
	kind.Defaults
	*v1alpha1.Elsewhere
	name string
}

// FromLoad is a load of this kind; false for any other.
func FromLoad(load v1alpha1.Load) (kind.Kind, bool) {
	return importedLoad{Elsewhere: load.Elsewhere, name: load.Name}, load.Elsewhere != nil
}

// Source is none: what the tool ran is not known.
func (importedLoad) Source() kind.Source { return kind.Source{} }

// Environment is none.
func (importedLoad) Environment(time.Duration) []corev1.EnvVar { return nil }

// Validate refuses it in an experiment that is to be run. Records are not judged.
func (e importedLoad) Validate(path *field.Path, _ kind.ConfigMaps) (field.ErrorList, []string) {
	return field.ErrorList{field.Forbidden(path.Child("elsewhere"), fmt.Sprintf(
		"load %q was put on elsewhere, by %s, and can't be put on here: record what it gave with perflab import, or declare a load that PerfLab can put on (checkInCheckOut, dataImport or script)",
		e.name, e.tool()))}, nil
}

// Length is not known: the load is over.
func (e importedLoad) Length(kind.Assumptions) (kind.Length, error) {
	return kind.Length{}, fmt.Errorf("load %q was put on elsewhere, by %s", e.name, e.tool())
}

func (e importedLoad) tool() string { return cmp.Or(e.Tool, "another tool") }

// Describe says by what it was put on.
func (e importedLoad) Describe() string { return "a load put on elsewhere, measured by " + e.tool() }
