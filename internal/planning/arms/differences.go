// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Differences lists the settings in which an arm's system differs from the baseline's,
// sorted by setting. List entries are identified by name: modules[mod-users].jvm.heap.
func Differences(baseline, arm v1alpha1.System) []v1alpha1.Difference {
	return CompareSettings(Settings(baseline), Settings(arm))
}

// CompareSettings returns the differences between flattened systems.
func CompareSettings(before, after map[string]string) []v1alpha1.Difference {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var differences []v1alpha1.Difference
	for _, setting := range slices.Sorted(maps.Keys(all)) {
		if before[setting] != after[setting] {
			differences = append(differences, v1alpha1.Difference{Setting: setting, Baseline: before[setting], Arm: after[setting]})
		}
	}
	return differences
}

// Confounded is an arm that differs from the baseline in more than one factor.
type Confounded struct {
	// Arm is the arm's name or, in a matrix, a factor's level.
	Arm string
	// Changed are the factors that differ, sorted.
	Changed []ChangedFactor
}

// ChangedFactor is one factor that differs, wherever it is set: a heap that differs in
// twenty modules is one factor.
type ChangedFactor struct {
	// Factor names the factor, for example modules[*].jvm.heap.
	Factor string
	// Example is one of its differences.
	Example v1alpha1.Difference
}

// ConfoundedArms returns the arms, or levels of a matrix, that differ from the baseline in
// more than one factor, so that any of them could cause an effect. In a matrix several
// factors vary by design, so each level is compared alone, with the other factors at their
// baseline.
func ConfoundedArms(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System) []Confounded {
	if spec.Matrix != nil {
		return confoundedLevels(spec.Matrix, system)
	}
	all := All(spec, system)
	baseline, found := Baseline(all)
	if !found {
		return nil
	}
	var confounded []Confounded
	for _, arm := range all {
		if moved := changedFactors(baseline.System, arm.System); len(moved) > 1 {
			confounded = append(confounded, Confounded{Arm: fmt.Sprintf("arm %q", arm.Name), Changed: moved})
		}
	}
	return confounded
}

func confoundedLevels(matrix *v1alpha1.Matrix, system v1alpha1.System) []Confounded {
	base := system
	for _, factor := range matrix.Factors {
		base = Resolve(base, baselineLevel(factor).Set)
	}
	var confounded []Confounded
	for varied, factor := range matrix.Factors {
		for _, level := range factor.Levels {
			changed := system
			for i, other := range matrix.Factors {
				set := baselineLevel(other).Set
				if i == varied {
					set = level.Set
				}
				changed = Resolve(changed, set)
			}
			if moved := changedFactors(base, changed); len(moved) > 1 {
				name := fmt.Sprintf("level %q of factor %q", level.Name, factor.Name)
				confounded = append(confounded, Confounded{Arm: name, Changed: moved})
			}
		}
	}
	return confounded
}

// String lists the factors that differ.
func (c Confounded) String() string {
	parts := make([]string, 0, len(c.Changed))
	for _, moved := range c.Changed {
		setting := moved.Example.Setting
		parts = append(parts, fmt.Sprintf("%s (%s → %s)", moved.Factor,
			short(readable(setting, moved.Example.Baseline)), short(readable(setting, moved.Example.Arm))))
	}
	return fmt.Sprintf("%s differs from the baseline in %d settings: %s", c.Arm, len(c.Changed), strings.Join(parts, ", "))
}

// Warning adds the consequence and the fix.
func (c Confounded) Warning() string {
	return c.String() + ": any of them could cause an effect; change one setting per arm, or use a matrix"
}

func short(value string) string {
	const maxBytes = 43
	return prose.Cut(value, maxBytes)
}

