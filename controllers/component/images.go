// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/images"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/naming"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// imagePulls are all images a run needs, on the nodes that need them.
type imagePulls struct{ Part }

// Provision looks whether the images can be pulled, before people have waited
// for databases that nothing will use.
func (i imagePulls) Provision(ctx context.Context, p *Pass) (Progress, error) {
	others := i.others(p)
	intents := images.Build(p.Request(), others...)
	if err := p.ApplyAll(ctx, intents); err != nil {
		return Progress{}, err
	}
	observed, err := p.observe(ctx, intents, naming.ComponentLabels(p.Run.Spec.Experiment, environment.ComponentImages))
	observed.Pods = LineageOf(p.Experiment).Pods(observed.Pods)
	return Progress{Readiness: images.Assess(observed, others...)}, err
}

// others are the images a run needs beside its modules'.
func (imagePulls) others(p *Pass) []string {
	needed := append(restore.Images(p.Run.Spec.Restore), p.Settings.RunnerImage, p.Settings.StarterImage)
	if p.CollectorImage != "" {
		needed = append(needed, p.CollectorImage)
	}
	for _, wanted := range p.Run.Spec.Scenario.Loads {
		if image := kinds.ForLoad(wanted).Image(); image != "" {
			needed = append(needed, image)
		}
	}
	return needed
}
