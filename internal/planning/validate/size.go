// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/planning/arms"
)

// Limits of a declaration, as stored and as resolved. A small set for all modules is copied
// to each of them, in each arm.
const (
	// maxStored is the limit of a spec in bytes of JSON, maxValues of its values: a value
	// of two bytes takes a hundred in memory.
	maxStored = 256 << 10
	maxValues = 8_000
	// maxResolved is the limit of an arm's system, which each run stores, and
	// maxAllResolved of all arms together.
	maxResolved    = 512 << 10
	maxAllResolved = 8 << 20
	// maxPatched is the limit of what the patches of an arm add to all objects.
	maxPatched = 4 << 20
	// maxTopics is the limit of a system's topics.
	maxTopics = 10_000
)

// Stored checks the size of a stored spec, in JSON.
func Stored(spec []byte) field.ErrorList {
	switch count := valuesIn(spec); {
	case len(spec) > maxStored:
		return tooLarge(field.NewPath("spec"), fmt.Sprintf("the spec takes %d KiB, and at most %d KiB are stored: move long texts into ConfigMaps, or split the experiment", len(spec)>>10, maxStored>>10))
	case count > maxValues:
		return tooLarge(field.NewPath("spec"), fmt.Sprintf("the spec has %d values, and at most %d are allowed: split the experiment", count, maxValues))
	default:
		return nil
	}
}

func tooLarge(path *field.Path, sentence string) field.ErrorList {
	return field.ErrorList{field.Forbidden(path, sentence)}
}

// valuesIn counts objects, lists and their values.
func valuesIn(text []byte) int {
	count, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '[' || c == ','):
			count++
		}
	}
	return count
}

// isStoredTooLarge rejects a spec that the webhook would reject.
func isStoredTooLarge(j *judgement, spec *v1alpha1.PerfExperimentSpec) bool {
	faults := Stored(encoded(spec))
	j.refuse(faults...)
	return len(faults) > 0
}

// encoded returns a part of a spec in JSON, which always succeeds.
func encoded(part any) []byte {
	text, _ := json.Marshal(part) //nolint:errchkjson // As the comment above says.
	return text
}

// isTooLarge rejects a declaration whose resolved size is too large, before resolving it.
func isTooLarge(j *judgement, variants []variant, system *v1alpha1.System, base systemPlace) bool {
	before := len(j.errors)
	j.refuse(tooManyTopics(system, base)...)
	sizes, all := sizes{}, 0
	for _, variant := range variants {
		own := sizes.valueSize(system)
		patched := patchedBytes(system.Patches, system)
		for _, written := range variant.sets {
			own += sizes.resolved(written.set, system)
			if written.set != nil {
				patched += patchedBytes(written.set.Patches, system)
			}
		}
		all += own
		switch {
		case own > maxResolved:
			j.refuse(tooLarge(variant.path, fmt.Sprintf("with the settings of arm %q, the system takes %d KiB, and a run stores at most %d KiB: set less for all modules", variant.name, own>>10, maxResolved>>10))...)
		case patched > maxPatched:
			j.refuse(tooLarge(variant.path, patchedTooMuch(fmt.Sprintf("the patches of arm %q", variant.name), patched))...)
		default:
			continue
		}
		break
	}
	if all > maxAllResolved {
		j.refuse(tooLarge(field.NewPath("spec"), fmt.Sprintf("the systems of all arms take %d KiB, and at most %d KiB are compared: remove arms, or set less for all modules", all>>10, maxAllResolved>>10))...)
	}
	return len(j.errors) > before
}

// isTooLargeAlone is isTooLarge for a system without arms.
func isTooLargeAlone(j *judgement, system *v1alpha1.System, base systemPlace) bool {
	j.refuse(tooManyTopics(system, base)...)
	if patched := patchedBytes(system.Patches, system); patched > maxPatched {
		j.refuse(tooLarge(base.path, patchedTooMuch("the system's patches", patched))...)
	}
	return len(j.errors) > 0
}

func patchedTooMuch(whose string, bytes int) string {
	return fmt.Sprintf("%s add %d KiB to the patched objects, and at most %d KiB are allowed: shorten them, or restrict them by name to the objects that need them", whose, bytes>>10, maxPatched>>10)
}

func tooManyTopics(system *v1alpha1.System, base systemPlace) field.ErrorList {
	if system.Kafka == nil {
		return nil
	}
	count := 0
	for _, group := range system.Kafka.Topics {
		count += kafka.CountTopics(group)
	}
	if count <= maxTopics {
		return nil
	}
	return tooLarge(base.of(system, wrong(count, "", setting{"kafka", "topics"})),
		fmt.Sprintf("%sthe groups have %d topics, and a system may have %d: lower count", base.who(), count, maxTopics))
}

// sizes caches the JSON sizes of parts of a declaration.
type sizes map[any]int

// valueSize returns the size of a pointer's target.
func (s sizes) valueSize(part any) int {
	size, known := s[part]
	if !known {
		size = len(encoded(part))
		s[part] = size
	}
	return size
}

// resolved returns the maximum size that a set adds to a system: a set for several modules
// is copied to each of them.
func (s sizes) resolved(set *v1alpha1.SystemSet, system *v1alpha1.System) int {
	if set == nil {
		return 0
	}
	size := s.valueSize(set)
	for i := range set.Modules {
		if copies := arms.Matched(set.Modules[i], system.Modules); copies > 1 {
			size += (copies - 1) * s.valueSize(&set.Modules[i])
		}
	}
	return size
}

// patchedBytes returns the size that patches add to the objects of a system.
func patchedBytes(patches []v1alpha1.Patch, system *v1alpha1.System) int {
	bytes := 0
	for _, patch := range patches {
		objects := 1
		if patch.Name == "" {
			objects = max(1, len(system.Modules))
		}
		bytes += objects * len(patch.Merge.Raw)
	}
	return bytes
}
