// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// writtenPatches are patches, with their path and their owner for messages.
type writtenPatches struct {
	patches []v1alpha1.Patch
	place   func(index int) *field.Path
	who     string
}

// judgePatches validates patches in the systems they apply to: a patch must match an object
// in at least one.
func judgePatches(j *judgement, written writtenPatches, builds []*v1alpha1.System) {
	for i, patch := range written.patches {
		sentence := ""
		if err := environment.PatchFault(patch); err != nil {
			sentence = err.Error()
		} else if misses := patchMissesAll(patch, builds); misses != "" {
			sentence = fmt.Sprintf("the patch of %s changes nothing: %s", patch.Kind, misses)
		}
		if sentence != "" {
			j.refuse(field.Invalid(written.place(i), string(patch.Kind), written.who+sentence))
		}
	}
}

func patchMissesAll(patch v1alpha1.Patch, builds []*v1alpha1.System) string {
	misses := ""
	for _, build := range builds {
		if misses = patchMisses(patch, build); misses == "" {
			return ""
		}
	}
	return misses
}

// patchMisses returns why a patch matches no object in a system; empty if it matches one.
func patchMisses(patch v1alpha1.Patch, system *v1alpha1.System) string {
	switch patch.Kind {
	case "Kafka", "KafkaNodePool":
		return kafkaPatchMisses(patch, system.Kafka)
	case "Cluster", "Pooler":
		return postgresPatchMisses(patch, system.Postgres)
	default:
		return modulePatchMisses(patch, system)
	}
}

func kafkaPatchMisses(patch v1alpha1.Patch, kafka *v1alpha1.Kafka) string {
	switch {
	case kafka == nil || kafka.Provider == v1alpha1.KafkaProviderExternal:
		return fmt.Sprintf("the system has no Kafka that PerfLab runs, so there is no %s; remove the patch", patch.Kind)
	case patch.Kind == "Kafka":
		return takesNoName(patch)
	case patch.Name != "" && patch.Name != "broker" && patch.Name != "controller":
		return fmt.Sprintf("there is no KafkaNodePool %q: write name: broker or name: controller, or omit name for both", patch.Name)
	case patch.Name == "controller" && kafka.Controllers == nil:
		return "there are no separate controllers: declare kafka.controllers, or write name: broker"
	default:
		return ""
	}
}

func postgresPatchMisses(patch v1alpha1.Patch, postgres *v1alpha1.Postgres) string {
	switch {
	case postgres == nil || postgres.Provider == v1alpha1.PostgresProviderExternal:
		return fmt.Sprintf("the system has no PostgreSQL that PerfLab runs, so there is no %s; remove the patch", patch.Kind)
	case patch.Kind == "Pooler" && postgres.Pooler == nil:
		return "there is no Pooler: declare postgres.pooler, or remove the patch"
	default:
		return takesNoName(patch)
	}
}

func takesNoName(patch v1alpha1.Patch) string {
	if patch.Name == "" {
		return ""
	}
	return fmt.Sprintf("the operator names the %s itself: remove name", patch.Kind)
}

func modulePatchMisses(patch v1alpha1.Patch, system *v1alpha1.System) string {
	hasKind := func(module v1alpha1.Module) bool { return renders(module, patch.Kind) }
	at := moduleIndex(system, patch.Name)
	switch {
	case patch.Name == "" && slices.ContainsFunc(system.Modules, hasKind):
		return ""
	case patch.Name == "":
		return fmt.Sprintf("no module of the system is a %s; remove the patch", patch.Kind)
	case at < 0:
		return unknownModule(patch.Name, system)
	case !hasKind(system.Modules[at]):
		return fmt.Sprintf("module %q has no %s that PerfLab renders: write another kind", patch.Name, patch.Kind)
	default:
		return ""
	}
}

// renders reports whether PerfLab renders an object of the kind for a module.
func renders(module v1alpha1.Module, kind v1alpha1.PatchKind) bool {
	if module.WorkloadRef != nil {
		return string(workloadKind(module.WorkloadRef)) == string(kind)
	}
	return kind == "Deployment" || kind == "Service"
}
