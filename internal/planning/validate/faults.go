// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// minObserve is the shortest observation of a fault: pods take seconds to be replaced.
	minObserve = 5 * time.Second
	// minUndisturbed is the shortest time that a fault's cost can be compared with.
	minUndisturbed = 10 * time.Second
)

// judgeFaults rejects faults whose times don't fit the loads.
func judgeFaults(j *judgement, spec *v1alpha1.PerfExperimentSpec) {
	for i, scenario := range spec.Scenarios {
		path := field.NewPath("spec", "scenarios").Index(i).Child("faults")
		if len(scenario.Faults) > 0 && !slices.ContainsFunc(scenario.Loads, hasHistograms) {
			j.refuse(field.Forbidden(path, "a fault's cost is measured from response times, and no load of the scenario has them: set script.results to Histograms, or add a load"))
		}
		if len(scenario.Faults) > 0 {
			judgeOutcomes(j, scenario.Loads)
		}
		for n, fault := range scenario.Faults {
			judgeFaultTimes(j, path.Index(n), scenario, fault, spec.Measurement)
			judgeResource(j, path.Index(n).Child("resource"), fault, spec.ServiceAccountName)
		}
		judgeFaultOrder(j, path, scenario)
	}
}

// judgeOutcomes warns of loads whose failed transactions count as done.
func judgeOutcomes(j *judgement, loads []v1alpha1.Load) {
	for _, load := range loads {
		if neverFails(load) {
			j.warn("load %q: k6 does not report whether a group failed, so failed transactions count as successful after a fault: set script.transactions to {by: Trend}, or to {by: Tag} with a tag", load.Name)
		}
	}
}

// neverFails reports whether a load's transactions have no outcomes.
func neverFails(load v1alpha1.Load) bool {
	script, is := kinds.ForLoad(load).(kind.ScriptKind)
	return is && !script.CountsFailures()
}

func hasHistograms(load v1alpha1.Load) bool {
	return kinds.IsBatch(load) || kinds.ForLoad(load).Results() == v1alpha1.ResultsHistograms
}

// judgeResource rejects resources that PerfLab may not create for the author, or can't delete in time.
func judgeResource(j *judgement, path *field.Path, fault v1alpha1.Fault, account string) {
	if fault.Resource == nil {
		return
	}
	if account == "" {
		j.refuse(field.Required(path, "the resource is created with the permissions of a ServiceAccount: set spec.serviceAccountName"))
	}
	if _, err := faults.Manifest(fault.Resource.Manifest.Raw); err != nil {
		j.refuse(field.Invalid(path.Child("manifest"), "", err.Error()))
	}
	if lasts := fault.DurationOrDefault(); lasts > fault.ObserveOrDefault() {
		j.refuse(field.Invalid(path.Child("duration"), lasts.String(), "the fault ends after its observation: lower duration, or raise the fault's observe"))
	}
}

// judgeFaultTimes validates the times of one fault.
func judgeFaultTimes(j *judgement, path *field.Path, scenario v1alpha1.Scenario, fault v1alpha1.Fault, measurement v1alpha1.Measurement) {
	if kill := fault.Kill; kill != nil && kill.GracePeriodOrDefault()%time.Second != 0 {
		j.refuse(field.Invalid(path.Child("kill", "gracePeriod"), kill.GracePeriodOrDefault().String(), "write whole seconds"))
	}
	if observe := fault.ObserveOrDefault(); observe < minObserve {
		j.refuse(field.Invalid(path.Child("observe"), observe.String(), fmt.Sprintf("replacing pods takes seconds: write %s or more", prose.Duration(minObserve))))
	}
	for _, load := range scenario.Loads {
		if kinds.IsBatch(load) || fault.Load != "" && fault.Load != load.Name {
			continue
		}
		judgeFaultWithin(j, path, load, fault, measurement)
	}
}

