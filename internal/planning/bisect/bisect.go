// SPDX-License-Identifier: Apache-2.0

// Package bisect builds the experiment that finds the culprit among the differences between
// two systems: an arm for each difference, and one for all. It is pure.
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

// ErrAlike means that no arm can set any difference.
var ErrAlike = errors.New("the two systems do not differ in a setting that an arm can change")

// Arms of every bisection.
const (
	Before = "before"
	After  = "after"
)

// Part is the group of differences that one arm sets.
type Part struct {
	// Name of the arm: the component, or the module.
	Name string
	Set  v1alpha1.SystemSet
	// Differences from the earlier system.
	Differences []v1alpha1.Difference
}

// Plan is the design of a bisection.
type Plan struct {
	// Parts, each with its own arm; a single part has no arm besides all.
	Parts []Part
	// Left are differences that no arm can set, such as an added module.
	Left []v1alpha1.Difference

	// all combines the sets of all parts.
	all v1alpha1.SystemSet
}

// New groups the differences between two systems into at most this many parts, by
// component: Kafka, PostgreSQL, and each module. Modules share parts if there are too many.
// It returns ErrAlike if no arm can set anything.
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

// Arms returns the arms of the experiment: the earlier system, the later system, and each
// part.
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

// split returns, for each component, what the later system changes. A part without changes
// has no differences.
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

// armName returns a name that differs from the fixed arms.
func armName(module string) string {
	if slices.Contains([]string{Before, After, "kafka", "postgres"}, module) {
		return "module-" + module
	}
	return module
}

// changed returns the later value if it differs; else zero.
func changed[T any](before, after T) (value T) {
	if equality.Semantic.DeepEqual(before, after) {
		return value
	}
	return after
}

// pointed returns the later value if it differs; else nil.
func pointed[T any](before, after T) *T {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return &after
}

// changedKeys returns the added and changed entries. An arm can't remove entries.
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

// joined combines the sets of all parts, which don't overlap.
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

// gathered merges neighbouring parts into at most this many.
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
