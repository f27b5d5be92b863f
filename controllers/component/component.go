// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

// Component is one of the things that have to be so before a run can go on.
// What a component has nothing to say about, the Part in it answers.
type Component interface {
	// Describe names it and the condition that speaks of it.
	Describe() Base
	// RequiredOperators are the operators without which what is declared can't be built.
	RequiredOperators(environment.Request) []Operator
	// Provision builds what is declared, as far as one pass can, and says how
	// far it is.
	Provision(context.Context, *Scope) (Progress, error)
	// Render makes what Provision would apply for a request, and applies nothing.
	Render(context.Context, *Scope, environment.Request) ([]environment.Intent, error)
	// Verify writes into the record what runs, before the loads begin, and says
	// in what it is not what was declared.
	Verify(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error)
	// VerifyAfterLoad does so when the loads are over.
	VerifyAfterLoad(context.Context, *Scope, *v1alpha1.EffectiveSystem) (Verification, error)
	// CountRestarts writes into the record how often it ended under the loads.
	CountRestarts(context.Context, *Scope, *v1alpha1.EffectiveSystem) ([]environment.Restarted, error)
	// TearDown takes away what of it outlives a run.
	TearDown(context.Context, *Teardown) (TeardownState, error)
}

// The components that a run has a step of its own for.
var (
	Images  = imagePulls{Base{Condition: v1alpha1.ConditionImagesAvailable, Name: "the images", labels: []string{environment.ComponentImages}, kinds: fixedKinds(podKind)}}
	Data    = restoredData{Base{Condition: v1alpha1.ConditionDataRestored, Name: "the data"}}
	Modules = moduleSet{Base{Condition: v1alpha1.ConditionModulesReady, Name: "the modules", labels: []string{environment.ComponentModule}, kinds: fixedKinds(moduleKinds...)}}
	Target  = loadTarget{Base{Condition: v1alpha1.ConditionTargetReachable, Name: "the target"}}
)

// Stores are what modules connect to. They come up side by side, before them.
var Stores = []Component{
	kafkaCluster{Base{Condition: v1alpha1.ConditionKafkaReady, Name: "Kafka", labels: []string{environment.ComponentKafka, environment.ComponentTopic}, kinds: kafkaKinds}},
	postgresCluster{Base{Condition: v1alpha1.ConditionPostgresReady, Name: "PostgreSQL", labels: []string{environment.ComponentPostgres}, kinds: fixedKinds(postgresKinds...)}},
}

// All components, in the order in which they come up; they are taken down in the
// opposite one. The conditions of a run, what it waits for, what is proved of it,
// what an experiment shows of its current run and what goes with it come from
// this list.
var All = slices.Concat(
	[]Component{Base{Condition: v1alpha1.ConditionScriptsAvailable, Name: "the scripts"}, Images},
	Stores,
	[]Component{Data, Modules, Target, Base{Condition: v1alpha1.ConditionResultsKept, Name: "the results"}},
)
