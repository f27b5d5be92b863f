// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/network/allowedhosts"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// topicBudget is how long one pass makes topics: then it shows how far it
	// has come.
	topicBudget = 3 * time.Second
	// topicPause is the time between two such passes. Nobody watches topics.
	topicPause = time.Second
)

// kafkaKinds are those of the Strimzi that is installed.
func kafkaKinds(cluster kube.Cluster) ([]schema.GroupVersionKind, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return nil, err
	}
	return []schema.GroupVersionKind{contract.KafkaKind(version), contract.KafkaNodePoolKind(version)}, nil
}

// kafkaCluster is Kafka with its topics: Strimzi's, or somebody else's brokers.
type kafkaCluster struct{ Part }

// Needs Strimzi, unless the brokers are somebody else's.
func (kafkaCluster) Needs(request environment.Request) []Operator {
	if !kafka.NeedsStrimzi(request.System.Kafka) {
		return nil
	}
	return []Operator{{contract.KafkaGroupKind, kafka.Strimzi(request.System.Kafka)}}
}

// Provision builds the brokers, unless they are somebody else's, and the topics
// in them.
func (k kafkaCluster) Provision(ctx context.Context, p *Pass) (Progress, error) {
	declared := p.Run.Spec.System.Kafka
	if declared == nil {
		return Progress{Readiness: notDeclared()}, nil
	}
	if !kafka.IsExternal(declared) {
		readiness, err := k.provisionBrokers(ctx, p)
		if err != nil || !readiness.Ready {
			return Progress{Readiness: readiness}, err
		}
	}
	readiness, err := k.provisionTopics(ctx, p)
	return Progress{Readiness: readiness, After: topicPause}, err
}

func (k kafkaCluster) provisionBrokers(ctx context.Context, p *Pass) (environment.Readiness, error) {
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return environment.Readiness{}, err
	}
	request := p.Request()
	if served := kafka.AssessServed(request, version); !served.Ready {
		return served, nil
	}
	intents := kafka.Build(request, version)
	replacing, err := k.replace(ctx, p, intents)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "an earlier Kafka is being taken down: it was made from another configuration, or did not come up"), nil
	}
	if err := p.ApplyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := p.observe(ctx, intents, map[string]string{contract.LabelStrimziCluster: request.KafkaName()})
	if err != nil {
		return environment.Readiness{}, err
	}
	if observed.Pods, err = k.ours(ctx, p, observed.Pods); err != nil {
		return environment.Readiness{}, err
	}
	if kafka.LacksPods(request, observed) {
		if err := k.askForNodes(ctx, p, &observed); err != nil {
			return environment.Readiness{}, err
		}
	}
	return kafka.Assess(request, observed), nil
}

// +kubebuilder:rbac:groups=core.strimzi.io,resources=strimzipodsets,verbs=get;list

// askForNodes finds out why Strimzi's pods are not there: what the API server
// has against them stands on no object, so it is asked for one that a set lacks,
// as Strimzi asks. Those of a set are alike.
func (k kafkaCluster) askForNodes(ctx context.Context, p *Pass, observed *environment.Observed) error {
	request := p.Request()
	lineage, err := k.lineage(ctx, p)
	if err != nil {
		return err
	}
	podSets, err := k.podSets(ctx, p, lineage)
	if err != nil {
		return err
	}
	for i := range podSets {
		podSet := &podSets[i]
		observed.Objects[environment.Key{Kind: podSet.GetKind(), Name: podSet.GetName()}] = podSet
		pods := contract.StrimziPods(podSet)
		at := slices.IndexFunc(pods, func(pod unstructured.Unstructured) bool {
			return !slices.ContainsFunc(observed.Pods, func(there corev1.Pod) bool { return there.Name == pod.GetName() })
		})
		if at < 0 {
			continue
		}
		pods[at].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		pods[at].SetNamespace(request.Namespace)
		refusal, err := p.Cluster.CreateRefusal(ctx, &pods[at])
		if err != nil || refusal != "" {
			observed.Refused = prose.Sentence(refusal)
			return err
		}
	}
	return nil
}

