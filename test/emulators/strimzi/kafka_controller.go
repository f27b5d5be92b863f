// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/test/emulators/fault"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const (
	// retryInterval is the polling interval for state that no watch reports.
	retryInterval = time.Second
	// failedInterval is the delay before a failed cluster is retried.
	failedInterval = 2 * time.Minute
)

// KafkaReconciler is the cluster operator: it turns a Kafka and its pools into running
// brokers and reports their status.
type KafkaReconciler struct {
	client.Client
	// Brokers checks whether Kafka itself serves clients.
	Brokers Brokers
	// Generation is the emulated release of Strimzi.
	Generation Generation
	// OperationTimeout is how long Pods and brokers may take to become ready
	// before the cluster is reported as failed.
	OperationTimeout time.Duration
	// ReadyDelay is the time from the readiness of the last Pod to that of the cluster; the
	// real operator takes 10 to 30 s.
	ReadyDelay time.Duration
	// Now is the clock.
	Now func() time.Time
}

// SetupWithManager watches the Kafka and its StrimziPodSets, its Pods, and the specs,
// annotations and labels of its pools. It also watches the Kafka's own status: a
// reconcile may have read the Pods later than the status.
func (r *KafkaReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-kafka").
		For(&api.Kafka{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(clusterRequest)).
		Watches(&api.StrimziPodSet{}, handler.EnqueueRequestsFromMapFunc(clusterRequest)).
		Watches(&api.KafkaNodePool{}, handler.EnqueueRequestsFromMapFunc(clusterRequest), builder.WithPredicates(changed)).
		Complete(r)
}

// clusterRequest returns the Kafka of an object, from its label.
func clusterRequest(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[api.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// Reconcile takes the next step of one cluster and reports its status. While nodes roll,
// the status from before the change is kept.
func (r *KafkaReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	kafka := &api.Kafka{}
	if err := r.Get(ctx, req.NamespacedName, kafka); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if kafka.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	faults, err := fault.Parse(kafka.Annotations)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	if faults.Has(fault.Ignore) {
		return ctrl.Result{}, nil
	}
	if kafka.Annotations[api.AnnotationPause] == "true" {
		return ctrl.Result{}, r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setPaused(s, kafka.Generation, r.Now()) })
	}
	if len(kafka.Status.Conditions) == 0 {
		if err := r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setCreating(s, r.Now()) }); err != nil {
			return ctrl.Result{}, err
		}
	}
	if faults.Has(fault.GoneAfterFirstStatus) {
		return ctrl.Result{}, nil
	}
	result, err := r.reconcileCluster(ctx, kafka, faults)
	if late, is := errors.AsType[timedOut](err); is {
		return r.fail(ctx, kafka, late.invalidSpec, late.warnings)
	}
	if cause, invalid := errors.AsType[invalidSpec](err); invalid {
		return r.fail(ctx, kafka, cause, nil)
	}
	return result, err
}

func (r *KafkaReconciler) fail(ctx context.Context, kafka *api.Kafka, cause invalidSpec, warnings []api.Condition) (ctrl.Result, error) {
	ctrl.LoggerFrom(ctx).Info("cluster failed", "reason", cause.Class, "message", cause.Message)
	return ctrl.Result{RequeueAfter: failedInterval},
		r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setFailed(s, kafka.Generation, cause, warnings, r.Now()) })
}

// reconcileCluster returns an invalidSpec for an error to report as NotReady.
func (r *KafkaReconciler) reconcileCluster(ctx context.Context, kafka *api.Kafka, faults fault.Faults) (ctrl.Result, error) {
	if faults.Has(fault.NotReady) {
		class := faults[fault.NotReady]
		if class == "" {
			class = "RuntimeException"
		}
		return ctrl.Result{}, invalidSpec{class, "set by the annotation " + fault.Annotation}
	}
	pools, err := r.listPools(ctx, kafka)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Generation.check(kafka, pools); err != nil {
		return ctrl.Result{}, err
	}
	if !r.Generation.onZooKeeper(kafka) {
		nodes := assignNodes(pools)
		if err := r.recordPools(ctx, kafka, nodes, pools); err != nil {
			return ctrl.Result{}, err
		}
		return r.serve(ctx, kafka, faults, nodes)
	}
	return r.serve(ctx, kafka, faults, zooKeeperNodes(kafka), brokersOnZooKeeper(kafka))
}

func (r *KafkaReconciler) serve(ctx context.Context, kafka *api.Kafka, faults fault.Faults, components ...[]node) (ctrl.Result, error) {
	if faults.Has(fault.BrokerLost) {
		if err := r.loseBroker(ctx, kafka, components[len(components)-1], faults[fault.BrokerLost]); err != nil {
			return ctrl.Result{}, err
		}
	}
	return r.bringUp(ctx, kafka, components...)
}