// judgeFaultWithin validates that a load lasts from before the fault to the end of its observation.
func judgeFaultWithin(j *judgement, path *field.Path, load v1alpha1.Load, fault v1alpha1.Fault, measurement v1alpha1.Measurement) {
	begun := load.StartAfterOrDefault() + measurement.WarmUpOrDefault()
	if fault.Load != "" {
		begun = measurement.WarmUpOrDefault()
	}
	if undisturbed := fault.After.Duration - begun; load.After == "" && undisturbed < minUndisturbed {
		j.refuse(field.Invalid(path.Child("after"), fault.After.Duration.String(), fmt.Sprintf(
			"the cost is compared with the undisturbed time of load %q, which begins after its warm-up: write %s or more", load.Name, prose.Duration(begun+minUndisturbed))))
	}
	last := fault.After.Duration + fault.WithinOrDefault() + fault.ObserveOrDefault()
	if load.Duration == nil || load.After != "" {
		return
	}
	lasts := load.Duration.Duration
	if fault.Load == "" {
		lasts += load.StartAfterOrDefault()
	}
	if last > lasts {
		j.refuse(field.Invalid(path, prose.Duration(last), fmt.Sprintf(
			"the observation may end %s after load %q ends: lengthen the load, or lower after, within or observe", prose.Duration(last-lasts), load.Name)))
	}
}

// judgeFaultOrder rejects faults that begin while another one is observed. Those that count from
// different loads are checked in the run.
func judgeFaultOrder(j *judgement, path *field.Path, scenario v1alpha1.Scenario) {
	for n, fault := range scenario.Faults {
		for _, other := range scenario.Faults[:n] {
			first, second := other, fault
			if fault.After.Duration < other.After.Duration {
				first, second = fault, other
			}
			free := first.After.Duration + first.WithinOrDefault() + first.ObserveOrDefault()
			if first.Load == second.Load && second.After.Duration < free {
				j.refuse(field.Invalid(path.Index(n).Child("after"), fault.After.Duration.String(), fmt.Sprintf(
					"fault %q may start while %q is observed, so their costs can't be separated: start it after %s or later, or write a scenario for each", second.Name, first.Name, prose.Duration(free))))
			}
		}
	}
}

// judgeFaultTargets rejects faults of components that PerfLab does not build, or not in every arm.
func judgeFaultTargets(j *judgement, scenarios []v1alpha1.Scenario, resolved []*v1alpha1.System) {
	for i, scenario := range scenarios {
		for n, fault := range scenario.Faults {
			path := field.NewPath("spec", "scenarios").Index(i).Child("faults").Index(n)
			for _, system := range resolved {
				if child, value, sentence := targetFault(fault, system); sentence != "" {
					j.refuse(field.Invalid(path.Child(child), value, sentence))
					break
				}
			}
		}
	}
}

// targetFault returns why a system lacks the target of a fault, and the field; empty if it has it.
func targetFault(fault v1alpha1.Fault, system *v1alpha1.System) (child string, value any, sentence string) {
	kill, name := fault.Kill, "kill"
	switch {
	case fault.Partitions != nil:
		child, value, sentence = partitionsFault(*fault.Partitions, system.Kafka)
		return "partitions." + child, value, sentence
	case fault.Restart != nil:
		name, kill = "restart", &fault.Restart.Replaces()[0]
	case fault.Switchover != nil:
		name, kill = "switchover", &v1alpha1.KillFault{Postgres: v1alpha1.PostgresReplica}
	}
	if kill == nil {
		return "", nil, ""
	}
	if child, value, sentence = killFault(*kill, system); sentence != "" {
		return name + "." + child, value, sentence
	}
	if kill.WholeNode && system.Kafka != nil && system.Kafka.External == nil {
		if _, _, sentence = kafkaKillFault(v1alpha1.KafkaBroker, 1, system.Kafka); sentence != "" {
			return "kill.wholeNode", true, sentence
		}
	}
	if fault.Restart != nil && fault.Restart.Memory != nil {
		return "restart.memory", fault.Restart.Memory.String(), memoryFault(*fault.Restart, system)
	}
	return "", nil, ""
}

// partitionsFault returns why a fault can't add partitions to topics of a system, and the field; empty
// if it can.
func partitionsFault(fault v1alpha1.PartitionsFault, kafka *v1alpha1.Kafka) (child string, value any, sentence string) {
	if kafka == nil || kafka.External != nil {
		return "group", fault.Group, "the system has no Kafka that PerfLab builds in every arm: declare system.kafka"
	}
	if kafka.Config[deletion] == "false" {
		return "group", fault.Group, "Kafka keeps the topics with their partitions for the next run: remove delete.topic.enable from kafka.config"
	}
	groups := make([]string, 0, len(kafka.Topics))
	for _, group := range kafka.Topics {
		groups = append(groups, group.Group)
		if declared := max(1, group.Partitions); group.Group == fault.Group && declared >= fault.Count {
			return "count", fault.Count, fmt.Sprintf("topic group %q has %s in an arm: write more", group.Group, prose.Counted(declared, "partition"))
		}
	}
	if !slices.Contains(groups, fault.Group) {
		return "group", fault.Group, fmt.Sprintf("no such topic group in an arm: name one of %s", prose.Enumerate(groups))
	}
	return "", nil, ""
}

