// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
)

// EveryModule is the name with which an arm sets something on all modules.
const EveryModule = "*"

// Resolve returns the system with an arm's settings applied; other settings stay. Settings
// of components that the system lacks are ignored, because admission rejects them. It edits
// neither input, and the result shares nothing with them.
func Resolve(system v1alpha1.System, set *v1alpha1.SystemSet) v1alpha1.System {
	resolved := *system.DeepCopy()
	if set == nil {
		return resolved
	}
	set = set.DeepCopy()
	if resolved.Kafka != nil && set.Kafka != nil {
		setKafka(resolved.Kafka, set.Kafka)
	}
	if resolved.Postgres != nil && set.Postgres != nil {
		setPostgres(resolved.Postgres, set.Postgres)
	}
	setModules(resolved.Modules, set.Modules)
	resolved.Patches = append(resolved.Patches, set.Patches...)
	return resolved
}

func setKafka(kafka *v1alpha1.Kafka, set *v1alpha1.KafkaSet) {
	kafka.Mode = cmp.Or(set.Mode, kafka.Mode)
	kafka.Version = cmp.Or(set.Version, kafka.Version)
	kafka.Brokers = ptr.Deref(set.Brokers, kafka.Brokers)
	kafka.Controllers = cmp.Or(set.Controllers, kafka.Controllers)
	kafka.ZooKeeper = cmp.Or(set.ZooKeeper, kafka.ZooKeeper)
	kafka.External = cmp.Or(set.External, kafka.External)
	// Drop the nodes of the other mode.
	if kafka.Mode == v1alpha1.KafkaModeZooKeeper {
		kafka.Controllers = nil
	} else {
		kafka.ZooKeeper = nil
	}
	kafka.Config = merged(kafka.Config, set.Config)
	for _, group := range set.Topics {
		setTopics(kafka.Topics, group)
	}
}

func setTopics(groups []v1alpha1.TopicGroup, set v1alpha1.TopicGroupSet) {
	for i := range groups {
		group := &groups[i]
		if group.Group != set.Group {
			continue
		}
		group.Partitions = ptr.Deref(set.Partitions, group.Partitions)
		group.Replicas = ptr.Deref(set.Replicas, group.Replicas)
		group.Config = merged(group.Config, set.Config)
	}
}

func setPostgres(postgres *v1alpha1.Postgres, set *v1alpha1.PostgresSet) {
	postgres.Instances = ptr.Deref(set.Instances, postgres.Instances)
	postgres.ReadWriteSplit = cmp.Or(set.ReadWriteSplit, postgres.ReadWriteSplit)
	postgres.Image = cmp.Or(set.Image, postgres.Image)
	postgres.External = cmp.Or(set.External, postgres.External)
	postgres.Pooler = cmp.Or(set.Pooler, postgres.Pooler)
	postgres.Resources = ptr.Deref(set.Resources, postgres.Resources)
	postgres.Placement = cmp.Or(set.Placement, postgres.Placement)
	postgres.Parameters = merged(postgres.Parameters, set.Parameters)
}

// Matched counts the modules that a set applies to.
func Matched(set v1alpha1.ModuleSet, modules []v1alpha1.Module) int {
	count := 0
	for i := range modules {
		if name := modules[i].Name; set.Name == EveryModule || set.Name == name || slices.Contains(set.Names, name) {
			count++
		}
	}
	return count
}

// setModules applies sets for every module before sets for several modules, and those
// before sets for one, so that the most specific setting wins in any order.
func setModules(modules []v1alpha1.Module, sets []v1alpha1.ModuleSet) {
	meant := []func(v1alpha1.ModuleSet, string) bool{
		func(set v1alpha1.ModuleSet, _ string) bool { return set.Name == EveryModule },
		func(set v1alpha1.ModuleSet, name string) bool { return slices.Contains(set.Names, name) },
		func(set v1alpha1.ModuleSet, name string) bool { return set.Name == name },
	}
	for _, applies := range meant {
		for _, set := range sets {
			for i := range modules {
				if applies(set, modules[i].Name) {
					setModule(&modules[i], set.DeepCopy())
				}
			}
		}
	}
}

func setModule(module *v1alpha1.Module, set *v1alpha1.ModuleSet) {
	module.Image = cmp.Or(set.Image, module.Image)
	module.Replicas = cmp.Or(set.Replicas, module.Replicas)
	module.Resources = requesting(ptr.Deref(set.Resources, module.Resources), set.Requests)
	if set.JVM != nil {
		module.JVM = setJVM(module.JVM, set.JVM)
	}
	module.Placement = cmp.Or(set.Placement, module.Placement)
	module.Env = mergedEnv(module.Env, set.Env)
}

// requesting replaces individual requests.
func requesting(resources corev1.ResourceRequirements, requests corev1.ResourceList) corev1.ResourceRequirements {
	if len(requests) == 0 {
		return resources
	}
	resources.Requests = maps.Clone(resources.Requests)
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	maps.Copy(resources.Requests, requests)
	return resources
}

// setJVM replaces heap, metaspace and options individually. It replaces a heap as a whole,
// because its size and its percentage exclude each other.
func setJVM(jvm, set *v1alpha1.JVM) *v1alpha1.JVM {
	if jvm == nil {
		return set
	}
	jvm.Heap = cmp.Or(set.Heap, jvm.Heap)
	jvm.Variable = cmp.Or(set.Variable, jvm.Variable)
	jvm.Metaspace = cmp.Or(set.Metaspace, jvm.Metaspace)
	if set.Options != nil {
		jvm.Options = set.Options
	}
	return jvm
}

func merged(base, set map[string]string) map[string]string {
	if len(set) == 0 {
		return base
	}
	result := make(map[string]string, len(base)+len(set))
	maps.Copy(result, base)
	maps.Copy(result, set)
	return result
}

// mergedEnv keeps the order of base, because a variable may refer to an earlier one.
func mergedEnv(base, set []corev1.EnvVar) []corev1.EnvVar {
	result := slices.Clone(base)
	for _, variable := range set {
		at := slices.IndexFunc(result, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
		if at < 0 {
			result = append(result, variable)
			continue
		}
		result[at] = variable
	}
	return result
}
