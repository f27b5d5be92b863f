// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/jvm"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/results"
)

const (
	// startBytes is how much of a module's log is read for what its JVM says
	// at its start, which are its first lines.
	startBytes = 64 << 10
	// startReaders bounds how many logs are read at a time.
	startReaders = 8
	// startTimeout bounds reading all of them.
	startTimeout = time.Minute
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get

// effectiveModules reads from the modules' pods and their logs what runs. It
// says false, and tells why, while a log that is needed can't
// be read.
func (r *Reconciler) effectiveModules(ctx context.Context, s *scope, effective *v1alpha1.EffectiveSystem) (bool, error) {
	pods, err := r.modulePods(ctx, s)
	if err != nil {
		return false, err
	}
	starts, silent := r.readStarts(ctx, s, pods)
	if silent != nil {
		unread := environment.NotReady(v1alpha1.ReasonNotReady, fmt.Sprintf("the heaps of the modules can't be told: %v", silent))
		s.tell(v1alpha1.ConditionModulesReady, unread)
		return false, nil
	}
	labels, err := r.effectiveNodes(ctx, s, pods, effective)
	if err != nil {
		return false, err
	}
	for _, module := range s.run.Spec.System.Modules {
		var instances []modules.Instance
		for _, pod := range pods[module.Name] {
			instances = append(instances, modules.Instance{Pod: pod, Start: starts[pod.Name]})
		}
		effective.Modules = append(effective.Modules, modules.Effective(module, instances))
		s.differs(modules.Differences(module, instances, labels)...)
	}
	return true, r.priceNodes(ctx, s, effective.Nodes)
}

// modulePods are the pods of the run's modules that stay, by module, borrowed
// ones included.
func (r *Reconciler) modulePods(ctx context.Context, s *scope) (map[string][]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := r.Cluster.Client.List(ctx, list, client.InNamespace(s.run.Namespace),
		client.MatchingLabels(naming.ComponentLabels(s.run.Spec.Experiment, environment.ComponentModule)))
	if err != nil {
		return nil, fmt.Errorf("listing the modules' pods: %w", err)
	}
	pods := map[string][]corev1.Pod{}
	for _, pod := range list.Items {
		if module := pod.Labels[v1alpha1.LabelModule]; pod.DeletionTimestamp == nil {
			pods[module] = append(pods[module], pod)
		}
	}
	return pods, r.addBorrowedPods(ctx, s, pods)
}

// readStarts reads what the JVMs of these pods logged at their start, by pod.
// It fails when a log can't be read that would prove a declared heap.
func (r *Reconciler) readStarts(ctx context.Context, s *scope, pods map[string][]corev1.Pod) (map[string]jvm.Init, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var (
		mutex   sync.Mutex
		starts  = map[string]jvm.Init{}
		readers errgroup.Group
	)
	readers.SetLimit(startReaders)
	for _, module := range s.run.Spec.System.Modules {
		if !modules.TellsHeap(module) {
			continue
		}
		for _, pod := range pods[module.Name] {
			readers.Go(func() error {
				start, err := r.readStart(ctx, pod, modules.Container(module, pod))
				if err != nil && module.JVM != nil && module.JVM.Heap != nil {
					return fmt.Errorf("module %s: %w", module.Name, err)
				}
				mutex.Lock()
				defer mutex.Unlock()
				starts[pod.Name] = start
				return nil
			})
		}
	}
	return starts, readers.Wait()
}

func (r *Reconciler) readStart(ctx context.Context, pod corev1.Pod, container string) (jvm.Init, error) {
	log, err := r.Logs.Log(ctx, pod.Namespace, pod.Name, container)
	if err != nil {
		return jvm.Init{}, err
	}
	text, err := io.ReadAll(io.LimitReader(log, startBytes))
	start, _ := jvm.ParseInit(bytes.NewReader(text))
	return start, errors.Join(err, log.Close())
}

// effectiveNodes writes down the nodes that run pods of the system and returns
// their labels by name. A node the operator may not look at has none.
func (r *Reconciler) effectiveNodes(ctx context.Context, s *scope, pods map[string][]corev1.Pod, effective *v1alpha1.EffectiveSystem) (map[string]map[string]string, error) {
	kafkaPods, postgresPods, err := r.serverPods(ctx, s)
	if err != nil {
		return nil, err
	}
	effective.KafkaPods, effective.PostgresPods = environment.EffectivePods(kafkaPods), environment.EffectivePods(postgresPods)
	counts := map[string]int32{}
	for _, pod := range slices.Concat(append(slices.Collect(maps.Values(pods)), kafkaPods, postgresPods)...) {
		counts[pod.Spec.NodeName]++
	}
	delete(counts, "")
	labels := map[string]map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		node := &corev1.Node{}
		err := r.Live.Get(ctx, client.ObjectKey{Name: name}, node)
		switch {
		case err == nil:
			labels[name] = node.Labels
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading node %q: %w", name, err)
		}
		effective.Nodes = append(effective.Nodes, v1alpha1.EffectiveNode{
			Name: name, Pods: counts[name], InstanceType: node.Labels[corev1.LabelInstanceTypeStable],
		})
	}
	return labels, nil
}

// serverPods are the running pods of the run's Kafka and of its PostgreSQL,
// sorted by name.
func (r *Reconciler) serverPods(ctx context.Context, s *scope) (kafkaPods, postgresPods []corev1.Pod, err error) {
	request := s.request()
	running := func(label, name string) []corev1.Pod {
		list := &corev1.PodList{}
		listErr := r.Cluster.Client.List(ctx, list, client.InNamespace(s.run.Namespace), client.MatchingLabels{label: name})
		if listErr != nil {
			err = fmt.Errorf("listing the pods of %q: %w", name, listErr)
		}
		slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
		return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
			return pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning
		})
	}
	return running(contract.LabelStrimziCluster, request.KafkaName()), running(contract.LabelPostgresCluster, request.PostgresName()), err
}

// stepRestarts counts, once the loads are over, how often containers of the
// system ended while they were on. A run with more than are allowed does not
// count.
func (r *Reconciler) stepRestarts(ctx context.Context, s *scope) (outcome, error) {
	effective, ready := s.status().Effective, s.status().Timings.Ready
	if effective == nil || ready == nil {
		return next(), nil
	}
	pods, err := r.modulePods(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	kafkaPods, postgresPods, err := r.serverPods(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	effective.KafkaRestarts = environment.Restarts(effective.KafkaPods, kafkaPods)
	effective.PostgresRestarts = environment.Restarts(effective.PostgresPods, postgresPods)
	parts := []environment.Restarted{
		{Part: "Kafka", Times: effective.KafkaRestarts, Pods: kafkaPods},
		{Part: "PostgreSQL", Times: effective.PostgresRestarts, Pods: postgresPods},
	}
	for i := range effective.Modules {
		found := &effective.Modules[i]
		found.Restarts = environment.Restarts(found.Pods, pods[found.Name])
		parts = append(parts, environment.Restarted{Part: found.Name, Times: found.Restarts, Pods: pods[found.Name]})
	}
	message := environment.RestartFault(parts, s.run.Spec.Validity.MaxRestartsOrDefault(), ready.Time)
	if message != "" && s.fault == nil {
		s.fault = &results.Fault{Reason: v1alpha1.ReasonRestarts, Message: message}
	}
	return next(), nil
}
