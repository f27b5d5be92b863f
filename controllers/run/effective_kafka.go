// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
)

// effectiveKafka asks the brokers what they are and what topics they have. It
// says false, and tells why, when they can't be asked yet.
func (r *Reconciler) effectiveKafka(ctx context.Context, s *scope, effective *v1alpha1.EffectiveSystem) (bool, error) {
	request := s.request()
	brokers, trouble, err := r.brokers(ctx, request)
	if err != nil {
		return false, err
	}
	if trouble != nil {
		s.tell(v1alpha1.ConditionKafkaReady, *trouble)
		return false, nil
	}
	state, err := r.Kafka.Describe(ctx, brokers)
	if err != nil {
		s.tell(v1alpha1.ConditionKafkaReady, brokersAnswer(err))
		return false, nil
	}
	if err := r.addStrimziVersion(ctx, s, &state); err != nil {
		return false, err
	}
	wanted := kafka.Topics(request)
	found, err := r.Kafka.Topics(ctx, brokers, wanted)
	if err != nil {
		s.tell(v1alpha1.ConditionKafkaReady, brokersAnswer(err))
		return false, nil
	}
	// Not every broker hears of new topics at once.
	readiness := kafka.AssessTopics(wanted, found)
	provisioned := s.status().Timings.Provisioned
	if readiness.Reason == v1alpha1.ReasonTopicsNotReady && provisioned != nil && s.now.Sub(provisioned.Time) < topicsSpread {
		s.tell(v1alpha1.ConditionKafkaReady, readiness)
		return false, nil
	}
	settings, err := r.Kafka.ConfigDifferences(ctx, brokers, wanted)
	if err != nil {
		s.tell(v1alpha1.ConditionKafkaReady, brokersAnswer(err))
		return false, nil
	}
	effective.KafkaMode = string(state.Mode)
	effective.KafkaBrokers = state.Brokers
	effective.KafkaVersion = state.ShownVersion()
	effective.Topics = kafka.EffectiveTopics(wanted, found)
	s.differs(kafka.Differences(request, state)...)
	s.differs(kafka.Shortened(append(kafka.TopicDifferences(wanted, found), settings...))...)
	return true, nil
}

// topicsSpread is how long new topics may take until every broker has heard of
// them.
const topicsSpread = time.Minute

// topicsAfter is how long brokers may take to tell of their topics once the loads
// are over.
const topicsAfter = time.Minute

// stepTopics reads the topics once more when the loads are over: brokers that
// have lost them, and their disks, under the load would otherwise go unnoticed.
func (r *Reconciler) stepTopics(ctx context.Context, s *scope) (outcome, error) {
	effective, finish := s.status().Effective, s.status().Timings.LoadFinish
	wanted := kafka.Topics(s.request())
	if effective == nil || finish == nil || len(wanted) == 0 {
		return next(), nil
	}
	brokers, trouble, err := r.brokers(ctx, s.request())
	if err != nil {
		return outcome{}, err
	}
	found := map[string]kafka.TopicState{}
	if trouble == nil {
		if found, err = r.Kafka.Topics(ctx, brokers, wanted); err != nil {
			answer := brokersAnswer(err)
			trouble = &answer
		}
	}
	switch {
	case trouble == nil:
		s.differs(afterwards(kafka.Shortened(kafka.TopicDifferences(wanted, found)))...)
	case s.now.Sub(finish.Time) < topicsAfter:
		s.loading = "the loads are over; " + trouble.Message
		return waitFor(probePause), nil
	default:
		s.differs(afterwards([]string{trouble.Message})...)
	}
	s.judgeDifferences()
	return next(), nil
}

// afterwards says of the first difference when it was found.
func afterwards(differences []string) []string {
	if len(differences) > 0 {
		differences[0] = "after the load, " + differences[0]
	}
	return differences
}

// addStrimziVersion puts what Strimzi says of the brokers' version in the
// place of a guess.
func (r *Reconciler) addStrimziVersion(ctx context.Context, s *scope, state *kafka.ClusterState) error {
	request := s.request()
	if kafka.IsExternal(request.System.Kafka) {
		return nil
	}
	version, _, err := r.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return err
	}
	object, err := r.Cluster.Get(ctx, contract.KafkaKind(version), client.ObjectKey{Namespace: request.Namespace, Name: request.KafkaName()})
	if err != nil {
		return err
	}
	if told := (contract.Kafka{Object: object}).Version(); told != "" {
		state.Version, state.Guessed = told, false
	}
	return nil
}
