// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/decimal"
)

// Large generates an experiment of any number of arms, scenarios and blocks, with runs like
// those of Experiment under concurrent users. It keeps all data of the first block, so that
// each arm has a line in each chart, and only the status of the others.
func Large(seed uint64, arms, scenarios, blocks int) report.Input {
	pattern := hasConcurrentUsers(Experiment(seed))
	g := &generator{random: rand.New(rand.NewPCG(seed, 11)), at: startTime}
	g.input.Experiment = largeExperiment(pattern, arms, scenarios, blocks)
	spec := &g.input.Experiment.Spec
	for block := range blocks {
		for _, scenario := range spec.Scenarios {
			for at, arm := range spec.Arms {
				from := pattern.Runs[(block+at)%len(pattern.Runs)]
				g.repeat(pattern, from, block, arm.Name, scenario, 1+0.02*float64(at))
			}
		}
	}
	return g.input
}

// hasConcurrentUsers keeps the valid runs under concurrent users.
func hasConcurrentUsers(input report.Input) report.Input {
	pattern := report.Input{Experiment: input.Experiment, Raw: input.Raw}
	for _, run := range input.Runs {
		if run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Scenario.Name == ConcurrentScenario {
			pattern.Runs = append(pattern.Runs, run)
		}
	}
	return pattern
}

func largeExperiment(pattern report.Input, arms, scenarios, blocks int) v1alpha1.PerfExperiment {
	made := *pattern.Experiment.DeepCopy()
	beside := made.Spec.Scenarios[1]
	made.Spec.Arms, made.Spec.Scenarios, made.Status.Arms = nil, nil, nil
	for at := range arms {
		name := fmt.Sprintf("arm-%02d", at+1)
		made.Spec.Arms = append(made.Spec.Arms, v1alpha1.Arm{Name: name, Baseline: at == 0})
		made.Status.Arms = append(made.Status.Arms, v1alpha1.ArmStatus{Name: name, Baseline: at == 0})
	}
	for at := range scenarios {
		scenario := *beside.DeepCopy()
		scenario.Name = fmt.Sprintf("users-%02d", at+1)
		made.Spec.Scenarios = append(made.Spec.Scenarios, scenario)
	}
	made.Spec.Design.Blocks, made.Spec.Design.Calibrate = int32(blocks), false //nolint:gosec // A few.
	return made
}

// repeat copies a run under another name, with values that differ by a factor and noise.
func (g *generator) repeat(pattern report.Input, from v1alpha1.PerfRun, block int, arm string, scenario v1alpha1.Scenario, factor float64) {
	run := *from.DeepCopy()
	position := int32(len(g.input.Runs) + 1) //nolint:gosec // Some thousands.
	run.Name = naming.Long.Run(Name, int32(block+1), arm, scenario.Name, 1)
	run.Spec.Block, run.Spec.Position, run.Spec.Attempt = int32(block+1), position, 1 //nolint:gosec // A few.
	run.Spec.Arm, run.Spec.Scenario = arm, scenario
	run.Labels = naming.RunLabels(&run)
	for i := range run.Status.Observations {
		one := &run.Status.Observations[i]
		if value, err := decimal.Parse(one.Value); err == nil {
			one.Value = decimal.Format(value * factor * g.noise(0.01))
		}
	}
	if block == 0 {
		g.repeatRaw(pattern, from.Name, &run)
	} else {
		run.Status.RawResults, run.Status.Servers.RawSamples = "", ""
	}
	g.at = g.at.Add(25 * time.Minute)
	run.CreationTimestamp = metav1.NewTime(g.at)
	g.input.Runs = append(g.input.Runs, run)
}

func (g *generator) repeatRaw(pattern report.Input, from string, run *v1alpha1.PerfRun) {
	run.Status.RawResults, run.Status.Servers.RawSamples = naming.RawResults(run.Name), naming.RawSamples(run.Name)
	for _, raw := range pattern.Raw {
		if raw.Labels[v1alpha1.LabelRun] != from {
			continue
		}
		kept := *raw.DeepCopy()
		kept.Name, kept.Labels = run.Status.RawResults, run.Labels
		if raw.Name == naming.RawSamples(from) {
			kept.Name = run.Status.Servers.RawSamples
		}
		g.input.Raw = append(g.input.Raw, kept)
	}
}