// bringUp takes the next step of the components in order. A component follows when the previous
// one is ready. When all are ready, bringUp queries the brokers.
func (r *KafkaReconciler) bringUp(ctx context.Context, kafka *api.Kafka, components ...[]node) (ctrl.Result, error) {
	nodes := slices.Concat(components...)
	var there []corev1.Pod
	var since time.Time
	for _, component := range components {
		members, err := r.Generation.newMembers(kafka, component)
		if err != nil {
			return ctrl.Result{}, err
		}
		specified, err := r.applyAll(ctx, kafka, members)
		if err != nil {
			return ctrl.Result{}, err
		}
		pods, err := r.listPods(ctx, kafka, component)
		if err != nil {
			return ctrl.Result{}, err
		}
		since = latest(since, specified, youngest(pods))
		there = append(there, pods...)
		next := nextStep(members, pods)
		if err := r.applyStep(ctx, next); err != nil {
			return ctrl.Result{}, err
		}
		if !next.settled() {
			if err := r.reportScaling(ctx, kafka, component, next); err != nil {
				return ctrl.Result{}, err
			}
			return r.wait(ctx, awaitedPod(kafka, next), since, nodes)
		}
	}
	if left := r.ReadyDelay - r.Now().Sub(readySince(there)); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	id, err := r.Brokers.Serving(ctx, internalBootstrap(kafka), nodeIDs(brokers(nodes)))
	if err != nil {
		return r.wait(ctx, err.Error(), since, nodes)
	}
	return ctrl.Result{}, r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { r.Generation.setReady(s, kafka, nodes, id, r.Now()) })
}

// applyAll creates or updates the objects of a component, and returns when its Pods were
// last specified.
func (r *KafkaReconciler) applyAll(ctx context.Context, kafka *api.Kafka, members []member) (time.Time, error) {
	if err := r.applySupport(ctx, kafka, members); err != nil {
		return time.Time{}, err
	}
	var last time.Time
	for _, wanted := range newPodSets(kafka, members) {
		set, err := r.applyPodSet(ctx, kafka, members, wanted)
		if err != nil {
			return time.Time{}, err
		}
		last = latest(last, specifiedAt(set))
	}
	return last, r.removePodSets(ctx, kafka, members)
}

// applyPodSet creates or updates a StrimziPodSet. Before that, it creates the other objects of
// the Pods.
func (r *KafkaReconciler) applyPodSet(ctx context.Context, kafka *api.Kafka, members []member, wanted *api.StrimziPodSet) (*api.StrimziPodSet, error) {
	set := &api.StrimziPodSet{ObjectMeta: wanted.ObjectMeta}
	err := r.Get(ctx, client.ObjectKeyFromObject(wanted), set)
	if err == nil && equality.Semantic.DeepEqual(set.Spec, wanted.Spec) {
		return set, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading StrimziPodSet %q: %w", wanted.Name, err)
	}
	for _, object := range r.Generation.supportObjects(kafka, members) {
		if err := r.createOwned(ctx, kafka, object); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(members, func(m member) bool { return m.podSetName() == wanted.Name })
	set = &api.StrimziPodSet{ObjectMeta: wanted.ObjectMeta}
	return set, r.apply(ctx, podSetOwner(kafka, members[i].node), set, func() { set.Spec = wanted.Spec })
}

// removePodSets deletes the StrimziPodSets of deleted pools.
func (r *KafkaReconciler) removePodSets(ctx context.Context, kafka *api.Kafka, members []member) error {
	sets := &api.StrimziPodSetList{}
	labels := client.MatchingLabels(nodeSelector(kafka.Name, members[0].component()))
	if err := r.List(ctx, sets, client.InNamespace(kafka.Namespace), labels); err != nil {
		return fmt.Errorf("listing StrimziPodSets of Kafka %q: %w", kafka.Name, err)
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		if slices.ContainsFunc(members, func(m member) bool { return m.podSetName() == set.Name }) {
			continue
		}
		if err := r.Delete(ctx, set); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting StrimziPodSet %q: %w", set.Name, err)
		}
	}
	return nil
}

// awaitedPod returns the Pod that the operator waits for, in Strimzi's form.
func awaitedPod(kafka *api.Kafka, next step) string {
	if next.Wait == "" {
		return ""
	}
	return fmt.Sprintf("Pods resource %s in namespace %s to be ready", next.Wait, kafka.Namespace)
}

