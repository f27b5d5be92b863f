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
	"k8s.io/utils/ptr"
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
	// topicTimeout bounds how long one reconcile creates topics. The next one continues.
	topicTimeout = 3 * time.Second
	// topicPollInterval is the time between such reconciles: topics cannot be watched.
	topicPollInterval = time.Second
)

// kafkaKinds are the kinds of the installed Strimzi version.
func kafkaKinds(cluster kube.Cluster) ([]schema.GroupVersionKind, error) {
	version, served, err := cluster.Serves(contract.KafkaGroupKind)
	if err != nil || !served {
		return nil, err
	}
	return []schema.GroupVersionKind{contract.KafkaKind(version), contract.KafkaNodePoolKind(version)}, nil
}

// +kubebuilder:rbac:groups=kafka.strimzi.io,resources=kafkas;kafkanodepools,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;create;patch;delete

// kafkaCluster is Kafka and its topics, on Strimzi's brokers or external ones.
type kafkaCluster struct{ Base }

// RequiredOperators returns Strimzi unless the brokers are external.
func (kafkaCluster) RequiredOperators(request environment.Request) []Operator {
	if !kafka.NeedsStrimzi(request.System.Kafka) {
		return nil
	}
	return []Operator{{contract.KafkaGroupKind, kafka.Strimzi(request.System.Kafka)}}
}

// Provision builds the brokers, unless they are external, and the topics.
func (k kafkaCluster) Provision(ctx context.Context, p *Scope) (Progress, error) {
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
	return Progress{Readiness: readiness, RequeueAfter: topicPollInterval}, err
}

func (k kafkaCluster) provisionBrokers(ctx context.Context, p *Scope) (environment.Readiness, error) {
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return environment.Readiness{}, err
	}
	request := p.Request()
	if served := kafka.AssessServed(request, version); !served.Ready {
		return served, nil
	}
	intents := kafka.Build(request, version)
	replacing, err := k.deleteOutdated(ctx, p, intents)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "waiting for an earlier Kafka to be deleted: it has another configuration or did not become ready"), nil
	}
	if err := p.ApplyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := p.observe(ctx, intents, map[string]string{contract.LabelStrimziCluster: request.KafkaName()})
	if err != nil {
		return environment.Readiness{}, err
	}
	if observed.Pods, err = k.ownPods(ctx, p, observed.Pods); err != nil {
		return environment.Readiness{}, err
	}
	if kafka.LacksPods(request, observed) {
		if err := k.findPodRefusal(ctx, p, &observed); err != nil {
			return environment.Readiness{}, err
		}
	}
	return kafka.Assess(request, observed), nil
}

// +kubebuilder:rbac:groups=core.strimzi.io,resources=strimzipodsets,verbs=get;list

