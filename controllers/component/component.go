// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// Component is a part of a run's environment. Types embed Base for the methods that they do not
// need.
type Component interface {
	// Describe returns its name and its condition.
	Describe() Base
	// RequiredOperators returns the third-party operators that the declaration requires.
	RequiredOperators(environment.Request) []Operator
	// Provision builds what is declared, as far as one reconcile can, and reports the progress.
	Provision(context.Context, *Scope) (Progress, error)
	// Render returns what Provision applies for a request, and applies nothing.
	Render(context.Context, *Scope, environment.Request) ([]environment.Intent, error)
	// Verify records the running configuration before the loads start, and returns how it
	// differs from the declaration.
	Verify(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error)
	// VerifyAfterLoad does the same when the loads have finished.
	VerifyAfterLoad(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error)
	// CountRestarts records how often containers ended during the load.
	CountRestarts(context.Context, *Scope, *v1alpha1.EffectiveSystem) ([]environment.Restarted, error)
	// FaultCandidates returns the running pods that a fault may kill; none if the fault targets
	// another component.
	FaultCandidates(context.Context, *Scope, v1alpha1.KillFault) ([]corev1.Pod, error)
	// Restart begins a rolling restart and stores its mark. It returns the stored mark, which may
	// be that of an earlier call; an empty one if the fault targets another component.
	Restart(ctx context.Context, scope *Scope, restart v1alpha1.RestartFault, mark RestartMark) (RestartMark, error)
	// EndRestart takes back what Restart changed besides the pods.
	EndRestart(context.Context, *Scope, v1alpha1.RestartFault) error
	// Switchover asks for a pod to become the primary, and returns since when that is asked for, which
	// is earlier if an earlier call did; zero if the fault is of another component, or another change
	// of the primary is running.
	Switchover(ctx context.Context, scope *Scope, switchover v1alpha1.SwitchoverFault, pod string, now time.Time) (time.Time, error)
	// TearDown deletes what outlives a run.
	TearDown(context.Context, *Teardown) (TeardownState, error)
}

// Images, Data, Modules and Target have steps of their own in a run, and Kafka a fault.
var (
	Kafka   = kafkaCluster{Base{Condition: v1alpha1.ConditionKafkaReady, Name: "Kafka", labels: []string{environment.ComponentKafka, environment.ComponentTopic}, kinds: kafkaKinds}}
	Images  = imagePulls{Base{Condition: v1alpha1.ConditionImagesAvailable, Name: "the images", labels: []string{environment.ComponentImages}, kinds: fixedKinds(podKind)}}
	Data    = restoredData{Base{Condition: v1alpha1.ConditionDataRestored, Name: "the data"}}
	Modules = moduleSet{Base{Condition: v1alpha1.ConditionModulesReady, Name: "the modules", labels: []string{environment.ComponentModule}, kinds: fixedKinds(moduleKinds...)}}
	Target  = loadTarget{Base{Condition: v1alpha1.ConditionTargetReachable, Name: "the target"}}
)

// Stores are the servers that modules connect to. They are provisioned concurrently, before the
// modules.
var Stores = []Component{
	Kafka,
	postgresCluster{Base{Condition: v1alpha1.ConditionPostgresReady, Name: "PostgreSQL", labels: []string{environment.ComponentPostgres}, kinds: fixedKinds(postgresKinds...)}},
}

// All components, in the order in which they are provisioned; teardown is in reverse order. The
// conditions of a run, its waits and verification, the experiment's conditions of its current
// run, and the teardown iterate over this list.
var All = slices.Concat(
	[]Component{Base{Condition: v1alpha1.ConditionScriptsAvailable, Name: "the scripts"}, Images},
	Stores,
	[]Component{Data, Modules, Target, Base{Condition: v1alpha1.ConditionResultsKept, Name: "the results"}},
)
