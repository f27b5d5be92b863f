// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

// judgeSets validates sets without the system.
func judgeSets(j *judgement, variants []variant) {
	for _, written := range writtenSets(variants) {
		at := map[string]int{}
		for i, set := range written.set.Modules {
			first, twice := at[set.Name]
			if set.Name != "" && twice {
				j.refuse(field.Invalid(written.path.Child("modules").Index(i).Child("name"), set.Name,
					fmt.Sprintf("%s sets module %q twice, here and in modules[%d]: merge both into one entry", written.title, set.Name, first)))
				continue
			}
			at[set.Name] = i
		}
	}
}

// writtenSets returns the distinct sets of all variants.
func writtenSets(variants []variant) []writtenSet {
	var sets []writtenSet
	seen := map[string]bool{}
	for _, variant := range variants {
		for _, written := range variant.sets {
			if written.set != nil && !seen[written.path.String()] {
				seen[written.path.String()] = true
				sets = append(sets, written)
			}
		}
	}
	return sets
}

// judgeReferences checks that the names in sets exist.
func judgeReferences(j *judgement, variants []variant, system *v1alpha1.System) {
	for _, written := range writtenSets(variants) {
		judgeKafkaSet(j, written, system.Kafka)
		judgePostgresSet(j, written, system.Postgres)
		for i, set := range written.set.Modules {
			judgeModuleSet(j, written, written.path.Child("modules").Index(i), set, system)
		}
	}
	judgeModes(j, variants, system.Kafka)
}

func judgeModuleSet(j *judgement, written writtenSet, path *field.Path, set v1alpha1.ModuleSet, system *v1alpha1.System) {
	unknown := func(path *field.Path, name string) {
		j.refuse(field.Invalid(path, name, written.title+": "+unknownModule(name, system)+`, or "*" for all`))
	}
	if set.Name != "" && set.Name != arms.EveryModule {
		if !hasModule(system, set.Name) {
			unknown(path.Child("name"), set.Name)
		}
	}
	for i, name := range set.Names {
		if !hasModule(system, name) {
			unknown(path.Child("names").Index(i), name)
		}
	}
	for _, module := range system.Modules {
		meant := set.Name == module.Name || slices.Contains(set.Names, module.Name)
		if set.Image != "" && meant && module.WorkloadRef != nil {
			j.refuse(field.Invalid(path.Child("image"), set.Image,
				fmt.Sprintf("%s sets the image of module %q, which is an existing workload, whose image PerfLab does not change: remove image", written.title, module.Name)))
		}
	}
}

func judgeKafkaSet(j *judgement, written writtenSet, kafka *v1alpha1.Kafka) {
	set, path := written.set.Kafka, written.path.Child("kafka")
	if set == nil {
		return
	}
	if kafka == nil {
		j.refuse(field.Forbidden(path, written.title+" sets kafka, but the system has none: declare system.kafka, or remove the setting"))
		return
	}
	for i, topics := range set.Topics {
		known := func(group v1alpha1.TopicGroup) bool { return group.Group == topics.Group }
		if !slices.ContainsFunc(kafka.Topics, known) {
			j.refuse(field.Invalid(path.Child("topics").Index(i).Child("group"), topics.Group,
				fmt.Sprintf("%s sets topic group %q, which is not in system.kafka.topics: write one of its groups (%s)", written.title, topics.Group, prose.Enumerate(groupNames(kafka)))))
		}
	}
	external := kafka.Provider == v1alpha1.KafkaProviderExternal
	given := map[string]bool{
		"version": set.Version != "", "brokers": set.Brokers != nil, "controllers": set.Controllers != nil,
		"zooKeeper": set.ZooKeeper != nil, "config": len(set.Config) > 0,
	}
	judgeProvider(j, written, path, "Kafka", "Strimzi", external, given, set.External != nil)
}

func groupNames(kafka *v1alpha1.Kafka) []string {
	names := make([]string, 0, len(kafka.Topics))
	for _, topics := range kafka.Topics {
		names = append(names, topics.Group)
	}
	return names
}

// judgeProvider rejects configuration of external services, and addresses of services that
// PerfLab runs.
func judgeProvider(j *judgement, written writtenSet, path *field.Path, what, provider string, external bool, given map[string]bool, address bool) {
	if !external {
		if address {
			j.refuse(field.Forbidden(path.Child("external"), fmt.Sprintf("%s sets the address of a %s that PerfLab runs: remove external, or declare provider: External in the system", written.title, what)))
		}
		return
	}
	for _, name := range sortedTrue(given) {
		j.refuse(field.Forbidden(path.Child(name), fmt.Sprintf("%s sets %s of an External %s, which PerfLab cannot configure: remove it, or use provider: %s", written.title, name, what, provider)))
	}
}

func sortedTrue(given map[string]bool) []string {
	var names []string
	for name, is := range given {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func judgePostgresSet(j *judgement, written writtenSet, postgres *v1alpha1.Postgres) {
	set, path := written.set.Postgres, written.path.Child("postgres")
	if set == nil {
		return
	}
	if postgres == nil {
		j.refuse(field.Forbidden(path, written.title+" sets postgres, but the system has none: declare system.postgres, or remove the setting"))
		return
	}
	external := postgres.Provider == v1alpha1.PostgresProviderExternal
	given := map[string]bool{
		"instances": set.Instances != nil, "image": set.Image != "", "pooler": set.Pooler != nil,
		"resources": set.Resources != nil, "placement": set.Placement != nil, "parameters": len(set.Parameters) > 0,
	}
	judgeProvider(j, written, path, "PostgreSQL", "CloudNativePG", external, given, set.External != nil)
}

// judgeModes rejects nodes of a mode that no arm uses.
func judgeModes(j *judgement, variants []variant, kafka *v1alpha1.Kafka) {
	if kafka == nil || kafka.Provider == v1alpha1.KafkaProviderExternal {
		return
	}
	for _, variant := range variants {
		mode := kafka.Mode
		for _, written := range variant.sets {
			if written.set != nil && written.set.Kafka != nil && written.set.Kafka.Mode != "" {
				mode = written.set.Kafka.Mode
			}
		}
		for _, written := range variant.sets {
			if written.set == nil || written.set.Kafka == nil {
				continue
			}
			path, who := written.path.Child("kafka"), title("arm", variant.name)
			switch zooKeeper := mode == v1alpha1.KafkaModeZooKeeper; {
			case zooKeeper && written.set.Kafka.Controllers != nil:
				j.refuseOnce(field.Forbidden(path.Child("controllers"), who+" sets kafka.controllers, which are nodes of KRaft, with mode: ZooKeeper: write kafka.zooKeeper instead"))
			case !zooKeeper && written.set.Kafka.ZooKeeper != nil:
				j.refuseOnce(field.Forbidden(path.Child("zooKeeper"), who+" sets kafka.zooKeeper with mode: KRaft: add mode: ZooKeeper, or write kafka.controllers instead"))
			}
		}
	}
}

// refuseOnce adds one error per path, even if several arms cause it.
func (j *judgement) refuseOnce(err *field.Error) {
	same := func(known *field.Error) bool { return known.Field == err.Field && known.Type == err.Type }
	if !slices.ContainsFunc(j.errors, same) {
		j.refuse(err)
	}
}