func changedFactors(baseline, arm v1alpha1.System) []ChangedFactor {
	byFactor := map[string]ChangedFactor{}
	for _, difference := range Differences(baseline, arm) {
		factor := factorName(difference.Setting)
		if _, seen := byFactor[factor]; !seen {
			byFactor[factor] = ChangedFactor{Factor: factor, Example: difference}
		}
	}
	// Another mode needs other metadata nodes; that is one factor.
	if _, changed := byFactor["kafka.mode"]; changed {
		delete(byFactor, "kafka.controllers")
		delete(byFactor, "kafka.zooKeeper")
	}
	return slices.SortedFunc(maps.Values(byFactor), func(a, b ChangedFactor) int { return cmp.Compare(a.Factor, b.Factor) })
}

// singleFactors are settings whose parts count as one factor.
var singleFactors = []*regexp.Regexp{
	regexp.MustCompile(`^kafka\.(controllers|zooKeeper|external)`),
	regexp.MustCompile(`^postgres\.(readWriteSplit|pooler|external)`),
	regexp.MustCompile(`^.*\.(placement|metaspace|storage)`),
	regexp.MustCompile(`^.*\.resources\.(limits|requests)`),
}

var named = regexp.MustCompile(`\[[^]]*\]`)

// factorName returns the factor of a setting: the same setting in several modules or topic
// groups is one factor.
func factorName(setting string) string {
	factor := named.ReplaceAllString(setting, "[*]")
	for _, whole := range singleFactors {
		if found := whole.FindString(factor); found != "" {
			return found
		}
	}
	return factor
}

// Settings flattens a system to values by path.
func Settings(system v1alpha1.System) map[string]string {
	flat := map[string]string{}
	system = *system.DeepCopy()
	for i := range system.Modules {
		module := &system.Modules[i]
		for _, variable := range module.Env {
			flat[fmt.Sprintf("modules[%s].env[%s]", module.Name, variable.Name)] = formatVariable(variable)
		}
		module.Env = nil
	}
	flatten(flat, "", toTree(system))
	return flat
}

func toTree(system v1alpha1.System) any {
	encoded, err := json.Marshal(system)
	if err != nil {
		// Only API values come here; they always marshal.
		panic(fmt.Sprintf("encoding a system: %v", err))
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		panic(fmt.Sprintf("decoding a system: %v", err))
	}
	return tree
}

func flatten(flat map[string]string, path string, node any) {
	switch node := node.(type) {
	case map[string]any:
		if strings.HasSuffix(path, ".jvm.heap") {
			flat[path] = heap(node)
			return
		}
		for key, value := range node {
			flatten(flat, join(path, key), value)
		}
	case []any:
		flattenList(flat, path, node)
	default:
		if text := fmt.Sprint(node); text != "" {
			flat[path] = text
		}
	}
}

// flattenList identifies list entries by their key, so that an added entry does not change
// the paths of later ones. A list without keys is one value.
func flattenList(flat map[string]string, path string, list []any) {
	for _, entry := range list {
		field, keyed := listKey(entry)
		if !keyed {
			flat[path] = compact(list)
			return
		}
		// The key is part of the path, not a setting.
		fields := maps.Clone(entry.(map[string]any))
		place, known := fmt.Sprintf("%s[%s]", path, fields[field]), len(flat)
		delete(fields, field)
		flatten(flat, place, fields)
		if len(flat) == known {
			flat[place] = "set"
		}
	}
}

// listKey returns the field that identifies a list entry.
func listKey(entry any) (field string, keyed bool) {
	fields, _ := entry.(map[string]any)
	for _, field := range []string{"name", "group", "topologyKey"} {
		// A patch has a name too, but several may be about one object.
		if _, isText := fields[field].(string); isText && fields["merge"] == nil {
			return field, true
		}
	}
	return "", false
}

func heap(fields map[string]any) string {
	if percentage, given := fields["maxRAMPercentage"]; given {
		return fmt.Sprintf("%v%% of the limit", percentage)
	}
	return fmt.Sprint(fields["max"])
}

func compact(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", value, err))
	}
	return string(encoded)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
