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
	// retryInterval is the time between two looks at something no watch tells of.
	retryInterval = time.Second
	// failedInterval is the time after which a failed cluster is tried again.
	failedInterval = 2 * time.Minute
)

// KafkaReconciler is the cluster operator: it turns a Kafka and its pools into
// running brokers and reports on them.
type KafkaReconciler struct {
	client.Client
	// Brokers asks Kafka itself whether it serves.
	Brokers Brokers
	// Generation is the release of Strimzi to stand for.
	Generation Generation
	// OperationTimeout is how long Pods and brokers may take to become ready
	// before the cluster is reported as failed.
	OperationTimeout time.Duration
	// Now is the clock.
	Now func() time.Time
}

// SetupWithManager wakes the reconciler on changes of specs, annotations, pools and Pods.
func (r *KafkaReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-kafka").
		For(&api.Kafka{}, builder.WithPredicates(changed)).
		Owns(&corev1.Pod{}).
		Watches(&api.KafkaNodePool{}, handler.EnqueueRequestsFromMapFunc(clusterOf), builder.WithPredicates(changed)).
		Complete(r)
}

// clusterOf names the Kafka an object belongs to by its label.
func clusterOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[api.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// Reconcile brings one cluster a step further and reports where it stands.
// While nodes roll, the status of before the change stays as it is.
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
	if faults.Has(fault.NeverReady) {
		return ctrl.Result{}, nil
	}
	result, err := r.reconcileCluster(ctx, kafka, faults)
	if cause, invalid := errors.AsType[invalidSpec](err); invalid {
		ctrl.LoggerFrom(ctx).Info("cluster failed", "reason", cause.Class, "message", cause.Message)
		return ctrl.Result{RequeueAfter: failedInterval},
			r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setFailed(s, kafka.Generation, cause, r.Now()) })
	}
	return result, err
}

// reconcileCluster returns an invalidSpec for what shall be reported as NotReady.
func (r *KafkaReconciler) reconcileCluster(ctx context.Context, kafka *api.Kafka, faults fault.Faults) (ctrl.Result, error) {
	if faults.Has(fault.NotReady) {
		class := faults[fault.NotReady]
		if class == "" {
			class = "RuntimeException"
		}
		return ctrl.Result{}, invalidSpec{class, "asked for by the annotation " + fault.Annotation}
	}
	pools, err := r.poolsOf(ctx, kafka)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Generation.check(kafka, pools); err != nil {
		return ctrl.Result{}, err
	}
	if !r.Generation.onZooKeeper(kafka) {
		nodes := nodesOf(pools)
		if err := r.recordPools(ctx, kafka, nodes, pools); err != nil {
			return ctrl.Result{}, err
		}
		return r.bringUp(ctx, kafka, nodes)
	}
	return r.bringUp(ctx, kafka, zooKeeperNodes(kafka), brokersOnZooKeeper(kafka))
}

// bringUp does the next step of the components, each only when the one before
// it is there, and asks the brokers when there is none left.
func (r *KafkaReconciler) bringUp(ctx context.Context, kafka *api.Kafka, components ...[]node) (ctrl.Result, error) {
	var waited []corev1.Pod
	for _, nodes := range components {
		members, err := r.Generation.membersOf(kafka, nodes)
		if err != nil {
			return ctrl.Result{}, err
		}
		if err := r.applySupport(ctx, kafka, members); err != nil {
			return ctrl.Result{}, err
		}
		pods, err := r.podsOf(ctx, kafka, nodes)
		if err != nil {
			return ctrl.Result{}, err
		}
		next := nextStep(members, pods)
		if err := r.take(ctx, kafka, next); err != nil {
			return ctrl.Result{}, err
		}
		if !next.settled() {
			if err := r.reportScaling(ctx, kafka, nodes, next); err != nil {
				return ctrl.Result{}, err
			}
			return r.wait(ctx, next.Wait, pods)
		}
		waited = pods
	}
	nodes := slices.Concat(components...)
	id, err := r.Brokers.Serving(ctx, internalBootstrap(kafka), idsOf(brokersOf(nodes)))
	if err != nil {
		return r.wait(ctx, err.Error(), waited)
	}
	return ctrl.Result{}, r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { r.Generation.setReady(s, kafka, nodes, id, r.Now()) })
}

// reportScaling says of a new ensemble that is not there yet what the real
// operator says: a failure that passes by itself.
func (r *KafkaReconciler) reportScaling(ctx context.Context, kafka *api.Kafka, nodes []node, next step) error {
	if !nodes[0].isZooKeeper() || next.Wait == "" || kafka.Status.KafkaMetadataState != "" {
		return nil
	}
	cause := invalidSpec{"ZookeeperScalingException", fmt.Sprintf(
		"Failed to connect to Zookeeper %s:%d. Connection was not ready in 10000 ms", advertisedHost(kafka, nodes[0]), portZooKeeper)}
	return r.updateStatus(ctx, kafka, func(s *api.KafkaStatus) { setFailed(s, kafka.Generation, cause, r.Now()) })
}

