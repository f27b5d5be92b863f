// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
)

// AssessTopics says whether Kafka has every declared topic as declared. It
// looks at the KafkaTopics.
func AssessTopics(req environment.Request, observed environment.Observed) environment.Readiness {
	topics := layout(req.System.Kafka)
	if len(topics) == 0 {
		return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system declares no topics"}
	}
	env, fingerprint := Env(req), layoutFingerprint(req)
	var seen progress
	for _, topic := range topics {
		seen.add(physicalName(env, topic.Name), topicObject(req, physicalName(env, topic.Name)), fingerprint, observed)
	}
	return seen.readiness(req, len(topics))
}

// progress is what the KafkaTopics together say.
type progress struct {
	ready int
	// heard says that the topic operator has taken up at least one of them.
	heard bool
	// waited says that one has had time enough to be taken up.
	waited bool
	// failure is that of the first topic that failed.
	failure string
}

func (p *progress) add(physical, object, fingerprint string, observed environment.Observed) {
	found := observed.Get(contract.KindKafkaTopic, object)
	if environment.FingerprintOf(found) != fingerprint || found.GetDeletionTimestamp() != nil {
		return
	}
	topic := contract.Topic{Object: found}
	p.heard = p.heard || topic.HasStatus()
	p.waited = p.waited || observed.Now.Sub(found.GetCreationTimestamp().Time) > environment.Patience
	if topic.Ready() {
		p.ready++
		return
	}
	if reason, message, failed := topic.Failure(); failed && p.failure == "" {
		p.failure = fmt.Sprintf("topic %q: %s: %s", physical, reason, environment.Sentence(message))
	}
}

func (p *progress) readiness(req environment.Request, total int) environment.Readiness {
	count := fmt.Sprintf("%d of %d topics are ready", p.ready, total)
	switch {
	case p.ready == total:
		return environment.Ready(count)
	case p.failure != "":
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, count+"; "+p.failure)
	case !p.heard && p.waited:
		return environment.NotReady(v1alpha1.ReasonOperatorSilent, fmt.Sprintf(
			"nobody acts on the KafkaTopics: none has a status; check that the topic operator of Kafka runs in namespace %q", req.Namespace))
	default:
		return environment.NotReady(v1alpha1.ReasonTopicsNotReady, count)
	}
}
