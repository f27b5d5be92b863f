// SPDX-License-Identifier: Apache-2.0

// Package bisect makes the experiment that tells which of the differences between
// two systems it is that made a metric change: an arm for each of them, and one
// for all. It is pure.
package bisect

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
)

// ErrAlike says that there is nothing an arm could set.
var ErrAlike = errors.New("the two systems differ in nothing that an arm can set")

// The arms that are always there.
const (
	Before = "before"
	After  = "after"
)

// Part is what one arm sets of the differences.
type Part struct {
	// Name of the arm: the component, or the module.
	Name string
	Set  v1alpha1.SystemSet
	// Differences it makes to the system before.
	Differences []v1alpha1.Difference
}

// Plan is how the differences between two systems are told apart.
type Plan struct {
	// Parts, each with an arm of its own; one alone is all there is.
	Parts []Part
	// Left are differences that no arm can set, such as a module that is new.
	Left []v1alpha1.Difference

	// all sets what all parts set.
	all v1alpha1.SystemSet
}

// New splits what differs between two systems into no more parts than said, by
// component: Kafka, PostgreSQL, and each module; several modules share a part
// where there are more. It fails with ErrAlike where no arm can set anything.
func New(before, after v1alpha1.System, most int) (*Plan, error) {
	plan := &Plan{}
	for _, part := range split(before, after) {
		part.Differences = arms.Differences(before, arms.Resolve(before, &part.Set))
		if len(part.Differences) > 0 {
			plan.Parts = append(plan.Parts, part)
		}
	}
	if len(plan.Parts) == 0 {
		return nil, ErrAlike
	}
	plan.all = joined(plan.Parts).Set
	plan.Left = arms.Differences(arms.Resolve(before, &plan.all), after)
	plan.Parts = gathered(plan.Parts, most)
	return plan, nil
}

// Arms of the experiment: the system as it was, as it is, and with each part.
func (p *Plan) Arms() []v1alpha1.Arm {
	made := []v1alpha1.Arm{{Name: Before, Baseline: true}, {Name: After, Set: p.all.DeepCopy()}}
	if len(p.Parts) == 1 {
		return made
	}
	for i := range p.Parts {
		made = append(made, v1alpha1.Arm{Name: p.Parts[i].Name, Set: p.Parts[i].Set.DeepCopy()})
	}
	return made
}

// split gives each component what the system after has and the one before has
// not. A part that sets nothing has no differences.
func split(before, after v1alpha1.System) []Part {
	var parts []Part
	if before.Kafka != nil && after.Kafka != nil {
		parts = append(parts, Part{Name: "kafka", Set: v1alpha1.SystemSet{Kafka: kafkaSet(before.Kafka, after.Kafka)}})
	}
	if before.Postgres != nil && after.Postgres != nil {
		parts = append(parts, Part{Name: "postgres", Set: v1alpha1.SystemSet{Postgres: postgresSet(before.Postgres, after.Postgres)}})
	}
	for i := range after.Modules {
		now := &after.Modules[i]
		at := slices.IndexFunc(before.Modules, func(m v1alpha1.Module) bool { return m.Name == now.Name })
		if at >= 0 {
			set := v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{moduleSet(&before.Modules[at], now)}}
			parts = append(parts, Part{Name: armName(now.Name), Set: set})
		}
	}
	return parts
}

// armName keeps a module's name apart from the arms that are always there.
func armName(module string) string {
	if slices.Contains([]string{Before, After, "kafka", "postgres"}, module) {
		return "module-" + module
	}
	return module
}

// changed is the value after, where it differs from the one before.
func changed[T any](before, after T) (value T) {
	if equality.Semantic.DeepEqual(before, after) {
		return value
	}
	return after
}

// pointed is the same for what a set has as a pointer and a system has not.
func pointed[T any](before, after T) *T {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return &after
}

// changedKeys are those that are new or have another value. One that is gone can't
// be set.
func changedKeys(before, after map[string]string) map[string]string {
	set := maps.Clone(after)
	maps.DeleteFunc(set, func(key, value string) bool {
		old, known := before[key]
		return known && old == value
	})
	if len(set) == 0 {
		return nil
	}
	return set
}

func kafkaSet(before, after *v1alpha1.Kafka) *v1alpha1.KafkaSet {
	set := &v1alpha1.KafkaSet{
		Mode: changed(before.Mode, after.Mode), Version: changed(before.Version, after.Version),
		Brokers: pointed(before.Brokers, after.Brokers), Controllers: changed(before.Controllers, after.Controllers),
		ZooKeeper: changed(before.ZooKeeper, after.ZooKeeper), External: changed(before.External, after.External),
		Config: changedKeys(before.Config, after.Config),
	}
	for i := range after.Topics {
		now := &after.Topics[i]
		at := slices.IndexFunc(before.Topics, func(g v1alpha1.TopicGroup) bool { return g.Group == now.Group })
		if at < 0 {
			continue
		}
		old := &before.Topics[at]
		group := v1alpha1.TopicGroupSet{
			Partitions: pointed(old.Partitions, now.Partitions), Replicas: pointed(old.Replicas, now.Replicas),
			Config: changedKeys(old.Config, now.Config),
		}
		if !equality.Semantic.DeepEqual(group, v1alpha1.TopicGroupSet{}) {
			group.Group = now.Group
			set.Topics = append(set.Topics, group)
		}
	}
	return set
}

func postgresSet(before, after *v1alpha1.Postgres) *v1alpha1.PostgresSet {
	return &v1alpha1.PostgresSet{
		Instances: pointed(before.Instances, after.Instances), ReadWriteSplit: changed(before.ReadWriteSplit, after.ReadWriteSplit),
		Image: changed(before.Image, after.Image), External: changed(before.External, after.External),
		Pooler: changed(before.Pooler, after.Pooler), Resources: pointed(before.Resources, after.Resources),
		Placement: changed(before.Placement, after.Placement), Parameters: changedKeys(before.Parameters, after.Parameters),
	}
}

func moduleSet(before, after *v1alpha1.Module) v1alpha1.ModuleSet {
	set := v1alpha1.ModuleSet{
		Name:  after.Name,
		Image: changed(before.Image, after.Image), Replicas: changed(before.Replicas, after.Replicas),
		Resources: pointed(before.Resources, after.Resources), JVM: changed(before.JVM, after.JVM),
		Placement: changed(before.Placement, after.Placement),
	}
	for _, variable := range after.Env {
		same := func(old corev1.EnvVar) bool { return equality.Semantic.DeepEqual(old, variable) }
		if !slices.ContainsFunc(before.Env, same) {
			set.Env = append(set.Env, variable)
		}
	}
	return set
}

// joined sets what all parts set. No two of them set the same.
func joined(parts []Part) Part {
	var all Part
	for _, part := range parts {
		if part.Set.Kafka != nil {
			all.Set.Kafka = part.Set.Kafka
		}
		if part.Set.Postgres != nil {
			all.Set.Postgres = part.Set.Postgres
		}
		all.Set.Modules = append(all.Set.Modules, part.Set.Modules...)
		all.Differences = append(all.Differences, part.Differences...)
	}
	return all
}

// gathered leaves no more parts than said, of as many neighbours each.
func gathered(parts []Part, most int) []Part {
	if len(parts) <= most {
		return parts
	}
	made := make([]Part, 0, most)
	for i := range most {
		own := parts[i*len(parts)/most : (i+1)*len(parts)/most]
		part := joined(own)
		part.Name = fmt.Sprintf("part-%d", i+1)
		if len(own) == 1 {
			part.Name = own[0].Name
		}
		made = append(made, part)
	}
	return made
}