// podsOf lists the Pods of the component that the nodes make up, those of
// nodes that are no more included.
func (r *KafkaReconciler) podsOf(ctx context.Context, kafka *api.Kafka, nodes []node) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	labels := client.MatchingLabels(nodeSelector(kafka.Name, nodes[0].component()))
	if err := r.List(ctx, pods, client.InNamespace(kafka.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing Pods of Kafka %q: %w", kafka.Name, err)
	}
	return pods.Items, nil
}

// wait looks again soon, and gives up when the last Pod is older than the operation timeout.
func (r *KafkaReconciler) wait(ctx context.Context, waitingFor string, pods []corev1.Pod) (ctrl.Result, error) {
	if waitingFor != "" && r.Now().Sub(youngest(pods)) > r.OperationTimeout {
		return ctrl.Result{}, invalidSpec{
			"TimeoutException",
			fmt.Sprintf("Exceeded timeout of %dms while waiting for %s", r.OperationTimeout.Milliseconds(), waitingFor),
		}
	}
	ctrl.LoggerFrom(ctx).V(1).Info("cluster not there yet", "waitingFor", waitingFor)
	return ctrl.Result{RequeueAfter: retryInterval}, nil
}

func (r *KafkaReconciler) take(ctx context.Context, kafka *api.Kafka, next step) error {
	for _, pod := range next.Delete {
		ctrl.LoggerFrom(ctx).Info("deleting Pod", "pod", pod.Name)
		if err := r.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting Pod %q: %w", pod.Name, err)
		}
	}
	for _, m := range next.Create {
		pod := m.pod.DeepCopy()
		if err := controllerutil.SetControllerReference(kafka, pod, r.Scheme()); err != nil {
			return fmt.Errorf("setting the owner of Pod %q: %w", pod.Name, err)
		}
		ctrl.LoggerFrom(ctx).Info("creating Pod", "pod", pod.Name)
		if err := r.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating Pod %q: %w", pod.Name, err)
		}
	}
	return nil
}

func (r *KafkaReconciler) poolsOf(ctx context.Context, kafka *api.Kafka) ([]api.KafkaNodePool, error) {
	pools := &api.KafkaNodePoolList{}
	err := r.List(ctx, pools, client.InNamespace(kafka.Namespace), client.MatchingLabels{api.LabelCluster: kafka.Name})
	if err != nil {
		return nil, fmt.Errorf("listing KafkaNodePools of Kafka %q: %w", kafka.Name, err)
	}
	return slices.DeleteFunc(pools.Items, func(p api.KafkaNodePool) bool { return p.DeletionTimestamp != nil }), nil
}

// recordPools writes the node ids down before any Pod is made from them, so
// that a node keeps its id whatever pool comes later.
func (r *KafkaReconciler) recordPools(ctx context.Context, kafka *api.Kafka, nodes []node, pools []api.KafkaNodePool) error {
	for i := range pools {
		pool := &pools[i]
		wanted := poolStatus(kafka, nodes, pool)
		if equality.Semantic.DeepEqual(pool.Status, wanted) {
			continue
		}
		before := pool.DeepCopy()
		pool.Status = wanted
		if err := r.Status().Patch(ctx, pool, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("updating the status of KafkaNodePool %q: %w", pool.Name, err)
		}
	}
	return nil
}

// applySupport creates or updates what Pods need: Services, ConfigMaps, claims.
func (r *KafkaReconciler) applySupport(ctx context.Context, kafka *api.Kafka, members []member) error {
	for _, wanted := range servicesOf(kafka, members[0].component()) {
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

// apply creates or updates an object the cluster owns. The object holds the
// wanted metadata; set fills in the rest.
func (r *KafkaReconciler) apply(ctx context.Context, kafka *api.Kafka, object client.Object, set func()) error {
	labels := object.GetLabels()
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, object, func() error {
		object.SetLabels(merged(labels, object.GetLabels()))
		set()
		return controllerutil.SetControllerReference(kafka, object, r.Scheme())
	})
	if err != nil {
		return fmt.Errorf("applying %T %q: %w", object, object.GetName(), err)
	}
	return nil
}

func (r *KafkaReconciler) createClaim(ctx context.Context, kafka *api.Kafka, c claim) error {
	if c.deleted {
		if err := controllerutil.SetControllerReference(kafka, c, r.Scheme()); err != nil {
			return fmt.Errorf("setting the owner of PersistentVolumeClaim %q: %w", c.Name, err)
		}
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
	if err := r.Status().Patch(ctx, kafka, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("updating the status of Kafka %q: %w", kafka.Name, client.IgnoreNotFound(err))
	}
	return nil
}

// internalBootstrap is the address for the operator's own connections. The
// replication listener is always there, whatever listeners the user has.
func internalBootstrap(kafka *api.Kafka) string {
	return fmt.Sprintf("%s.%s.svc:%d", bootstrapServiceName(kafka.Name), kafka.Namespace, portReplication)
}

// youngest is when the last of the Pods was created: what is awaited since then.
func youngest(pods []corev1.Pod) time.Time {
	var last time.Time
	for _, pod := range pods {
		if pod.CreationTimestamp.After(last) {
			last = pod.CreationTimestamp.Time
		}
	}
	return last
}
