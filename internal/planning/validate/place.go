// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/planning/arms"
)

// setting is the path of a field of a system. Entries of modules, topics and patches are
// identified by name: modules, mod-users, jvm, heap, max.
type setting []string

// finding is an error or a warning about a resolved system.
type finding struct {
	// settings that conflict, the one to fix first.
	settings []setting
	value    any
	sentence string
	warning  bool
	// patched: a patch causes it.
	patched bool
}

func wrong(value any, sentence string, settings ...setting) finding {
	return finding{settings: settings, value: value, sentence: sentence}
}

func doubtful(sentence string, settings ...setting) finding {
	return finding{settings: settings, sentence: sentence, warning: true}
}

// systemPlace is where a system is declared.
type systemPlace struct {
	path *field.Path
	// shared is the name of the PerfSystem that the path refers to; empty if the system is
	// inline.
	shared string
}

func (p systemPlace) who() string {
	if p.shared == "" {
		return ""
	}
	return fmt.Sprintf("PerfSystem %q: ", p.shared)
}

func (p systemPlace) of(system *v1alpha1.System, finding finding) *field.Path {
	if place := patchPlace(system.Patches, p.path.Child("patches").Index, finding); place != nil && p.shared == "" {
		return place
	}
	if p.shared != "" || len(finding.settings) == 0 {
		return p.path
	}
	return walk(p.path, environment.Fields(system), finding.settings[0])
}

func (p systemPlace) patches(system *v1alpha1.System) writtenPatches {
	place := p.path.Child("patches").Index
	if p.shared != "" {
		place = func(int) *field.Path { return p.path }
	}
	return writtenPatches{patches: system.Patches, place: place, who: p.who()}
}

func (w writtenSet) patches() writtenPatches {
	return writtenPatches{patches: w.set.Patches, place: w.path.Child("patches").Index, who: w.title + ": "}
}

// keys are the fields that identify list entries; strings identify themselves.
var keys = map[string]string{"modules": "name", "topics": "group", "env": "name", "volumes": "name"}

// walk follows a setting as far as it is written.
func walk(path *field.Path, node any, setting setting) *field.Path {
	for i := 0; i < len(setting); i++ {
		fields, isMap := node.(map[string]any)
		next, given := fields[setting[i]]
		if !isMap || !given {
			break
		}
		path, node = path.Child(setting[i]), next
		entries, isList := next.([]any)
		if !isList || i+1 == len(setting) {
			continue
		}
		at := slices.IndexFunc(entries, func(entry any) bool { return isEntry(entry, keys[setting[i]], setting[i+1]) })
		if at < 0 {
			break
		}
		path, node = path.Index(at), entries[at]
		i++
	}
	return path
}

func isEntry(entry any, key, name string) bool {
	fields, isMap := entry.(map[string]any)
	return isMap && fields[key] == name || entry == name
}

// locate finds a setting in a set; false if the set does not contain it.
func (w writtenSet) locate(setting setting) (*field.Path, bool) {
	if w.set == nil || len(setting) < 2 {
		return nil, false
	}
	if setting[0] == "modules" {
		return w.locateModule(setting)
	}
	place := walk(w.path, environment.Fields(w.set), setting)
	unit := 2
	switch setting[1] {
	case "topics":
		unit = 4
	case "config", "parameters":
		unit = 3
	}
	return place, depth(w.path, place) >= min(unit, len(setting))
}

// locateModule searches the sets for the one module before those for several, and those
// before the one for all, in reverse order of application.
func (w writtenSet) locateModule(setting setting) (*field.Path, bool) {
	meant := []func(v1alpha1.ModuleSet) bool{
		func(set v1alpha1.ModuleSet) bool { return set.Name == setting[1] },
		func(set v1alpha1.ModuleSet) bool { return slices.Contains(set.Names, setting[1]) },
		func(set v1alpha1.ModuleSet) bool { return set.Name == arms.EveryModule },
	}
	unit := 1
	if len(setting) > 3 && setting[2] == "jvm" {
		unit = 2
	}
	for _, applies := range meant {
		for i := len(w.set.Modules) - 1; i >= 0; i-- {
			if !applies(w.set.Modules[i]) {
				continue
			}
			path := w.path.Child("modules").Index(i)
			fields := environment.Fields(&w.set.Modules[i])
			for _, within := range ways(setting[2:]) {
				if place := walk(path, fields, within); depth(path, place) >= unit {
					return place, true
				}
			}
		}
	}
	return nil, false
}

// ways returns the possible paths of a module's setting in a set: individual requests have
// a field of their own, which is applied last.
func ways(within setting) []setting {
	if len(within) > 1 && within[0] == "resources" && within[1] == "requests" {
		return []setting{within[1:], within}
	}
	return []setting{within}
}

// depth returns the number of fields or entries below a path.
func depth(path, place *field.Path) int {
	below := strings.TrimPrefix(place.String(), path.String())
	return strings.Count(below, ".") + strings.Count(below, "[")
}