// lineage are our Kafka and its pools.
func (k kafkaCluster) lineage(ctx context.Context, p *Pass) (Lineage, error) {
	request := p.Request()
	kinds, err := k.kinds(p.Cluster)
	if err != nil {
		return nil, err
	}
	lineage := Lineage{}
	for _, kind := range kinds {
		made, err := p.Cluster.ListOwned(ctx, p.Experiment, kind, naming.ComponentLabels(request.Experiment, environment.ComponentKafka))
		if err != nil {
			return nil, err
		}
		lineage.add(made)
	}
	return lineage, nil
}

// podSets are those that Strimzi has made for our Kafka and its pools, which are the lineage.
// They are read once in a pass, past the cache.
func (kafkaCluster) podSets(ctx context.Context, p *Pass, lineage Lineage) ([]unstructured.Unstructured, error) {
	if p.podSets != nil {
		return kept(p.podSets.Items, lineage.Owns), nil
	}
	version, served, err := p.Cluster.Serves(contract.StrimziPodSetKind)
	if err != nil || !served {
		return nil, err
	}
	request := p.Request()
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(contract.StrimziPodSetKind.WithVersion(version))
	err = p.Live.List(ctx, found, client.InNamespace(request.Namespace), client.MatchingLabels{contract.LabelStrimziCluster: request.KafkaName()})
	if err != nil {
		return nil, fmt.Errorf("listing the StrimziPodSets of Kafka %q: %w", request.KafkaName(), err)
	}
	p.podSets = found
	return kept(found.Items, lineage.Owns), nil
}

// ours are the pods that Strimzi has made for our Kafka and its pools.
func (k kafkaCluster) ours(ctx context.Context, p *Pass, pods []corev1.Pod) ([]corev1.Pod, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	lineage, err := k.lineage(ctx, p)
	if err != nil {
		return nil, err
	}
	podSets, err := k.podSets(ctx, p, lineage)
	if err != nil {
		return nil, err
	}
	extend(lineage, podSets, lineage.Owns)
	return kept(pods, lineage.Owns), nil
}

// running are the brokers and controllers of our Kafka that run.
func (k kafkaCluster) running(ctx context.Context, p *Pass) ([]corev1.Pod, error) {
	pods, err := p.pods(ctx, map[string]string{contract.LabelStrimziCluster: p.Request().KafkaName()})
	if err != nil {
		return nil, err
	}
	pods, err = k.ours(ctx, p, pods)
	return running(pods), err
}

// provisionTopics makes the declared topics, as many as fit into one pass.
// Once the run has been provisioned they are left alone: what became of them
// is for the proof to say.
func (k kafkaCluster) provisionTopics(ctx context.Context, p *Pass) (environment.Readiness, error) {
	request := p.Request()
	wanted := kafka.Topics(request)
	if p.Run.Status.Timings.Provisioned != nil {
		return environment.Ready(prose.Partly(len(wanted), len(wanted), "topic") + " made"), nil
	}
	before := kafka.AssessTopics(wanted, nil)
	external := kafka.IsExternal(request.System.Kafka)
	if before.Reason == v1alpha1.ReasonRefused || before.Ready && !external {
		return before, nil
	}
	brokers, trouble, err := k.brokers(ctx, p)
	if err != nil || trouble != nil {
		return orReady(trouble), err
	}
	if external {
		noted, err := k.noteExternal(ctx, p)
		if err != nil || noted != nil {
			return orReady(noted), err
		}
	}
	if before.Ready {
		_, err := p.Kafka.Describe(ctx, brokers)
		return brokersAnswer(err), nil
	}
	found, err := p.Kafka.EnsureTopics(ctx, brokers, wanted, topicBudget)
	if err != nil {
		return brokersAnswer(err), nil
	}
	return kafka.AssessTopics(wanted, found), nil
}

// brokersAnswer is the readiness of brokers that gave this error.
func brokersAnswer(err error) environment.Readiness {
	var refusal *kafkaadmin.Refusal
	var elsewhere *allowedhosts.NotAllowed
	switch {
	case err == nil:
		return environment.Ready("the brokers answer")
	case errors.As(err, &refusal):
		return environment.NotReady(v1alpha1.ReasonRefused, refusal.Error())
	case errors.As(err, &elsewhere):
		return environment.NotReady(v1alpha1.ReasonHostNotAllowed, "the brokers name an address of theirs, and "+elsewhere.Error())
	default:
		return unanswered("the brokers don't answer", err)
	}
}