// findPodRefusal finds out why Strimzi's pods are missing. No object reports the API server's
// refusal, so the operator sends a dry run of one missing pod per set: the pods of a set are
// alike.
func (k kafkaCluster) findPodRefusal(ctx context.Context, p *Scope, observed *environment.Observed) error {
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

// lineage is the run's Kafka and its node pools.
func (k kafkaCluster) lineage(ctx context.Context, p *Scope) (Lineage, error) {
	made, err := k.resources(ctx, p)
	lineage := Lineage{}
	lineage.addAll(made)
	return lineage, err
}

// resources returns the run's Kafka and its node pools.
func (k kafkaCluster) resources(ctx context.Context, p *Scope) ([]unstructured.Unstructured, error) {
	kinds, err := k.kinds(p.Cluster)
	if err != nil {
		return nil, err
	}
	var all []unstructured.Unstructured
	for _, kind := range kinds {
		made, err := p.Cluster.ListOwned(ctx, p.Experiment, kind, naming.ComponentLabels(p.Request().Experiment, environment.ComponentKafka))
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// podSets returns the StrimziPodSets of the lineage. They are read once per reconcile, from the
// API server.
func (kafkaCluster) podSets(ctx context.Context, p *Scope, lineage Lineage) ([]unstructured.Unstructured, error) {
	if p.podSets != nil {
		return filter(p.podSets.Items, lineage.Owns), nil
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
	return filter(found.Items, lineage.Owns), nil
}

// ownPods filters the pods of the run's Kafka and its node pools.
func (k kafkaCluster) ownPods(ctx context.Context, p *Scope, pods []corev1.Pod) ([]corev1.Pod, error) {
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
	addMatching(lineage, podSets, lineage.Owns)
	return filter(pods, lineage.Owns), nil
}

// runningPods returns the running brokers and controllers of the run's Kafka.
func (k kafkaCluster) runningPods(ctx context.Context, p *Scope) ([]corev1.Pod, error) {
	pods, err := p.pods(ctx, map[string]string{contract.LabelStrimziCluster: p.Request().KafkaName()})
	if err != nil {
		return nil, err
	}
	pods, err = k.ownPods(ctx, p, pods)
	return runningPods(pods), err
}

// provisionTopics creates the declared topics, as many as one reconcile can. Once the run is
// provisioned it does not touch topics: the verification reports changes.
func (k kafkaCluster) provisionTopics(ctx context.Context, p *Scope) (environment.Readiness, error) {
	request := p.Request()
	wanted := kafka.Topics(request)
	if p.Run.Status.Timings.Provisioned != nil {
		return environment.Ready(prose.Partly(len(wanted), len(wanted), "topic") + " created"), nil
	}
	before := kafka.AssessTopics(wanted, nil)
	external := kafka.IsExternal(request.System.Kafka)
	if before.Reason == v1alpha1.ReasonRefused || before.Ready && !external {
		return before, nil
	}
	brokers, problem, err := k.brokers(ctx, p)
	if err != nil || problem != nil {
		return ptr.Deref(problem, environment.Readiness{}), err
	}
	if external {
		noted, err := k.recordExternalTopics(ctx, p)
		if err != nil || noted != nil {
			return ptr.Deref(noted, environment.Readiness{}), err
		}
	}
	if before.Ready {
		_, err := p.Kafka.Describe(ctx, brokers)
		return brokersReadiness(err), nil
	}
	if _, err := deleteOtherLayouts(ctx, p, brokers); err != nil {
		return brokersReadiness(err), nil
	}
	found, err := p.Kafka.EnsureTopics(ctx, brokers, wanted, topicTimeout)
	if err != nil {
		return brokersReadiness(err), nil
	}
	return kafka.AssessTopics(wanted, found), nil
}

// deleteOtherLayouts deletes the topics of other arms from brokers that were built for the
// experiment, and returns how many there were: brokers with the partitions of all arms would hide
// the effect of an arm's number. External brokers keep them until the experiment ends. So do brokers
// with delete.topic.enable: false; validation warns about that setting.
func deleteOtherLayouts(ctx context.Context, p *Scope, brokers kafkaadmin.Brokers) (int, error) {
	request := p.Request()
	if kafka.IsExternal(request.System.Kafka) {
		return 0, nil
	}
	found, err := p.Kafka.DeleteTopics(ctx, brokers, func(topic string) bool { return kafka.IsOtherLayout(request, topic) })
	if errors.Is(err, kafkaadmin.ErrDeletionDisabled) {
		return 0, nil
	}
	return found, err
}

// brokersReadiness is the readiness of brokers after a request.
func brokersReadiness(err error) environment.Readiness {
	var refusal *kafkaadmin.TopicError
	var elsewhere *allowedhosts.NotAllowed
	switch {
	case err == nil:
		return environment.Ready("the brokers answer")
	case errors.As(err, &refusal):
		return environment.NotReady(v1alpha1.ReasonRefused, refusal.Error())
	case errors.As(err, &elsewhere):
		return environment.NotReady(v1alpha1.ReasonHostNotAllowed, "the brokers advertise another address, and "+elsewhere.Error())
	default:
		return unreachable("the brokers don't answer", err)
	}
}

// deleteOutdated deletes a Kafka that was built from another declaration, has other node pools
// or is stuck, and reports whether it still exists. It leaves Kafkas that are kept warm.
func (k kafkaCluster) deleteOutdated(ctx context.Context, p *Scope, intents []environment.Intent) (bool, error) {
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
			stale = stale || isOutdated(&objects[i], wanted) || p.isStuck(&objects[i], v1alpha1.ConditionKafkaReady)
		}
	}
	if !stale {
		return false, nil
	}
	gone, err := Delete(ctx, p.Cluster, p.Experiment, labels, kinds...)
	return !gone, err
}

// brokers returns the connection to the run's brokers, or why it is unknown.
func (k kafkaCluster) brokers(ctx context.Context, p *Scope) (kafkaadmin.Brokers, *environment.Readiness, error) {
	request := p.Request()
	if kafka.IsExternal(request.System.Kafka) {
		return ExternalBrokers(ctx, p.Live, request.Namespace, request.System.Kafka.External)
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return kafkaadmin.Brokers{}, nil, err
	}
	object, err := p.GetOwned(ctx, contract.KafkaKind(version), request.KafkaName())
	if err != nil {
		return kafkaadmin.Brokers{}, nil, err
	}
	servers := contract.Kafka{Object: object}.BootstrapServers(kafka.Listener)
	if servers == "" {
		unknown := environment.NotReady(v1alpha1.ReasonCreating, fmt.Sprintf("Kafka %q does not report its address yet", request.KafkaName()))
		return kafkaadmin.Brokers{}, &unknown, nil
	}
	return kafkaadmin.Brokers{Servers: strings.Split(servers, ",")}, nil, nil
}

// recordExternalTopics stores the ledger by which teardown deletes the topics in external
// brokers. It returns a reason to wait while an earlier ledger is being deleted. A ledger that
// someone created or changed is overwritten.
func (k kafkaCluster) recordExternalTopics(ctx context.Context, p *Scope) (*environment.Readiness, error) {
	ledger := kafka.Ledger(p.Request())
	// From the API server: the cache holds no ConfigMaps.
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
		return nil, fmt.Errorf("reading the ledger of external topics, ConfigMap %q: %w", ledger.Name, err)
	}
	if err := p.Cluster.CheckOwner(current, ledger); err != nil {
		return nil, err
	}
	return nil, p.restoreLedger(ctx, current, ledger)
}

// restoreLedger undoes changes of others to a ledger.
func (p *Scope) restoreLedger(ctx context.Context, current, ledger *corev1.ConfigMap) error {
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

// TearDown deletes what was built and waits for its pods, but not for those of someone else's
// Kafka of that name. It deletes topics in external brokers last, because modules may still use
// them.
func (k kafkaCluster) TearDown(ctx context.Context, down *Teardown) (TeardownState, error) {
	version, _, err := down.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return TeardownPending, err
	}
	departure, err := down.tearDownOperated(ctx, k.Base, contract.KafkaKind(version), contract.LabelStrimziCluster, naming.IsKafka)
	if err != nil || departure != TeardownComplete || !down.dependentsDeleted {
		return departure, err
	}
	return down.externalTopics(ctx)
}