// memoryFault returns why a restart can't lower the memory limit of a module that exists; empty if it
// can. The next run restores the declared limit, so there must be one.
func memoryFault(restart v1alpha1.RestartFault, system *v1alpha1.System) string {
	switch limit, declared := system.Modules[moduleIndex(system, restart.Module)].Resources.Limits[corev1.ResourceMemory]; {
	case !declared:
		return fmt.Sprintf("module %q has no memory limit that could be lowered: set its resources.limits.memory in every arm", restart.Module)
	case restart.Memory.Sign() <= 0 || restart.Memory.Cmp(limit) >= 0:
		return fmt.Sprintf("module %q has a memory limit of %s: write a lower one, above 0", restart.Module, limit.String())
	}
	return ""
}

// killFault returns why a fault can't kill pods of a system, and the field; empty if it can.
func killFault(kill v1alpha1.KillFault, system *v1alpha1.System) (child string, value any, sentence string) {
	pods := kill.PodsOrDefault()
	switch {
	case kill.Module != "":
		return moduleKillFault(kill.Module, pods, system)
	case kill.Postgres != "":
		return postgresKillFault(kill.Postgres, pods, system.Postgres)
	case kill.Kafka != "":
		return kafkaKillFault(kill.Kafka, pods, system.Kafka)
	}
	return "", nil, ""
}

func moduleKillFault(name string, pods int32, system *v1alpha1.System) (child string, value any, sentence string) {
	at := moduleIndex(system, name)
	if at < 0 {
		return "module", name, unknownModule(name, system)
	}
	module := system.Modules[at]
	if module.WorkloadRef != nil {
		return "module", name, fmt.Sprintf("module %q is an existing workload, whose pods PerfLab does not delete: name a module with an image, or write a resource", name)
	}
	if replicas := ptr.Deref(module.Replicas, 1); replicas < pods {
		return "pods", pods, fmt.Sprintf("module %q has %s: lower pods, or raise the module's replicas in every arm", name, prose.Counted(replicas, "replica"))
	}
	return "", nil, ""
}

func postgresKillFault(role v1alpha1.PostgresRole, pods int32, postgres *v1alpha1.Postgres) (child string, value any, sentence string) {
	switch {
	case postgres == nil || postgres.External != nil:
		return "postgres", role, "the system has no PostgreSQL that PerfLab builds in every arm: name a module, or declare system.postgres"
	case role == v1alpha1.PostgresPrimary && pods > 1:
		return "pods", pods, "PostgreSQL has one primary: remove pods"
	case role == v1alpha1.PostgresReplica && max(1, postgres.Instances)-1 < pods:
		return "postgres", role, fmt.Sprintf("PostgreSQL has %s: raise postgres.instances in every arm", prose.Counted(max(1, postgres.Instances)-1, "replica"))
	}
	return "", nil, ""
}

func kafkaKillFault(role v1alpha1.KafkaRole, pods int32, kafka *v1alpha1.Kafka) (child string, value any, sentence string) {
	switch {
	case kafka == nil || kafka.External != nil:
		return "kafka", role, "the system has no Kafka that PerfLab builds in every arm: name a module, or declare system.kafka"
	case kafka.Brokers.Replicas == 1 && kafka.Brokers.Storage == nil:
		return "kafka", role, "Kafka has one broker without storage, whose topics are lost with its pod: set kafka.brokers.storage, or raise kafka.brokers.replicas and the topics' replicas"
	case role == v1alpha1.KafkaController && pods > 1:
		return "pods", pods, "Kafka has one active controller: remove pods"
	case role == v1alpha1.KafkaBroker && kafka.Brokers.Replicas < pods:
		return "pods", pods, fmt.Sprintf("Kafka has %s: lower pods, or raise kafka.brokers.replicas in every arm", prose.Counted(kafka.Brokers.Replicas, "broker"))
	}
	return "", nil, ""
}
