// SPDX-License-Identifier: Apache-2.0

// Package validate validates what the API server's rules can't: relations between parts of
// a declaration, and its resolved arms. It is pure. Admission, planning and the
// experiment's reconciler use it.
//
// Errors stop an experiment. Warnings describe limits of its results.
package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
)

// judgement collects findings.
type judgement struct {
	errors   field.ErrorList
	warnings Warnings
}

func (j *judgement) refuse(errors ...*field.Error) { j.errors = append(j.errors, errors...) }

func (j *judgement) warn(format string, values ...any) {
	j.add(Warning{Warning: kind.Warning{Message: fmt.Sprintf(format, values...)}})
}

// advise another design.
func (j *judgement) advise(format string, values ...any) {
	j.add(Warning{Warning: kind.Warning{Message: fmt.Sprintf(format, values...)}, AboutDesign: true})
}

func (j *judgement) add(warning Warning) {
	if !slices.Contains(j.warnings, warning) {
		j.warnings = append(j.warnings, warning)
	}
}

// Known are the referenced objects of an experiment, as far as they are readable.
type Known struct {
	// System of the systemRef; if nil, only fields that need no system are validated.
	System *v1alpha1.System
	// ConfigMaps with scripts.
	ConfigMaps kind.ConfigMaps
	// NoAccounts means that the operator writes with its own permissions, whichever ServiceAccount
	// is named.
	NoAccounts bool
}

// Experiment validates an experiment, over its inline system if it has one.
func Experiment(experiment *v1alpha1.PerfExperiment, known Known) (field.ErrorList, Warnings) {
	spec, system, found := &experiment.Spec, known.System, &judgement{}
	scripts := newScripts(spec.Scenarios, known.ConfigMaps)
	base := systemPlace{path: field.NewPath("spec", "system")}
	if spec.SystemRef == nil {
		system = &spec.System
	} else {
		base = systemPlace{path: field.NewPath("spec", "systemRef", "name"), shared: spec.SystemRef.Name}
	}
	if isStoredTooLarge(found, spec) {
		return found.errors, found.warnings
	}
	judgeAccount(found, spec.ServiceAccountName, known)
	judgeMatrix(found, spec.Matrix)
	// An invalid matrix gives no useful arms, or too many.
	variants := listVariants(spec, len(found.errors) == 0)
	judgeSets(found, variants)
	judgeScenarios(found, spec.Scenarios, scripts)
	judgeCapacities(found, spec, scripts)
	judgeFaults(found, spec)
	judgeNotes(found, spec.Notes, spec.Scenarios)
	judgeDesign(found, spec, variants)
	judgeAnalysis(found, spec, variants, scripts)
	if system == nil || isTooLarge(found, variants, system, base) {
		return found.errors, found.warnings
	}
	judgeNames(found, experiment.Name, system, base)
	judgeTopicNames(found, experiment.Name, system, base)
	judgeRestore(found, spec.Restore, system)
	judgeLogins(found, spec.Scenarios, system.Target)
	judgeReferences(found, variants, system)
	resolved := make([]*v1alpha1.System, 0, len(variants))
	for _, variant := range variants {
		changed := variant.over(*system)
		resolved = append(resolved, &changed)
	}
	wrongs := func(system *v1alpha1.System) []finding {
		return append(resolvedFindings(system), prometheusFindings(system, spec.Measurement)...)
	}
	judgeSystem(found, wrongs, resolved, system, base)
	judgeArms(found, wrongs, variants, resolved, system)
	judgeFaultTargets(found, spec.Scenarios, resolved)
	judgeComparison(found, spec, variants, resolved, system)
	judgeLane(found, spec.Lane, resolved)
	return found.errors, found.warnings
}

// judgeAccount rejects a ServiceAccount that would be ignored: its author would rely on its
// permissions.
func judgeAccount(found *judgement, name string, known Known) {
	if name != "" && known.NoAccounts {
		found.refuse(field.Forbidden(field.NewPath("spec", "serviceAccountName"),
			"this operator writes with its own permissions, not with those of ServiceAccounts: remove serviceAccountName, or ask for an operator with --act-as-author"))
	}
}

