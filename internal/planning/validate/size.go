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

// What a declaration may be, as it is stored and as it is resolved. A few bytes can be
// resolved to a lot: a set for all modules is copied to each of them, in each arm.
const (
	// maxStored is what a spec may take as JSON, maxValues how many values it may have: a
	// value of two bytes takes a hundred in memory.
	maxStored = 256 << 10
	maxValues = 8_000
	// maxResolved is what the system of an arm may take, which each run stores, and
	// maxAllResolved that of all arms together.
	maxResolved    = 512 << 10
	maxAllResolved = 8 << 20
	// maxPatched is what the patches of an arm may add to all objects together.
	maxPatched = 4 << 20
	// maxTopics are those of a system.
	maxTopics = 10_000
)

// Stored judges the size of a spec as it is stored, in JSON.
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

// valuesIn counts the objects, lists and what stands in them.
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

// isStoredTooLarge refuses a spec that the webhook would not have had stored.
func isStoredTooLarge(j *judgement, spec *v1alpha1.PerfExperimentSpec) bool {
	faults := Stored(encoded(spec))
	j.refuse(faults...)
	return len(faults) > 0
}

// encoded is a part of a spec in JSON. Nothing in a spec can't be encoded.
func encoded(part any) []byte {
	text, _ := json.Marshal(part) //nolint:errchkjson // As the comment above says.
	return text
}

// isTooLarge refuses what can't be resolved, before it is.
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
			j.refuse(tooLarge(variant.path, fmt.Sprintf("with what arm %q sets, the system takes %d KiB, and a run stores at most %d KiB: set less for all modules", variant.name, own>>10, maxResolved>>10))...)
		case patched > maxPatched:
			j.refuse(tooLarge(variant.path, patchedTooMuch(fmt.Sprintf("the patches of arm %q", variant.name), patched))...)
		default:
			continue
		}
		break
	}
	if all > maxAllResolved {
		j.refuse(tooLarge(field.NewPath("spec"), fmt.Sprintf("the systems of all arms take %d KiB, and at most %d KiB are compared: take arms out, or set less for all modules", all>>10, maxAllResolved>>10))...)
	}
	return len(j.errors) > before
}

// isTooLargeAlone is the same for a system without arms.
func isTooLargeAlone(j *judgement, system *v1alpha1.System, base systemPlace) bool {
	j.refuse(tooManyTopics(system, base)...)
	if patched := patchedBytes(system.Patches, system); patched > maxPatched {
		j.refuse(tooLarge(base.path, patchedTooMuch("the system's patches", patched))...)
	}
	return len(j.errors) > 0
}

func patchedTooMuch(whose string, bytes int) string {
	return fmt.Sprintf("%s add %d KiB to the objects they are for, and at most %d KiB are allowed: shorten them, or name the objects that need them", whose, bytes>>10, maxPatched>>10)
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
		fmt.Sprintf("%sthe groups make %d topics, and a system may have %d: lower count", base.who(), count, maxTopics))
}

// sizes are the bytes of JSON that parts of a declaration take, each worked out once.
type sizes map[any]int

// valueSize is the size of what is pointed at.
func (s sizes) valueSize(part any) int {
	size, known := s[part]
	if !known {
		size = len(encoded(part))
		s[part] = size
	}
	return size
}

// resolved is how much a set adds to a system at most: a set for several modules is
// copied to each of them.
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

// patchedBytes are what patches add to the objects of a system together.
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
