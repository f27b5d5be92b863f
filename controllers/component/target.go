// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/text/prose"
)

// ProbeInterval is the time between two probes of a server that does not respond.
const ProbeInterval = 2 * time.Second

// loadTarget is the target of the loads' requests.
type loadTarget struct{ Base }

// RequiredOperators returns k6-operator.
func (loadTarget) RequiredOperators(environment.Request) []Operator {
	return []Operator{{contract.TestRunKind.GroupKind(), "k6-operator"}}
}

// Provision checks that the target responds.
func (loadTarget) Provision(ctx context.Context, p *Scope) (Progress, error) {
	readiness := environment.Ready("the target answers")
	if err := p.Target.Reach(ctx, healthURL(p.Run)); err != nil {
		readiness = unreachable("the target does not answer", err)
	}
	return Progress{Readiness: readiness, RequeueAfter: ProbeInterval}, nil
}

// unreachable is the readiness of a server after a failed request.
func unreachable(who string, err error) environment.Readiness {
	var denied *egress.Denied
	if errors.As(err, &denied) {
		return environment.NotReady(v1alpha1.ReasonTargetDenied, who+": "+denied.Error())
	}
	return environment.NotReady(v1alpha1.ReasonUnreachable, who+": "+prose.Sentence(err.Error()))
}

// TargetURL is the base URL of the load's requests.
func TargetURL(run *v1alpha1.PerfRun) string {
	target := run.Spec.System.Target
	if target.URL != "" {
		return target.URL
	}
	// Admission refuses a target that names no module.
	return moduleURL(run, target.Module)
}

// moduleURL is the URL of a module, or empty if there is none with the name.
func moduleURL(run *v1alpha1.PerfRun, name string) string {
	for _, module := range run.Spec.System.Modules {
		if module.Name == name {
			return environment.ModuleURL(run.Namespace, run.Spec.Experiment, module)
		}
	}
	return ""
}

func healthURL(run *v1alpha1.PerfRun) string {
	for _, module := range run.Spec.System.Modules {
		if module.Name == run.Spec.System.Target.Module {
			return TargetURL(run) + module.HealthPath
		}
	}
	return TargetURL(run)
}
