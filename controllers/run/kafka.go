// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kafkaadmin"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/prose"
)

const (
	// topicBudget is how long one pass makes topics: then it shows how far it
	// has come.
	topicBudget = 3 * time.Second
	// topicPause is the time between two such passes. Nobody watches topics.
	topicPause = time.Second
)

// provisionKafka builds the brokers, unless they are somebody else's, and the
// topics in them.
func (r *Reconciler) provisionKafka(ctx context.Context, s *scope) (environment.Readiness, error) {
	declared := s.run.Spec.System.Kafka
	if declared == nil {
		return notDeclared(), nil
	}
	if !kafka.IsExternal(declared) {
		readiness, err := r.provisionBrokers(ctx, s)
		if err != nil || !readiness.Ready {
			return readiness, err
		}
	}
	readiness, err := r.provisionTopics(ctx, s)
	if err == nil && !readiness.Ready {
		s.alarm(s.now.Add(topicPause))
	}
	return readiness, err
}

func (r *Reconciler) provisionBrokers(ctx context.Context, s *scope) (environment.Readiness, error) {
	version, _, err := r.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return environment.Readiness{}, err
	}
	request := s.request()
	if served := kafka.AssessServed(request, version); !served.Ready {
		return served, nil
	}
	intents := kafka.Build(request, version)
	replacing, err := r.replaceKafka(ctx, s, intents, version)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "the Kafka of an earlier configuration is being taken down"), nil
	}
	if err := r.applyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := r.observe(ctx, intents, map[string]string{contract.LabelStrimziCluster: request.KafkaName()}, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	if kafka.LacksPods(request, observed) {
		if err := r.askForNodes(ctx, request, &observed); err != nil {
			return environment.Readiness{}, err
		}
	}
	return kafka.Assess(request, observed), nil
}

// +kubebuilder:rbac:groups=core.strimzi.io,resources=strimzipodsets,verbs=get;list

// askForNodes finds out why Strimzi's pods are not there: what the API server
// has against them stands on no object, so it is asked for one that a set lacks,
// as Strimzi asks. Those of a set are alike.
func (r *Reconciler) askForNodes(ctx context.Context, request environment.Request, observed *environment.Observed) error {
	version, served, err := r.Cluster.Serves(contract.StrimziPodSetKind)
	if err != nil || !served {
		return err
	}
	podSets := &unstructured.UnstructuredList{}
	podSets.SetGroupVersionKind(contract.StrimziPodSetKind.WithVersion(version))
	err = r.Live.List(ctx, podSets, client.InNamespace(request.Namespace), client.MatchingLabels{contract.LabelStrimziCluster: request.KafkaName()})
	if err != nil {
		return fmt.Errorf("listing the StrimziPodSets of Kafka %q: %w", request.KafkaName(), err)
	}
	for i := range podSets.Items {
		podSet := &podSets.Items[i]
		observed.Objects[environment.Key{Kind: podSet.GetKind(), Name: podSet.GetName()}] = podSet
		pods := contract.StrimziPods(podSet)
		at := slices.IndexFunc(pods, func(pod unstructured.Unstructured) bool {
			return !slices.ContainsFunc(observed.Pods, func(made corev1.Pod) bool { return made.Name == pod.GetName() })
		})
		if at < 0 {
			continue
		}
		pods[at].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		pods[at].SetNamespace(request.Namespace)
		refusal, err := r.Cluster.WouldTake(ctx, &pods[at])
		if err != nil || refusal != "" {
			observed.Refused = prose.Sentence(refusal)
			return err
		}
	}
	return nil
}

// provisionTopics makes the declared topics, as many as fit into one pass.
// Once the run has been provisioned they are left alone: what became of them
// is for the proof to say.
func (r *Reconciler) provisionTopics(ctx context.Context, s *scope) (environment.Readiness, error) {
	request := s.request()
	wanted := kafka.Topics(request)
	if s.status().Timings.Provisioned != nil {
		return environment.Ready(prose.Partly(len(wanted), len(wanted), "topic") + " made"), nil
	}
	before := kafka.AssessTopics(wanted, nil)
	external := kafka.IsExternal(request.System.Kafka)
	if before.Reason == v1alpha1.ReasonRefused || before.Ready && !external {
		return before, nil
	}
	brokers, trouble, err := r.brokers(ctx, request)
	if err != nil || trouble != nil {
		return orReady(trouble), err
	}
	if external {
		noted, err := r.noteExternal(ctx, request)
		if err != nil || noted != nil {
			return orReady(noted), err
		}
	}
	if before.Ready {
		_, err := r.Kafka.Describe(ctx, brokers)
		return brokersAnswer(err), nil
	}
	found, err := r.Kafka.EnsureTopics(ctx, brokers, wanted, topicBudget)
	if err != nil {
		return brokersAnswer(err), nil
	}
	return kafka.AssessTopics(wanted, found), nil
}

