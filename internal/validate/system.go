// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// findings are everything wrong with a system. Patches are judged by all the
// systems that are built from this one: a patch has to fit one of them.
func findings(system *v1alpha1.System, builds []v1alpha1.System) []finding {
	var found []finding
	found = append(found, kafkaFindings(system.Kafka)...)
	found = append(found, postgresFindings(system)...)
	found = append(found, workloadFindings(system)...)
	for i := range system.Modules {
		found = append(found, moduleFindings(&system.Modules[i])...)
	}
	for i, patch := range system.Patches {
		found = append(found, patchFindings(i, patch, builds)...)
	}
	return found
}

// workloadFindings: a workload that two modules borrow would be changed twice.
func workloadFindings(system *v1alpha1.System) []finding {
	var found []finding
	borrower := map[string]string{}
	for _, module := range system.Modules {
		if module.WorkloadRef == nil {
			continue
		}
		workload := fmt.Sprintf("%s %q", kindOf(module.WorkloadRef), module.WorkloadRef.Name)
		if first, taken := borrower[workload]; taken {
			found = append(found, wrong(module.WorkloadRef.Name,
				fmt.Sprintf("module %q borrows %s, which module %q borrows already: name another workload, or take one of the modules out", module.Name, workload, first),
				setting{"modules", module.Name, "workloadRef", "name"}))
			continue
		}
		borrower[workload] = module.Name
	}
	return found
}

func kindOf(ref *v1alpha1.WorkloadRef) v1alpha1.WorkloadKind {
	if ref.Kind == "" {
		return v1alpha1.WorkloadDeployment
	}
	return ref.Kind
}

func patchFindings(index int, patch v1alpha1.Patch, builds []v1alpha1.System) []finding {
	place := setting{"patches"}
	if err := environment.PatchFault(patch); err != nil {
		return []finding{wrong(string(patch.Kind), fmt.Sprintf("patch %d: %v", index+1, err), place)}
	}
	unfit := ""
	for i := range builds {
		if unfit = patchMisses(patch, &builds[i]); unfit == "" {
			return nil
		}
	}
	return []finding{wrong(string(patch.Kind), fmt.Sprintf("patch %d changes nothing: %s", index+1, unfit), place)}
}

// patchMisses says why a patch finds no object in a system; empty when it
// finds one.
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
		return fmt.Sprintf("the system has no Kafka that PerfLab runs, so there is no %s; take the patch out", patch.Kind)
	case patch.Kind == "Kafka":
		return takesNoName(patch)
	case patch.Name != "" && patch.Name != "broker" && patch.Name != "controller":
		return fmt.Sprintf("there is no KafkaNodePool %q: write name: broker or name: controller, or leave name out for both", patch.Name)
	case patch.Name == "controller" && kafka.Controllers == nil:
		return "there are no controllers of their own: declare kafka.controllers, or write name: broker"
	default:
		return ""
	}
}

func postgresPatchMisses(patch v1alpha1.Patch, postgres *v1alpha1.Postgres) string {
	switch {
	case postgres == nil || postgres.Provider == v1alpha1.PostgresProviderExternal:
		return fmt.Sprintf("the system has no PostgreSQL that PerfLab runs, so there is no %s; take the patch out", patch.Kind)
	case patch.Kind == "Pooler" && postgres.Pooler == nil:
		return "there is no Pooler: declare postgres.pooler, or take the patch out"
	default:
		return takesNoName(patch)
	}
}

func takesNoName(patch v1alpha1.Patch) string {
	if patch.Name == "" {
		return ""
	}
	return fmt.Sprintf("the operator names the %s itself: leave name out", patch.Kind)
}

func modulePatchMisses(patch v1alpha1.Patch, system *v1alpha1.System) string {
	hasKind := func(module v1alpha1.Module) bool { return renders(module, patch.Kind) }
	at := slices.IndexFunc(system.Modules, func(module v1alpha1.Module) bool { return module.Name == patch.Name })
	switch {
	case patch.Name == "" && slices.ContainsFunc(system.Modules, hasKind):
		return ""
	case patch.Name == "":
		return fmt.Sprintf("no module of the system is a %s; take the patch out", patch.Kind)
	case at < 0:
		return unknownModule(patch.Name, system)
	case !hasKind(system.Modules[at]):
		return fmt.Sprintf("module %q has no %s that PerfLab renders: write another kind", patch.Name, patch.Kind)
	default:
		return ""
	}
}

// renders says whether an object of the kind is written for a module.
func renders(module v1alpha1.Module, kind v1alpha1.PatchKind) bool {
	if module.WorkloadRef != nil {
		return string(kindOf(module.WorkloadRef)) == string(kind)
	}
	return kind == "Deployment" || kind == "Service"
}

func unknownModule(name string, system *v1alpha1.System) string {
	names := make([]string, 0, len(system.Modules))
	for _, module := range system.Modules {
		names = append(names, module.Name)
	}
	return fmt.Sprintf("the system has no module %q: write one it has (%s)", name, environment.Enumerate(names))
}

func title(what, name string) string { return fmt.Sprintf("%s %q", what, name) }

// quoted lists names in a sentence, cut to what a reader takes in at once.
func quoted(names []string) string {
	marked := make([]string, 0, len(names))
	for _, name := range names {
		marked = append(marked, fmt.Sprintf("%q", name))
	}
	return environment.Enumerate(marked)
}