// loseBroker deletes a Pod without a grace period, and its claims. An emptyDir is deleted
// with the Pod.
func (r *KafkaReconciler) loseBroker(ctx context.Context, kafka *api.Kafka, nodes []node, id string) error {
	i := slices.IndexFunc(nodes, func(n node) bool { return fmt.Sprint(n.ID) == id })
	if i < 0 {
		return reconcile.TerminalError(fmt.Errorf("fault %s=%s: no node has this id", fault.BrokerLost, id))
	}
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: kafka.Namespace, Name: nodes[i].podName()}
	if err := r.Get(ctx, key, pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	claims, err := newClaims(kafka, nodes[i])
	if err != nil {
		return err
	}
	// Remove the fault first, so that a stale read of it deletes no second broker.
	before := kafka.DeepCopy()
	kafka.Annotations = fault.Without(kafka.Annotations, fault.BrokerLost)
	if err := r.Patch(ctx, kafka, patchFrom(before)); err != nil {
		return fmt.Errorf("removing the fault from Kafka %q: %w", kafka.Name, err)
	}
	for _, c := range claims {
		if err := r.Delete(ctx, c.PersistentVolumeClaim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting PersistentVolumeClaim %q: %w", c.Name, err)
		}
	}
	return deletePod(ctx, r.Client, pod, client.GracePeriodSeconds(0))
}

// reportScaling reports a new ensemble that is not ready as the real operator does: as a
// temporary failure.
func (r *KafkaReconciler) reportScaling(ctx context.Context, kafka *api.Kafka, nodes []node, next step) error {
	if !nodes[0].isZooKeeper() || next.Wait == "" || kafka.Status.KafkaMetadataState != "" {
		return nil
	}
	cause := invalidSpec{"ZookeeperScalingException", fmt.Sprintf(
		"Failed to connect to Zookeeper %s:%d. Connection was not ready in 10000 ms", advertisedHost(kafka, nodes[0]), portZooKeeper)}
	return r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setFailed(s, kafka.Generation, cause, nil, r.Now()) })
}

// listPods lists the Pods of the component that the nodes belong to, including those of
// removed nodes.
func (r *KafkaReconciler) listPods(ctx context.Context, kafka *api.Kafka, nodes []node) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	labels := client.MatchingLabels(nodeSelector(kafka.Name, nodes[0].component()))
	if err := r.List(ctx, pods, client.InNamespace(kafka.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing Pods of Kafka %q: %w", kafka.Name, err)
	}
	return pods.Items, nil
}

// wait requeues soon, and fails after the operation timeout without progress. The
// warnings of the nodes are kept.
func (r *KafkaReconciler) wait(ctx context.Context, waitingFor string, since time.Time, nodes []node) (ctrl.Result, error) {
	if waitingFor != "" && r.Now().Sub(since) > r.OperationTimeout {
		return ctrl.Result{}, timedOut{invalidSpec{
			r.Generation.TimeoutClass,
			fmt.Sprintf("Exceeded timeout of %dms while waiting for %s", r.OperationTimeout.Milliseconds(), waitingFor),
		}, warnings(nodes)}
	}
	ctrl.LoggerFrom(ctx).V(1).Info("cluster not ready yet", "waitingFor", waitingFor)
	return ctrl.Result{RequeueAfter: retryInterval}, nil
}

