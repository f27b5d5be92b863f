// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const (
	// linger is how long a changed topic waits for others to join its batch.
	linger = 100 * time.Millisecond
	// settling is how long brokers get to learn of topics that were just made.
	settling = 250 * time.Millisecond
	// defaultTopicInterval is the time between two looks at every topic.
	defaultTopicInterval = 2 * time.Minute
)

// TopicReconciler is the topic operator of every cluster. One reconcile serves
// one cluster, because topics are created in batches: all topics that changed
// go to Kafka in one request. A topic that failed is tried again only when it
// changes or at the periodic look, as with the real one.
//
// Without its Kafka nobody answers: topics left behind when a cluster is
// deleted keep their finalizer for ever.
type TopicReconciler struct {
	client.Client
	// Brokers reaches the cluster.
	Brokers Brokers
	// Now is the clock.
	Now func() time.Time

	lastLook sync.Map // of types.NamespacedName to time.Time: the last look at every topic
}

// SetupWithManager wakes the reconciler on topics that change, with a short
// delay in which they gather, and on clusters that become ready.
func (r *TopicReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-kafkatopic").
		For(&api.Kafka{}).
		Watches(&api.KafkaTopic{}, lingering(), builder.WithPredicates(changed)).
		Complete(r)
}

func lingering() handler.EventHandler {
	enqueue := func(object client.Object, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		for _, request := range clusterOf(context.Background(), object) {
			queue.AddAfter(request, linger)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(e.ObjectNew, q)
		},
	}
}

// Reconcile serves the topics of one cluster.
func (r *TopicReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	kafka := &api.Kafka{}
	if err := r.Get(ctx, req.NamespacedName, kafka); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !hasTopicOperator(kafka) {
		return ctrl.Result{}, nil
	}
	all := &api.KafkaTopicList{}
	if err := r.List(ctx, all, client.InNamespace(kafka.Namespace), client.MatchingLabels{api.LabelCluster: kafka.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("listing KafkaTopics of Kafka %q: %w", kafka.Name, err)
	}
	interval := topicInterval(kafka)
	everyone := r.lookIsDue(req.NamespacedName, interval)
	pending, err := r.settleWithoutKafka(ctx, all.Items, everyone)
	if err != nil {
		return ctrl.Result{}, err
	}
	complete, err := r.serve(ctx, kafka, pending)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !complete {
		return ctrl.Result{RequeueAfter: settling}, nil
	}
	if everyone {
		r.lastLook.Store(req.NamespacedName, r.Now())
	}
	return ctrl.Result{RequeueAfter: interval}, nil
}

// hasTopicOperator tells whether the cluster has been up, so that a topic
// operator would have been started beside it.
func hasTopicOperator(kafka *api.Kafka) bool {
	faults, err := fault.Parse(kafka.Annotations)
	return err == nil && !faults.Has(fault.Ignore) &&
		kafka.DeletionTimestamp == nil && kafka.Status.ClusterID != "" &&
		kafka.Spec.EntityOperator != nil && kafka.Spec.EntityOperator.TopicOperator != nil
}

func topicInterval(kafka *api.Kafka) time.Duration {
	if asked := kafka.Spec.EntityOperator.TopicOperator.ReconciliationIntervalMs; asked != nil {
		return time.Duration(*asked) * time.Millisecond
	}
	return defaultTopicInterval
}

func (r *TopicReconciler) lookIsDue(cluster types.NamespacedName, interval time.Duration) bool {
	last, looked := r.lastLook.Load(cluster)
	return !looked || r.Now().Sub(last.(time.Time)) >= interval
}

// settleWithoutKafka answers the topics that need no request and returns the others.
func (r *TopicReconciler) settleWithoutKafka(ctx context.Context, topics []api.KafkaTopic, everyone bool) ([]*api.KafkaTopic, error) {
	conflicting := conflicts(topics)
	var pending []*api.KafkaTopic
	for i := range topics {
		topic := &topics[i]
		if !everyone && !isNew(topic) {
			continue
		}
		faults, err := fault.Parse(topic.Annotations)
		if err != nil {
			return nil, reconcile.TerminalError(fmt.Errorf("KafkaTopic %q: %w", topic.Name, err))
		}
		conflict, conflicted := conflicting[topic.Name]
		switch {
		case faults.Has(fault.Ignore):
		case isPaused(topic):
			err = r.answer(ctx, topic, condition(api.ConditionReconciliationPaused, "", ""), topic.Status.TopicID)
		case topic.DeletionTimestamp != nil && (conflicted || !isManaged(topic)):
			err = r.release(ctx, topic)
		case conflicted:
			err = r.answer(ctx, topic, notReady(conflict), "")
		case !isManaged(topic):
			if err = r.release(ctx, topic); err == nil {
				err = r.answer(ctx, topic, condition(api.ConditionUnmanaged, "", ""), "")
			}
		case faults.Has(fault.KafkaError) && topic.DeletionTimestamp == nil:
			err = r.answer(ctx, topic, notReady(fakedError(faults)), "")
		default:
			pending = append(pending, topic)
		}
		if err != nil {
			return nil, err
		}
	}
	return pending, nil
}

func fakedError(faults fault.Faults) refusal {
	message := faults[fault.KafkaError]
	if message == "" {
		message = "org.apache.kafka.common.errors.UnknownServerException: asked for by the annotation " + fault.Annotation
	}
	return refusal{reasonKafkaError, message}
}

// serve takes the topics to Kafka, batch by batch. It is complete when every
// topic has got its answer.
func (r *TopicReconciler) serve(ctx context.Context, kafka *api.Kafka, topics []*api.KafkaTopic) (complete bool, err error) {
	if len(topics) == 0 {
		return true, nil
	}
	conn, err := r.Brokers.connect(internalBootstrap(kafka))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	complete = true
	for batch := range slices.Chunk(topics, batchSize(kafka)) {
		answered, err := r.serveBatch(ctx, topicAdmin{conn}, batch)
		if err != nil {
			return false, fmt.Errorf("serving topics of Kafka %q: %w", kafka.Name, err)
		}
		complete = complete && answered
	}
	return complete, nil
}

func (r *TopicReconciler) serveBatch(ctx context.Context, admin topicAdmin, batch []*api.KafkaTopic) (complete bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*dialTimeout)
	defer cancel()
	var leaving, staying []*api.KafkaTopic
	for _, topic := range batch {
		if topic.DeletionTimestamp != nil {
			leaving = append(leaving, topic)
		} else {
			staying = append(staying, topic)
		}
	}
	if err := r.removeTopics(ctx, admin, leaving); err != nil {
		return false, err
	}
	for _, topic := range staying {
		if err := r.hold(ctx, topic); err != nil {
			return false, err
		}
	}
	return r.changeTopics(ctx, admin, staying)
}

