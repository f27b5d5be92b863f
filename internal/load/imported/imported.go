// SPDX-License-Identifier: Apache-2.0

// Package imported is the kind of loads that another tool ran, and whose results were
// imported. PerfLab can't run them.
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

// FromLoad returns the load if it is of this kind; else false.
func FromLoad(load v1alpha1.Load) (kind.Kind, bool) {
	return importedLoad{Elsewhere: load.Elsewhere, name: load.Name}, load.Elsewhere != nil
}

// Source is empty: the tool's script is unknown.
func (importedLoad) Source() kind.Source { return kind.Source{} }

// Environment is empty.
func (importedLoad) Environment(time.Duration) []corev1.EnvVar { return nil }

// Validate rejects it in an experiment that is to run. Imported experiments are not
// validated.
func (e importedLoad) Validate(path *field.Path, _ kind.ConfigMaps) (field.ErrorList, []kind.Warning) {
	return field.ErrorList{field.Forbidden(path.Child("elsewhere"), fmt.Sprintf(
		"load %q ran outside PerfLab, with %s, and can't run here: import its results with perflab import, or declare a load that PerfLab can run (checkInCheckOut, dataImport or script)",
		e.name, e.tool()))}, nil
}

// Length is unknown.
func (e importedLoad) Length(kind.Assumptions) (kind.Length, error) {
	return kind.Length{}, fmt.Errorf("load %q ran outside PerfLab, with %s", e.name, e.tool())
}

func (e importedLoad) tool() string { return cmp.Or(e.Tool, "another tool") }

// Describe names the tool.
func (e importedLoad) Describe() string { return "a load outside PerfLab, measured by " + e.tool() }