// brokersAnswer is the readiness of brokers that gave this error.
func brokersAnswer(err error) environment.Readiness {
	var refusal *kafkaadmin.Refusal
	switch {
	case err == nil:
		return environment.Ready("the brokers answer")
	case errors.As(err, &refusal):
		return environment.NotReady(v1alpha1.ReasonRefused, refusal.Error())
	default:
		return environment.NotReady(v1alpha1.ReasonUnreachable, fmt.Sprintf("the brokers don't answer: %v", err))
	}
}

func orReady(trouble *environment.Readiness) environment.Readiness {
	if trouble == nil {
		return environment.Readiness{}
	}
	return *trouble
}

// replaceKafka takes a Kafka down that was made from another declaration, with
// pools the new one does not have, and says true until all of it is gone.
// Kafkas that are kept warm beside the run's own are not looked at.
func (r *Reconciler) replaceKafka(ctx context.Context, s *scope, intents []environment.Intent, version string) (bool, error) {
	request := s.request()
	labels := naming.ComponentLabels(request.Experiment, environment.ComponentKafka)
	if request.StaysWarm() {
		labels[contract.LabelStrimziCluster] = request.KafkaName()
	}
	wanted := environment.FingerprintOf(intents[0])
	kinds := []schema.GroupVersionKind{contract.KafkaKind(version), contract.KafkaNodePoolKind(version)}
	stale := false
	for _, kind := range kinds {
		objects, err := r.Cluster.ListOwned(ctx, s.experiment, kind, labels)
		if err != nil {
			return false, err
		}
		for i := range objects {
			stale = stale || outdated(&objects[i], wanted)
		}
	}
	if !stale {
		return false, nil
	}
	gone, err := component.Delete(ctx, r.Cluster, s.experiment, labels, kinds...)
	return !gone, err
}

// brokers says how the run's brokers are reached, or why that is not known.
func (r *Reconciler) brokers(ctx context.Context, request environment.Request) (kafkaadmin.Brokers, *environment.Readiness, error) {
	if kafka.IsExternal(request.System.Kafka) {
		return component.ExternalBrokers(ctx, r.Live, request.Namespace, request.System.Kafka.External)
	}
	version, _, err := r.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return kafkaadmin.Brokers{}, nil, err
	}
	object, err := r.Cluster.Get(ctx, contract.KafkaKind(version), client.ObjectKey{Namespace: request.Namespace, Name: request.KafkaName()})
	if err != nil {
		return kafkaadmin.Brokers{}, nil, err
	}
	servers := contract.Kafka{Object: object}.BootstrapServers(kafka.Listener)
	if servers == "" {
		unknown := environment.NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("Kafka %q does not tell its address yet", request.KafkaName()))
		return kafkaadmin.Brokers{}, &unknown, nil
	}
	return kafkaadmin.Brokers{Servers: strings.Split(servers, ",")}, nil, nil
}

// noteExternal notes that there will be topics in somebody else's brokers. It
// gives a reason to wait while an earlier note is being worked off.
func (r *Reconciler) noteExternal(ctx context.Context, request environment.Request) (*environment.Readiness, error) {
	ledger := kafka.Ledger(request)
	// Past the cache, which would have to hold every ConfigMap there is.
	current := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(ledger), current)
	if err == nil && current.DeletionTimestamp != nil {
		replacing := environment.NotReady(v1alpha1.ReasonReplacing, "the topics of an earlier configuration are being deleted")
		return &replacing, nil
	}
	if apierrors.IsNotFound(err) {
		return nil, r.Cluster.Create(ctx, ledger)
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %q, which notes that there will be topics: %w", ledger.Name, err)
	}
	return nil, r.Cluster.CheckOwner(current, ledger)
}
