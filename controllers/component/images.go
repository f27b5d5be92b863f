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

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete

// imagePulls are the images of a run on the nodes that need them.
type imagePulls struct{ Base }

// Provision pulls the images first, so that a bad image is reported before databases are built.
func (i imagePulls) Provision(ctx context.Context, p *Scope) (Progress, error) {
	others := i.otherImages(p)
	intents := images.Build(p.Request(), others...)
	if err := p.ApplyAll(ctx, intents); err != nil {
		return Progress{}, err
	}
	observed, err := p.observe(ctx, intents, naming.ComponentLabels(p.Run.Spec.Experiment, environment.ComponentImages))
	observed.Pods = NewLineage(p.Experiment).Pods(observed.Pods)
	return Progress{Readiness: images.Assess(observed, others...)}, err
}

// otherImages are the images of a run that are not its modules'.
func (imagePulls) otherImages(p *Scope) []string {
	needed := append(restore.Images(p.Run.Spec.Restore), p.Settings.RunnerImage, p.Settings.StarterImage)
	if p.CollectorImage != "" {
		needed = append(needed, p.CollectorImage)
	}
	for _, fault := range p.Run.Spec.Scenario.Faults {
		// The time of a pull is not that of an upgrade.
		if fault.Restart != nil && fault.Restart.NewImage() != "" {
			needed = append(needed, fault.Restart.NewImage())
		}
	}
	for _, wanted := range p.Run.Spec.Scenario.Loads {
		if image := kinds.ForLoad(wanted).Image(); image != "" {
			needed = append(needed, image)
		}
	}
	return needed
}