func (r *KafkaReconciler) applyStep(ctx context.Context, next step) error {
	for i := range next.Delete {
		ctrl.LoggerFrom(ctx).Info("restarting Pod", "pod", next.Delete[i].Name)
		if err := deletePod(ctx, r.Client, &next.Delete[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *KafkaReconciler) listPools(ctx context.Context, kafka *api.Kafka) ([]api.KafkaNodePool, error) {
	pools := &api.KafkaNodePoolList{}
	err := r.List(ctx, pools, client.InNamespace(kafka.Namespace), client.MatchingLabels{api.LabelCluster: kafka.Name})
	if err != nil {
		return nil, fmt.Errorf("listing KafkaNodePools of Kafka %q: %w", kafka.Name, err)
	}
	return slices.DeleteFunc(pools.Items, func(p api.KafkaNodePool) bool { return p.DeletionTimestamp != nil }), nil
}

// recordPools writes the node ids to the status before any Pod is created from them, so
// that a node keeps its id when a pool is added.
func (r *KafkaReconciler) recordPools(ctx context.Context, kafka *api.Kafka, nodes []node, pools []api.KafkaNodePool) error {
	for i := range pools {
		pool := &pools[i]
		wanted := poolStatus(kafka, nodes, pool)
		if equality.Semantic.DeepEqual(pool.Status, wanted) {
			continue
		}
		before := pool.DeepCopy()
		pool.Status = wanted
		if err := r.Status().Patch(ctx, pool, patchFrom(before)); err != nil {
			return fmt.Errorf("updating the status of KafkaNodePool %q: %w", pool.Name, err)
		}
	}
	return nil
}

// applySupport creates or updates what Pods need: Services, ConfigMaps, claims.
func (r *KafkaReconciler) applySupport(ctx context.Context, kafka *api.Kafka, members []member) error {
	for _, wanted := range r.Generation.newServices(kafka, members[0].component()) {
		service := &corev1.Service{ObjectMeta: wanted.ObjectMeta}
		if err := r.apply(ctx, kafka, service, func() {
			service.Spec.Selector = wanted.Spec.Selector
			service.Spec.Ports = wanted.Spec.Ports
			service.Spec.PublishNotReadyAddresses = wanted.Spec.PublishNotReadyAddresses
			if wanted.Spec.ClusterIP != "" {
				service.Spec.ClusterIP = wanted.Spec.ClusterIP
			}
		}); err != nil {
			return err
		}
	}
	for _, m := range members {
		config := &corev1.ConfigMap{ObjectMeta: m.config.ObjectMeta}
		if err := r.apply(ctx, kafka, config, func() { config.Data = m.config.Data }); err != nil {
			return err
		}
		for _, c := range m.claims {
			if err := r.createClaim(ctx, kafka, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply creates or updates an object that is deleted with its owner. The object holds the
// wanted metadata; set fills in the rest.
func (r *KafkaReconciler) apply(ctx context.Context, owner, object client.Object, set func()) error {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, object, func() error {
		object.SetLabels(merged(labels, object.GetLabels()))
		object.SetAnnotations(merged(annotations, object.GetAnnotations()))
		set()
		return controllerutil.SetOwnerReference(owner, object, r.Scheme())
	})
	if err != nil {
		return fmt.Errorf("applying %T %q: %w", object, object.GetName(), err)
	}
	return nil
}

// createOwned creates an object that is deleted with the Kafka. An existing object gets the
// Kafka as its owner. Otherwise, the object of an earlier Kafka with the same name would be
// garbage-collected.
func (r *KafkaReconciler) createOwned(ctx context.Context, kafka *api.Kafka, object client.Object) error {
	there := object.DeepCopyObject().(client.Object)
	if err := controllerutil.SetOwnerReference(kafka, object, r.Scheme()); err != nil {
		return fmt.Errorf("setting the owner of %T %q: %w", object, object.GetName(), err)
	}
	owned := object.DeepCopyObject().(client.Object)
	err := r.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		err = r.Patch(ctx, owned, client.MergeFrom(there))
	}
	if err != nil {
		return fmt.Errorf("creating %T %q: %w", object, object.GetName(), err)
	}
	return nil
}

func (r *KafkaReconciler) createClaim(ctx context.Context, kafka *api.Kafka, c claim) error {
	if c.deleted {
		return r.createOwned(ctx, kafka, c.PersistentVolumeClaim)
	}
	if err := r.Create(ctx, c.PersistentVolumeClaim); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating PersistentVolumeClaim %q: %w", c.Name, err)
	}
	return nil
}

// updateStatus writes the status if set changes it.
func (r *KafkaReconciler) updateStatus(ctx context.Context, kafka *api.Kafka, set func(*api.KafkaStatus)) error {
	before := kafka.DeepCopy()
	set(&kafka.Status)
	if equality.Semantic.DeepEqual(before.Status, kafka.Status) {
		return nil
	}
	if err := client.IgnoreNotFound(r.Status().Patch(ctx, kafka, patchFrom(before))); err != nil {
		return fmt.Errorf("updating the status of Kafka %q: %w", kafka.Name, err)
	}
	return nil
}

// patchFrom returns a patch that applies only to the version that was read, because the cache
// of a reconcile may be older than the previous reconcile's write.
func patchFrom(read client.Object) client.Patch {
	return client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{})
}

// internalBootstrap returns the address for the operator's own connections. The replication
// listener always exists.
func internalBootstrap(kafka *api.Kafka) string {
	return fmt.Sprintf("%s.%s.svc:%d", bootstrapServiceName(kafka.Name), kafka.Namespace, portReplication)
}

// youngest returns the time when the last of the Pods was created. Timeouts start at that time.
func youngest(pods []corev1.Pod) time.Time {
	var last time.Time
	for _, pod := range pods {
		if pod.CreationTimestamp.After(last) {
			last = pod.CreationTimestamp.Time
		}
	}
	return last
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}