func orReady(trouble *environment.Readiness) environment.Readiness {
	if trouble == nil {
		return environment.Readiness{}
	}
	return *trouble
}

// replace takes a Kafka down that was made from another declaration, with
// pools the new one does not have, or does not come up, and says true until all of
// it is gone.
// Kafkas that are kept warm beside the run's own are not looked at.
func (k kafkaCluster) replace(ctx context.Context, p *Pass, intents []environment.Intent) (bool, error) {
	request := p.Request()
	labels := naming.ComponentLabels(request.Experiment, environment.ComponentKafka)
	if request.StaysWarm() {
		labels[contract.LabelStrimziCluster] = request.KafkaName()
	}
	wanted := environment.ReadFingerprint(intents[0])
	kinds, err := k.kinds(p.Cluster)
	if err != nil {
		return false, err
	}
	stale := false
	for _, kind := range kinds {
		objects, err := p.Cluster.ListOwned(ctx, p.Experiment, kind, labels)
		if err != nil {
			return false, err
		}
		for i := range objects {
			stale = stale || outdated(&objects[i], wanted) || p.atStandstill(&objects[i], v1alpha1.ConditionKafkaReady)
		}
	}
	if !stale {
		return false, nil
	}
	gone, err := Delete(ctx, p.Cluster, p.Experiment, labels, kinds...)
	return !gone, err
}

// brokers says how the run's brokers are reached, or why that is not known.
func (k kafkaCluster) brokers(ctx context.Context, p *Pass) (kafkaadmin.Brokers, *environment.Readiness, error) {
	request := p.Request()
	if kafka.IsExternal(request.System.Kafka) {
		return ExternalBrokers(ctx, p.Live, request.Namespace, request.System.Kafka.External)
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return kafkaadmin.Brokers{}, nil, err
	}
	object, err := p.Own(ctx, contract.KafkaKind(version), request.KafkaName())
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
// gives a reason to wait while an earlier note is being worked off. A note that
// somebody has changed, or made before, becomes ours.
func (k kafkaCluster) noteExternal(ctx context.Context, p *Pass) (*environment.Readiness, error) {
	ledger := kafka.Ledger(p.Request())
	// Past the cache, which would have to hold every ConfigMap there is.
	current := &corev1.ConfigMap{}
	err := p.Live.Get(ctx, client.ObjectKeyFromObject(ledger), current)
	if err == nil && current.DeletionTimestamp != nil {
		replacing := environment.NotReady(v1alpha1.ReasonReplacing, "the topics of an earlier configuration are being deleted")
		return &replacing, nil
	}
	if apierrors.IsNotFound(err) {
		return nil, p.Cluster.Create(ctx, ledger)
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %q, which notes that there will be topics: %w", ledger.Name, err)
	}
	if err := p.Cluster.CheckOwner(current, ledger); err != nil {
		return nil, err
	}
	return nil, p.asNoted(ctx, current, ledger)
}

// asNoted brings back what somebody has changed of a note.
func (p *Pass) asNoted(ctx context.Context, current, ledger *corev1.ConfigMap) error {
	before := current.DeepCopy()
	current.Data = ledger.Data
	for key, value := range ledger.Labels {
		metav1.SetMetaDataLabel(&current.ObjectMeta, key, value)
	}
	controllerutil.AddFinalizer(current, v1alpha1.Finalizer)
	if equality.Semantic.DeepEqual(before, current) {
		return nil
	}
	return p.Cluster.PatchIfUnchanged(ctx, current, before)
}

// TearDown takes away what was built; its pods go with it, save those of a Kafka
// that somebody else made under such a name. Topics in somebody else's brokers go
// last, for the modules may hold on to them.
func (k kafkaCluster) TearDown(ctx context.Context, down *Demolition) (Departure, error) {
	version, _, err := down.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return Leaving, err
	}
	departure, err := down.operated(ctx, k.Part, contract.KafkaKind(version), contract.LabelStrimziCluster, naming.IsKafka)
	if err != nil || departure != Gone || !down.othersGone {
		return departure, err
	}
	return down.externalTopics(ctx)
}
