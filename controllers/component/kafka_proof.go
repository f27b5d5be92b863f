// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/kafkaadmin"
)

const (
	// topicsSpread is how long new topics may take until every broker has heard
	// of them.
	topicsSpread = time.Minute
	// topicsAfter is how long brokers may take to tell of their topics once the
	// loads are over.
	topicsAfter = time.Minute
)

// Prove asks the brokers what they are and what topics they have.
func (k kafkaCluster) Prove(ctx context.Context, p *Pass, record *v1alpha1.EffectiveSystem) (Proof, error) {
	if p.Run.Spec.System.Kafka == nil {
		return Proof{}, nil
	}
	brokers, trouble, err := k.brokers(ctx, p)
	if err != nil || trouble != nil {
		return Proof{Unsettled: trouble}, err
	}
	state, err := p.Kafka.Describe(ctx, brokers)
	if err != nil {
		return unsettled(brokersAnswer(err)), nil
	}
	if err := k.addStrimziVersion(ctx, p, &state); err != nil {
		return Proof{}, err
	}
	record.KafkaMode = string(state.Mode)
	record.KafkaBrokers = state.Brokers
	record.KafkaVersion = state.ShownVersion()
	proof := k.proveTopics(ctx, p, brokers, record)
	proof.Differences = append(kafka.Differences(p.Request(), state), proof.Differences...)
	proof.Pods, err = k.running(ctx, p)
	record.KafkaPods = environment.EffectivePods(proof.Pods)
	return proof, err
}

// proveTopics compares the topics and their settings. Not every broker hears of
// new topics at once.
func (kafkaCluster) proveTopics(ctx context.Context, p *Pass, brokers kafkaadmin.Brokers, record *v1alpha1.EffectiveSystem) Proof {
	wanted := kafka.Topics(p.Request())
	found, err := p.Kafka.Topics(ctx, brokers, wanted)
	if err != nil {
		return unsettled(brokersAnswer(err))
	}
	readiness := kafka.AssessTopics(wanted, found)
	if readiness.Reason == v1alpha1.ReasonTopicsNotReady && p.within(topicsSpread, p.Run.Status.Timings.Provisioned) {
		return unsettled(readiness)
	}
	settings, err := p.Kafka.ConfigDifferences(ctx, brokers, wanted)
	if err != nil {
		return unsettled(brokersAnswer(err))
	}
	record.Topics = kafka.EffectiveTopics(wanted, found)
	return Proof{Differences: kafka.TruncateDifferences(append(kafka.TopicDifferences(wanted, found), settings...))}
}

// ProveAgain reads the topics once more: brokers that have lost them, and their
// disks, under the load would otherwise go unnoticed.
func (k kafkaCluster) ProveAgain(ctx context.Context, p *Pass, _ *v1alpha1.EffectiveSystem) (Proof, error) {
	wanted := kafka.Topics(p.Request())
	if len(wanted) == 0 {
		return Proof{}, nil
	}
	brokers, trouble, err := k.brokers(ctx, p)
	if err != nil {
		return Proof{}, err
	}
	found := map[string]kafka.TopicState{}
	if trouble == nil {
		if found, err = p.Kafka.Topics(ctx, brokers, wanted); err != nil {
			answer := brokersAnswer(err)
			trouble = &answer
		}
	}
	switch {
	case trouble == nil:
		return Proof{Differences: afterwards(kafka.TruncateDifferences(kafka.TopicDifferences(wanted, found)))}, nil
	case p.within(topicsAfter, p.Run.Status.Timings.LoadFinish):
		return Proof{Unsettled: trouble}, nil
	default:
		return Proof{Differences: afterwards([]string{trouble.Message})}, nil
	}
}

// afterwards says of the first difference when it was found.
func afterwards(differences []string) []string {
	if len(differences) > 0 {
		differences[0] = "after the load, " + differences[0]
	}
	return differences
}

// Restarts counts those of the brokers and controllers.
func (k kafkaCluster) Restarts(ctx context.Context, p *Pass, record *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	pods, err := k.running(ctx, p)
	record.KafkaRestarts = environment.Restarts(record.KafkaPods, record.MorePods, pods)
	return []environment.Restarted{{Part: "Kafka", Times: record.KafkaRestarts, Pods: pods}}, err
}

// addStrimziVersion puts what Strimzi says of the brokers' version in the
// place of a guess.
func (kafkaCluster) addStrimziVersion(ctx context.Context, p *Pass, state *kafka.ClusterState) error {
	request := p.Request()
	if kafka.IsExternal(request.System.Kafka) {
		return nil
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return err
	}
	object, err := p.Own(ctx, contract.KafkaKind(version), request.KafkaName())
	if err != nil {
		return err
	}
	if exact := (contract.Kafka{Object: object}).Version(); exact != "" {
		state.Version, state.Guessed = exact, false
	}
	return nil
}