func (r *TopicReconciler) removeTopics(ctx context.Context, admin topicAdmin, topics []*api.KafkaTopic) error {
	refused, err := admin.remove(ctx, namesOf(topics))
	if err != nil {
		return err
	}
	for _, topic := range topics {
		if why, failed := refused[topicName(topic)]; failed {
			err = r.answer(ctx, topic, notReady(why), topic.Status.TopicID)
		} else {
			err = r.release(ctx, topic)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeTopics makes the topics what their objects want: one request to look,
// one to create, one to grow, then the settings.
func (r *TopicReconciler) changeTopics(ctx context.Context, admin topicAdmin, topics []*api.KafkaTopic) (complete bool, err error) {
	found, err := admin.describe(ctx, namesOf(topics))
	if err != nil {
		return false, err
	}
	work := sortedOut(topics, found)
	made, refusedCreations, err := admin.create(ctx, work.creating)
	if err != nil {
		return false, err
	}
	refusedGrowths, err := admin.grow(ctx, work.growing)
	if err != nil {
		return false, err
	}
	refusedSettings, err := admin.configure(ctx, work.configuring)
	if err != nil {
		return false, err
	}
	complete = true
	for _, topic := range topics {
		name := topicName(topic)
		id := cmp.Or(made[name], found[name].ID)
		why, failed := firstRefusal(name, work.refused, refusedCreations, refusedGrowths, refusedSettings)
		switch {
		case failed:
			err = r.answer(ctx, topic, notReady(why), id)
		case id == "":
			complete = false
		default:
			err = r.answer(ctx, topic, ready(), id)
		}
		if err != nil {
			return false, err
		}
	}
	return complete, nil
}

// batchWork is what a batch of topics asks of Kafka.
type batchWork struct {
	creating    []*api.KafkaTopic
	growing     map[string]int32
	configuring []*api.KafkaTopic
	refused     map[string]refusal
}

func sortedOut(topics []*api.KafkaTopic, found map[string]existing) batchWork {
	work := batchWork{growing: map[string]int32{}, refused: map[string]refusal{}}
	for _, topic := range topics {
		name := topicName(topic)
		todo := changeFor(topic, found[name])
		switch {
		case todo.Refuse != nil:
			work.refused[name] = *todo.Refuse
			continue
		case todo.Create:
			work.creating = append(work.creating, topic)
			continue
		case todo.GrowTo > 0:
			work.growing[name] = todo.GrowTo
		}
		work.configuring = append(work.configuring, topic)
	}
	return work
}

func firstRefusal(name string, lists ...map[string]refusal) (refusal, bool) {
	for _, list := range lists {
		if why, found := list[name]; found {
			return why, true
		}
	}
	return refusal{}, false
}

// answer writes one condition as the topic's status. Its observedGeneration
// follows always, also on failure.
func (r *TopicReconciler) answer(ctx context.Context, topic *api.KafkaTopic, verdict api.Condition, id string) error {
	before := topic.DeepCopy()
	topic.Status.Conditions = withTimes(before.Status.Conditions, []api.Condition{verdict}, r.Now())
	topic.Status.ObservedGeneration = topic.Generation
	topic.Status.TopicID = id
	if topic.Status.TopicName == "" && id != "" {
		topic.Status.TopicName = topicName(topic)
	}
	if equality.Semantic.DeepEqual(before.Status, topic.Status) {
		return nil
	}
	if err := client.IgnoreNotFound(r.Status().Patch(ctx, topic, client.MergeFrom(before))); err != nil {
		return fmt.Errorf("updating the status of KafkaTopic %q: %w", topic.Name, err)
	}
	return nil
}

// hold puts the finalizer on, so that the topic is deleted before its object.
func (r *TopicReconciler) hold(ctx context.Context, topic *api.KafkaTopic) error {
	return r.finalize(ctx, topic, controllerutil.AddFinalizer)
}

func (r *TopicReconciler) release(ctx context.Context, topic *api.KafkaTopic) error {
	return r.finalize(ctx, topic, controllerutil.RemoveFinalizer)
}

func (r *TopicReconciler) finalize(ctx context.Context, topic *api.KafkaTopic, change func(client.Object, string) bool) error {
	before := topic.DeepCopy()
	if !change(topic, api.FinalizerTopicOperator) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.Patch(ctx, topic, patch)); err != nil {
		return fmt.Errorf("changing the finalizers of KafkaTopic %q: %w", topic.Name, err)
	}
	return nil
}

func namesOf(topics []*api.KafkaTopic) []string {
	var names []string
	for _, topic := range topics {
		names = append(names, topicName(topic))
	}
	return names
}
