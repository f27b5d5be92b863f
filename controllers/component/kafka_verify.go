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
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// topicPropagationTimeout bounds how long new topics take to reach every broker.
	topicPropagationTimeout = time.Minute
	// topicReadTimeout bounds how long the brokers may fail to list their topics after the
	// load.
	topicReadTimeout = time.Minute
)

// Verify compares brokers and topics with the declaration.
func (k kafkaCluster) Verify(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) (Verification, error) {
	if p.Run.Spec.System.Kafka == nil {
		return Verification{}, nil
	}
	brokers, problem, err := k.brokers(ctx, p)
	if err != nil || problem != nil {
		return Verification{Pending: problem}, err
	}
	// The modules of the previous run no longer exist, so nothing recreates its topics.
	others, err := deleteOtherLayouts(ctx, p, brokers)
	if err != nil {
		return pending(brokersReadiness(err)), nil
	}
	if others > 0 {
		return pending(environment.NotReady(v1alpha1.ReasonTopicsNotReady, prose.Counted(others, "topic")+" of other arms "+prose.Verb(others, "is", "are")+" being deleted")), nil
	}
	state, err := p.Kafka.Describe(ctx, brokers)
	if err != nil {
		return pending(brokersReadiness(err)), nil
	}
	if err := k.addStrimziVersion(ctx, p, &state); err != nil {
		return Verification{}, err
	}
	record.KafkaMode = string(state.Mode)
	record.KafkaBrokers = state.Brokers
	record.KafkaVersion = state.ShownVersion()
	proof := k.verifyTopics(ctx, p, brokers, record)
	proof.Differences = append(kafka.Differences(p.Request(), state), proof.Differences...)
	proof.Pods, err = k.runningPods(ctx, p)
	record.KafkaPods = environment.EffectivePods(proof.Pods)
	return proof, err
}

// verifyTopics compares the topics and their settings. New topics reach some brokers later.
func (kafkaCluster) verifyTopics(ctx context.Context, p *Scope, brokers kafkaadmin.Brokers, record *v1alpha1.EffectiveSystem) Verification {
	wanted := kafka.Topics(p.Request())
	found, err := p.Kafka.Topics(ctx, brokers, wanted)
	if err != nil {
		return pending(brokersReadiness(err))
	}
	readiness := kafka.AssessTopics(wanted, found)
	if readiness.Reason == v1alpha1.ReasonTopicsNotReady && p.within(topicPropagationTimeout, p.Run.Status.Timings.Provisioned) {
		return pending(readiness)
	}
	settings, err := p.Kafka.ConfigDifferences(ctx, brokers, wanted)
	if err != nil {
		return pending(brokersReadiness(err))
	}
	record.Topics = kafka.EffectiveTopics(wanted, found)
	return Verification{Differences: kafka.TruncateDifferences(append(kafka.TopicDifferences(wanted, found), settings...))}
}

// VerifyAfterLoad compares the topics again: brokers may have lost them, with their disks,
// during the load.
func (k kafkaCluster) VerifyAfterLoad(ctx context.Context, p *Scope, _ *v1alpha1.EffectiveSystem) (Verification, error) {
	wanted := topicsAfterLoad(p)
	if len(wanted) == 0 {
		return Verification{}, nil
	}
	brokers, problem, err := k.brokers(ctx, p)
	if err != nil {
		return Verification{}, err
	}
	found := map[string]kafka.TopicState{}
	if problem == nil {
		if found, err = p.Kafka.Topics(ctx, brokers, wanted); err != nil {
			answer := brokersReadiness(err)
			problem = &answer
		}
	}
	switch {
	case problem == nil:
		return Verification{Differences: markAfterLoad(kafka.TruncateDifferences(kafka.TopicDifferences(wanted, found)))}, nil
	case p.within(topicReadTimeout, p.Run.Status.Timings.LoadFinish):
		return Verification{Pending: problem}, nil
	default:
		return Verification{Differences: markAfterLoad([]string{problem.Message})}, nil
	}
}

// markAfterLoad notes in the first difference that it was found after the load.
func markAfterLoad(differences []string) []string {
	if len(differences) > 0 {
		differences[0] = "after the load, " + differences[0]
	}
	return differences
}

// CountRestarts counts the restarts of brokers and controllers.
func (k kafkaCluster) CountRestarts(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	pods, err := k.runningPods(ctx, p)
	record.KafkaRestarts = environment.Restarts(record.KafkaPods, record.MorePods, pods)
	return []environment.Restarted{{Part: "Kafka", Times: record.KafkaRestarts, Pods: pods}}, err
}

// addStrimziVersion replaces a guessed broker version with the one that Strimzi reports.
func (kafkaCluster) addStrimziVersion(ctx context.Context, p *Scope, state *kafka.ClusterState) error {
	request := p.Request()
	if kafka.IsExternal(request.System.Kafka) {
		return nil
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return err
	}
	object, err := p.GetOwned(ctx, contract.KafkaKind(version), request.KafkaName())
	if err != nil {
		return err
	}
	if exact := (contract.Kafka{Object: object}).Version(); exact != "" {
		state.Version, state.Guessed = exact, false
	}
	return nil
}