// System validates a system by itself, at its path in the object that contains it.
func System(system *v1alpha1.System, path *field.Path) (field.ErrorList, Warnings) {
	found, base := &judgement{}, systemPlace{path: path}
	if isTooLargeAlone(found, system, base) {
		return found.errors, found.warnings
	}
	for _, finding := range resolvedFindings(system) {
		found.report(finding, base.of(system, finding), "")
	}
	judgePatches(found, base.patches(system), []*v1alpha1.System{system})
	return found.errors, found.warnings
}

// report turns a finding into an error or a warning, prefixed with the component unless it
// is the system itself.
func (j *judgement) report(finding finding, place *field.Path, who string) {
	sentence := who + finding.sentence
	if finding.warning {
		j.add(Warning{Warning: kind.Warning{Message: sentence, Path: place.String()}})
		return
	}
	j.refuse(field.Invalid(place, finding.value, sentence))
}

// judgeSystem validates the system itself.
func judgeSystem(j *judgement, wrongs func(*v1alpha1.System) []finding, resolved []*v1alpha1.System, system *v1alpha1.System, base systemPlace) {
	for _, finding := range wrongs(system) {
		j.report(finding, base.of(system, finding), base.who())
	}
	judgePatches(j, base.patches(system), append(slices.Clone(resolved), system))
}

// judgeArms validates the resolved arms, without the findings of the system itself.
func judgeArms(j *judgement, wrongs func(*v1alpha1.System) []finding, variants []variant, resolved []*v1alpha1.System, system *v1alpha1.System) {
	known := map[string]bool{}
	for _, finding := range wrongs(system) {
		known[finding.sentence] = true
	}
	met := &repeatedFindings{}
	for i, variant := range variants {
		for _, finding := range wrongs(resolved[i]) {
			if !known[finding.sentence] {
				met.add(finding, variant.place(finding), variant.name)
			}
		}
	}
	for _, meeting := range met.all {
		j.report(meeting.finding, meeting.place, meeting.who())
	}
	for _, written := range writtenSets(variants) {
		judgePatches(j, written.patches(), buildsWith(written, variants, resolved))
	}
}

// buildsWith returns the systems of the variants that contain the set.
func buildsWith(written writtenSet, variants []variant, resolved []*v1alpha1.System) []*v1alpha1.System {
	var builds []*v1alpha1.System
	for i, variant := range variants {
		if slices.ContainsFunc(variant.sets, func(other writtenSet) bool { return other.set == written.set }) {
			builds = append(builds, resolved[i])
		}
	}
	return builds
}

// repeatedFindings merges findings of arms, each with the arms that have it.
type repeatedFindings struct{ all []*repeatedFinding }

type repeatedFinding struct {
	finding finding
	place   *field.Path
	arms    []string
}

func (m *repeatedFindings) add(finding finding, place *field.Path, arm string) {
	for _, known := range m.all {
		if known.finding.sentence == finding.sentence && known.place.String() == place.String() {
			known.arms = append(known.arms, arm)
			return
		}
	}
	m.all = append(m.all, &repeatedFinding{finding: finding, place: place, arms: []string{arm}})
}

func (m *repeatedFinding) who() string {
	if len(m.arms) == 1 {
		return fmt.Sprintf("arm %q: ", m.arms[0])
	}
	return "arms " + quoted(m.arms) + ": "
}

// judgeComparison warns of arms that limit conclusions.
func judgeComparison(j *judgement, spec *v1alpha1.PerfExperimentSpec, variants []variant, resolved []*v1alpha1.System, system *v1alpha1.System) {
	if len(j.errors) > 0 {
		// Compare only arms that can be built.
		return
	}
	first := map[string]string{}
	for i, variant := range variants {
		digest := naming.Hash(resolved[i])
		if twin, seen := first[digest]; seen {
			j.warn("arm %q is the same as arm %q, so any difference between them is noise: give it a set that changes something, or remove it", variant.name, twin)
			continue
		}
		first[digest] = variant.name
	}
	for _, confounded := range arms.ConfoundedArms(spec, *system) {
		j.warn("%s", confounded.Warning())
	}
}
