// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// Assess reports whether the brokers and controllers are as declared. It reads the Kafka,
// its KafkaNodePools and the pods with its label.
func Assess(req environment.Request, observed environment.Observed) environment.Readiness {
	if req.System.Kafka == nil {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system has no Kafka"}
	}
	if IsExternal(req.System.Kafka) {
		return environment.Ready("the brokers are external")
	}
	input := input{
		req:      req,
		observed: observed,
		name:     req.KafkaName(),
		object:   observed.Get(contract.KindKafka, req.KafkaName()),
		nodes:    countNodes(req, observed.Pods),
	}
	input.kafka = contract.Kafka{Object: input.object}
	if readiness, decided := environment.RunChecks(checks, input); decided {
		return readiness
	}
	return environment.NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("Kafka %q is being created: %s", input.name, input.nodes))
}

// input is the input of the checks.
type input struct {
	req      environment.Request
	observed environment.Observed
	name     string
	object   *unstructured.Unstructured
	kafka    contract.Kafka
	nodes    nodes
}

// title names the Kafka in messages.
func (in input) title() string { return fmt.Sprintf("Kafka %q", in.name) }

// checks run in this order.
var checks = []environment.Check[input]{
	missing,     // the object does not exist
	replaced,    // the object has another configuration
	ready,       // before pods: a failing pod is not ready
	trouble,     // a pod has more details than the operator, and sooner
	silent,      // no status yet
	podsRefused, // the API server rejects the pods, which the status lacks
	refused,     // the operator's message
	rolling,     // up, but not yet as declared
	notJoined,   // up, but a pod is missing again
	abandoned,   // no progress
}

func missing(in input) (environment.Readiness, bool) {
	if in.object == nil {
		return environment.Missing(in.title()), true
	}
	for _, group := range groups(in.req) {
		if group.pool != "" && in.observed.Get(contract.KindKafkaNodePool, group.pool) == nil {
			return environment.Missing(fmt.Sprintf("KafkaNodePool %q", group.pool)), true
		}
	}
	return environment.Readiness{}, false
}

func replaced(in input) (environment.Readiness, bool) {
	wanted := in.req.KafkaShape()
	current := environment.ReadFingerprint(in.object) == wanted && in.object.GetDeletionTimestamp() == nil
	for _, group := range groups(in.req) {
		if group.pool == "" {
			continue
		}
		object := in.observed.Get(contract.KindKafkaNodePool, group.pool)
		current = current && environment.ReadFingerprint(object) == wanted && object.GetDeletionTimestamp() == nil
	}
	return environment.Replaced(in.title()), !current
}

func ready(in input) (environment.Readiness, bool) {
	message := fmt.Sprintf("Kafka %q is ready: %s", in.name, described(in.req))
	if version := in.kafka.Version(); version != "" {
		message += ", version " + version
	}
	return environment.Ready(message), in.kafka.Ready() && in.nodes.complete()
}

func trouble(in input) (environment.Readiness, bool) {
	return environment.PodTrouble(in.observed.Pods, in.observed.Events, in.observed.Now)
}

func silent(in input) (environment.Readiness, bool) {
	age := in.observed.Now.Sub(in.object.GetCreationTimestamp().Time)
	return environment.Silent(in.title(), "Strimzi", in.req.Namespace), !in.kafka.HasStatus() && age > environment.SilenceThreshold
}

func podsRefused(in input) (environment.Readiness, bool) {
	return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
		"the cluster refuses the pods of Kafka %q: %s", in.name, in.observed.Refused)), in.observed.Refused != ""
}

// abandoned finds a Kafka that Strimzi stopped reconciling.
func abandoned(in input) (environment.Readiness, bool) {
	return environment.Abandoned(in.title(), "Strimzi", in.nodes.String()), in.observed.Idle(in.kafka.LastTransition())
}

// LacksPods reports whether Strimzi had time to create the Kafka's pods but has not, so only the
// API server has the reason.
func LacksPods(req environment.Request, observed environment.Observed) bool {
	object := observed.Get(contract.KindKafka, req.KafkaName())
	if object == nil || observed.Now.Sub(object.GetCreationTimestamp().Time) < environment.LongSilenceThreshold {
		return false
	}
	found := countNodes(req, observed.Pods)
	return found.present < found.declared
}

func refused(in input) (environment.Readiness, bool) {
	reason, message, refused := in.kafka.Refusal()
	return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
		"Strimzi can't reconcile Kafka %q and retries: %s: %s", in.name, reason, prose.Sentence(message))), refused
}

func rolling(in input) (environment.Readiness, bool) {
	return environment.NotReady(v1alpha1.ReasonRolling, fmt.Sprintf(
		"Kafka %q is being updated to a new configuration: %s", in.name, in.nodes)), in.kafka.Rolling()
}

func notJoined(in input) (environment.Readiness, bool) {
	return environment.NotReady(v1alpha1.ReasonNotReady, fmt.Sprintf(
		"Kafka %q was ready, but its pods are not as declared: %s", in.name, in.nodes)), in.kafka.Ready()
}

// nodes counts the pods of the declared node groups.
type nodes struct{ ready, present, declared int32 }

// complete reports whether exactly the declared nodes exist and all are ready.
func (n nodes) complete() bool { return n.ready == n.declared && n.present == n.declared }

func (n nodes) String() string { return prose.Partly(n.ready, n.declared, "node") + " ready" }

func countNodes(req environment.Request, pods []corev1.Pod) nodes {
	var count nodes
	for _, group := range groups(req) {
		count.declared += group.replicas
		for _, pod := range pods {
			if !labels.SelectorFromSet(group.pods).Matches(labels.Set(pod.Labels)) {
				continue
			}
			count.present++
			if environment.PodReady(pod) {
				count.ready++
			}
		}
	}
	return count
}
