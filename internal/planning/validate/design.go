// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/text/prose"
)

// maxServiceName bounds a Service's name, experiment and module joined by "-", within the
// 63 characters of a host name.
const maxServiceName = 62

func judgeDesign(j *judgement, spec *v1alpha1.PerfExperimentSpec, variants []variant) {
	if blocks := spec.DesignOrDefault().Blocks; blocks < verdict.MinimumBlocks && analysisplan.New(spec).Interim.Last == 0 {
		j.advise("%s %s results, but no verdict: raise design.blocks to %d, now or later",
			prose.Counted(blocks, "block"), prose.Verb(blocks, "gives", "give"), verdict.MinimumBlocks)
	}
	if spec.KeepWarm && spec.Reset == v1alpha1.ResetRecreate {
		j.warn("keepWarm has no effect, because every run rebuilds everything: remove keepWarm, or reset: Recreate")
	}
	if spec.Design.Order == v1alpha1.OrderFixed && len(variants) > 1 {
		j.advise("in a fixed order of runs, any change over time looks like an effect of the arms: set design.order to Randomized to compare them")
	}
	judgeRuns(j, spec, len(variants))
}

// judgeRuns validates the maximum number of runs.
func judgeRuns(j *judgement, spec *v1alpha1.PerfExperimentSpec, arms int) {
	blocks, counted := int(spec.DesignOrDefault().MostBlocks()), prose.Counted(arms, "arm")
	if spec.Design.Calibrate {
		counted += ", the A/A control"
		arms++
	}
	up := ""
	if blocks > int(spec.DesignOrDefault().Blocks) {
		up = "up to "
	}
	runs := arms * len(spec.Scenarios) * blocks
	if allowed := int(spec.Design.MaxRuns); allowed > 0 && runs > allowed {
		j.refuse(field.Invalid(field.NewPath("spec", "design", "maxRuns"), allowed,
			fmt.Sprintf("%s, %s and %s%s make %d runs, more than design.maxRuns of %d: write maxRuns: %d if that is intended, or fewer blocks",
				counted, prose.Counted(len(spec.Scenarios), "scenario"), up, prose.Counted(blocks, "block"), runs, allowed, runs)))
	}
}

func judgeNames(j *judgement, experiment string, system *v1alpha1.System, base systemPlace) {
	for i, module := range system.Modules {
		if module.WorkloadRef != nil || len(experiment)+len(module.Name) <= maxServiceName {
			continue
		}
		path := base.path
		if base.shared == "" {
			path = path.Child("modules").Index(i).Child("name")
		}
		j.refuse(field.Invalid(path, module.Name,
			fmt.Sprintf("%sthe experiment's name and module %q together have %d characters, and %d are allowed: the module's Service is named <experiment>-<module>; shorten one of them",
				base.who(), module.Name, len(experiment)+len(module.Name), maxServiceName)))
	}
}

func judgeRestore(j *judgement, restore *v1alpha1.Restore, system *v1alpha1.System) {
	path := field.NewPath("spec", "restore")
	switch {
	case restore == nil:
	case restore.SQL != nil && system.Postgres == nil:
		j.refuse(field.Forbidden(path.Child("sql"), "restore.sql needs a database, and the system has no postgres: declare system.postgres, or restore by http or job"))
	case restore.HTTP != nil && restore.HTTP.Module != "":
		if !hasModule(system, restore.HTTP.Module) {
			j.refuse(field.Invalid(path.Child("http", "module"), restore.HTTP.Module, "restore.http.module: "+unknownModule(restore.HTTP.Module, system)))
		}
	case restore.HTTP != nil && system.Target.Module == "":
		j.refuse(field.Required(path.Child("http", "module"), "the load's target is not a module of the system: write the module that restores the data"))
	}
}
