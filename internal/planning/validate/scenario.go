// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// judgeLogins rejects loads that log in without a declared login.
func judgeLogins(j *judgement, scenarios []v1alpha1.Scenario, target v1alpha1.Target) {
	if target.CredentialsSecret.Name != "" {
		return
	}
	for i, scenario := range scenarios {
		for n, load := range scenario.Loads {
			if kinds.ForLoad(load).IsFOLIO() {
				j.refuse(field.Required(field.NewPath("spec", "scenarios").Index(i).Child("loads").Index(n), fmt.Sprintf(
					"load %q logs in, and the system has no credentials: set target.credentialsSecret: {name: …} in the system, a Secret with the keys username and password", load.Name)))
			}
		}
	}
}

func judgeScenarios(j *judgement, scenarios []v1alpha1.Scenario, scripts *scripts) {
	for i, scenario := range scenarios {
		loads := field.NewPath("spec", "scenarios").Index(i).Child("loads")
		for n, load := range scenario.Loads {
			judgeName(j, load.Name, loads.Index(n).Child("name"))
			judgeAfter(j, scenario.Loads, load, loads.Index(n).Child("after"))
			judgeParallel(j, scenario, load, loads.Index(n).Child("dataImport", "parallel"))
			for _, finding := range resourceFindings(title("load", load.Name), load.Resources, setting{"resources"}) {
				j.report(finding, childPath(loads.Index(n), finding.settings[0]), "")
			}
			faults, warnings := kinds.ForLoad(load).Validate(loads.Index(n), scripts.configMaps)
			j.refuse(faults...)
			for _, warning := range warnings {
				j.add(Warning{Warning: warning})
			}
			judgeTransactions(j, loads.Index(n), load, scripts)
		}
	}
}

// judgeName rejects loads whose metrics would look like those of servers.
func judgeName(j *judgement, load string, place *field.Path) {
	if metric.Reserved(load) {
		j.refuse(field.Invalid(place, load, fmt.Sprintf(
			"the metrics of load %q cannot be distinguished from those of servers: rename it, for example %s-load", load, load)))
	}
}

// judgeAfter rejects cycles of loads.
func judgeAfter(j *judgement, loads []v1alpha1.Load, load v1alpha1.Load, place *field.Path) {
	at := load
	for range loads {
		if at.After == "" {
			return
		}
		next := named(loads, at.After)
		if next == nil {
			return // The API server rejects it.
		}
		at = *next
	}
	j.refuse(field.Invalid(place, load.After,
		fmt.Sprintf("load %q never starts: it waits for %q, which in turn waits for it; remove after from one of them", load.Name, load.After)))
}

// judgeParallel rejects parallel imports of fewer files. With a capacity, the levels are their number.
func judgeParallel(j *judgement, scenario v1alpha1.Scenario, load v1alpha1.Load, place *field.Path) {
	imports := load.DataImport
	if imports == nil || imports.Parallel <= max(1, imports.Imports) {
		return
	}
	if scenario.Capacity != nil {
		if stepped, found := scenario.Capacity.LoadOf(scenario.Loads); found && stepped.Name == load.Name {
			return
		}
	}
	j.refuse(field.Invalid(place, imports.Parallel, fmt.Sprintf("load %q has %s: set dataImport.imports to %d or more",
		load.Name, prose.Counted(max(1, imports.Imports), "file"), imports.Parallel)))
}

func named(loads []v1alpha1.Load, name string) *v1alpha1.Load {
	for i := range loads {
		if loads[i].Name == name {
			return &loads[i]
		}
	}
	return nil
}

func childPath(path *field.Path, below setting) *field.Path {
	return path.Child(below[0], below[1:]...)
}
