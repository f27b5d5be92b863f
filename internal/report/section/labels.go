// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
)

// labels are the labels of arms on a page, by their names. Arms without one show their names.
type labels map[string]string

// newLabels are the display names of an experiment's arms, or in a matrix their levels. If two
// arms have the same label, it includes their names.
func newLabels(experiment *v1alpha1.PerfExperiment) labels {
	wanted := declaredLabels(&experiment.Spec)
	times := map[string]int{}
	for _, label := range wanted {
		times[label]++
	}
	found := labels{}
	for name, label := range wanted {
		_, isName := wanted[label]
		if times[label] > 1 || isName && label != name {
			label += " (" + name + ")"
		}
		if label != name {
			found[name] = label
		}
	}
	found.labelTwin(experiment.Status.Arms)
	return found
}

func declaredLabels(spec *v1alpha1.PerfExperimentSpec) map[string]string {
	wanted := map[string]string{}
	for _, arm := range spec.Arms {
		wanted[arm.Name] = cmp.Or(strings.TrimSpace(arm.DisplayName), arm.Name)
	}
	if spec.Matrix == nil {
		return wanted
	}
	for _, combination := range arms.Combinations(spec.Matrix) {
		var levels []string
		for i := range combination.Levels {
			levels = append(levels, levelLabel(&combination.Levels[i]))
		}
		wanted[combination.Name] = strings.Join(levels, " / ")
	}
	return wanted
}

func levelLabel(level *v1alpha1.Level) string {
	return cmp.Or(strings.TrimSpace(level.DisplayName), level.Name)
}

// labelTwin derives the label of the A/A control from the baseline's label.
func (l labels) labelTwin(all []v1alpha1.ArmStatus) {
	baseline := slices.IndexFunc(all, func(one v1alpha1.ArmStatus) bool { return one.Baseline })
	twin := slices.IndexFunc(all, func(one v1alpha1.ArmStatus) bool { return one.Twin })
	if baseline < 0 || twin < 0 || l[all[baseline].Name] == "" {
		return
	}
	l[all[twin].Name] = l[all[baseline].Name] + " (A/A control)"
}

// label is an arm's label, or its name.
func (l labels) label(name string) string { return cmp.Or(l[name], name) }

// armName is the name of the arm with a label.
func (l labels) armName(label string) string {
	for name, known := range l {
		if known == label {
			return name
		}
	}
	return label
}

// apply returns the input with the labels of arms as their names.
func (l labels) apply(input Input) Input {
	if len(l) == 0 {
		return input
	}
	input.Experiment = *input.Experiment.DeepCopy()
	for i := range input.Experiment.Spec.Arms {
		one := &input.Experiment.Spec.Arms[i]
		one.Name = l.label(one.Name)
	}
	for i := range input.Experiment.Status.Arms {
		one := &input.Experiment.Status.Arms[i]
		one.Name = l.label(one.Name)
	}
	input.Runs = slices.Clone(input.Runs)
	for i := range input.Runs {
		input.Runs[i].Spec.Arm = l.label(input.Runs[i].Spec.Arm)
	}
	return input
}
