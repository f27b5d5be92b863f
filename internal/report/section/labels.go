// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
)

// labels are what a page calls arms, by their names. Arms that are called by their names
// have none.
type labels map[string]string

// newLabels are the display names of an experiment's arms; of a matrix, what
// their levels are. Two arms of one label have their names as well.
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

// labelTwin calls the twin of a baseline with a label by that.
func (l labels) labelTwin(all []v1alpha1.ArmStatus) {
	baseline := slices.IndexFunc(all, func(one v1alpha1.ArmStatus) bool { return one.Baseline })
	twin := slices.IndexFunc(all, func(one v1alpha1.ArmStatus) bool { return one.Twin })
	if baseline < 0 || twin < 0 || l[all[baseline].Name] == "" {
		return
	}
	l[all[twin].Name] = l[all[baseline].Name] + " (twin)"
}

// label an arm, or its name.
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

// apply is what was recorded, with arms called as the page calls them.
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
