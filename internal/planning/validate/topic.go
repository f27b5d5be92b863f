// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
)

// maxTopicName is Kafka's length limit.
const maxTopicName = 249

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// topicFindings validates the names of topics, which differ between arms only by their
// prefix.
func topicFindings(declared *v1alpha1.Kafka, tenant string) []finding {
	var found []finding
	known := topicOwners{}
	for _, topics := range declared.Topics {
		found = append(found, partitionFindings(declared, topics)...)
		at := setting{"kafka", "topics", topics.Group}
		for _, name := range kafka.TopicNames(topics, tenant) {
			if sentence := known.add(name, topics.Group); sentence != "" {
				found = append(found, wrong(name, sentence, at))
				break
			}
		}
	}
	return found
}

// topicOwners are topics by their names in Kafka's metrics.
type topicOwners map[string]topicOwner

type topicOwner struct{ name, group string }

// add returns the conflict of a topic with earlier ones; empty if there is none.
func (o topicOwners) add(name, group string) string {
	if fault := topicNameFault(name, group); fault != "" {
		return fault
	}
	metric := strings.ReplaceAll(name, ".", "_")
	other, taken := o[metric]
	switch {
	case !taken:
		o[metric] = topicOwner{name, group}
	case other.name != name:
		return fmt.Sprintf("topics %q (group %q) and %q (group %q) collide: Kafka writes '.' as '_' in its metrics, so it accepts only one of them; rename one, for example %s", other.name, other.group, name, group, strings.ReplaceAll(metric, "_", "-"))
	case other.group != group:
		return fmt.Sprintf("topic %q is in group %q and in group %q: keep it in one of them", name, other.group, group)
	}
	return ""
}

func topicNameFault(name, group string) string {
	switch {
	case name == "." || name == "..":
		return fmt.Sprintf("topic group %q has a topic %q, a name that Kafka rejects: write one with letters, for example orders.created", group, name)
	case name == "__consumer_offsets" || name == "__transaction_state":
		return fmt.Sprintf("topic group %q has Kafka's own topic %q: remove it, and set its partitions and replicas in kafka.config, for example offsets.topic.num.partitions", group, name)
	case !topicName.MatchString(name):
		return fmt.Sprintf("topic group %q has a topic %q: a topic's name may have only letters, digits, '.', '_' and '-'; correct the name, or the tenant or version in it", group, name)
	default:
		return ""
	}
}

// judgeTopicNames rejects topics whose names are too long with the prefix for layouts and
// experiments.
func judgeTopicNames(j *judgement, experiment string, system *v1alpha1.System, base systemPlace) {
	if system.Kafka == nil {
		return
	}
	prefix := len(kafka.Env(environment.Request{Experiment: experiment, System: *system})) + len(".")
	for _, topics := range system.Kafka.Topics {
		for _, name := range kafka.TopicNames(topics, declaredTenant(system)) {
			if prefix+len(name) <= maxTopicName {
				continue
			}
			found := wrong(name, "", setting{"kafka", "topics", topics.Group})
			j.refuse(field.Invalid(base.of(system, found), name, fmt.Sprintf(
				"%stopic %q of group %q has %d characters with the prefix of %d that PerfLab adds, and Kafka allows %d: shorten it, or the experiment's name",
				base.who(), name, topics.Group, prefix+len(name), prefix, maxTopicName)))
			break
		}
	}
}
