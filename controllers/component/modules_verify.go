// SPDX-License-Identifier: Apache-2.0

package component

import (
	"bytes"
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

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
	"perflab.dev/perflab/internal/environment/modules"
)

const (
	// maxStartBytes bounds how much of a module's log is read: the JVM logs its settings first.
	maxStartBytes = 64 << 10
	// maxStartReaders bounds how many logs are read at a time.
	maxStartReaders = 8
	// startTimeout bounds reading all of them.
	startTimeout = time.Minute
)

// Verify compares the modules' pods and logs with the declaration. It waits while a required
// log cannot be read.
func (m moduleSet) Verify(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) (Verification, error) {
	pods, err := m.pods(ctx, p)
	if err != nil {
		return Verification{}, err
	}
	starts, silent := m.readJVMStarts(ctx, p, pods)
	if silent != nil {
		return pending(environment.NotReady(v1alpha1.ReasonNotReady, fmt.Sprintf("the heaps of the modules are unknown: %v", silent))), nil
	}
	proof := Verification{Pods: slices.Concat(slices.Collect(maps.Values(pods))...)}
	labels, err := nodeLabels(ctx, p, proof.Pods)
	if err != nil {
		return Verification{}, err
	}
	for _, module := range p.Run.Spec.System.Modules {
		var instances []modules.Instance
		for _, pod := range pods[module.Name] {
			instances = append(instances, modules.Instance{Pod: pod, Start: starts[pod.Name]})
		}
		record.Modules = append(record.Modules, modules.Effective(module, instances))
		proof.Differences = append(proof.Differences, modules.Differences(module, instances, labels)...)
	}
	return proof, nil
}

// nodeLabels returns the labels of the pods' nodes, by name. A node that the operator may not
// read has none.
func nodeLabels(ctx context.Context, p *Scope, pods []corev1.Pod) (map[string]map[string]string, error) {
	labels := map[string]map[string]string{}
	for _, pod := range pods {
		if _, known := labels[pod.Spec.NodeName]; known || pod.Spec.NodeName == "" {
			continue
		}
		node, err := p.Node(ctx, pod.Spec.NodeName)
		if err != nil {
			return nil, err
		}
		if node != nil {
			labels[node.Name] = node.Labels
		}
	}
	return labels, nil
}

// pods returns the pods of the run's modules that are not being deleted, by module, also of
// adopted ones.
func (m moduleSet) pods(ctx context.Context, p *Scope) (map[string][]corev1.Pod, error) {
	list, err := m.ownPods(ctx, p)
	if err != nil {
		return nil, err
	}
	pods := map[string][]corev1.Pod{}
	for _, pod := range list {
		if module := pod.Labels[v1alpha1.LabelModule]; pod.DeletionTimestamp == nil {
			pods[module] = append(pods[module], pod)
		}
	}
	return pods, m.addAdoptedPods(ctx, p, pods)
}

// ownPods returns the pods of the Deployments that PerfLab created.
func (m moduleSet) ownPods(ctx context.Context, p *Scope) ([]corev1.Pod, error) {
	made, err := p.Cluster.ListOwned(ctx, p.Experiment, deploymentKind, m.objectLabels(p))
	if err != nil || len(made) == 0 {
		return nil, err
	}
	lineage := Lineage{}
	lineage.addAll(made)
	if err := p.addReplicaSets(ctx, lineage); err != nil {
		return nil, err
	}
	pods, err := p.pods(ctx, m.objectLabels(p))
	return lineage.Pods(pods), err
}

// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// readJVMStarts reads what the JVMs of these pods logged at their start, by pod. It fails if a
// module declares a heap and its log cannot be read.
func (m moduleSet) readJVMStarts(ctx context.Context, p *Scope, pods map[string][]corev1.Pod) (map[string]jvm.Init, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var (
		mutex   sync.Mutex
		starts  = map[string]jvm.Init{}
		readers errgroup.Group
	)
	readers.SetLimit(maxStartReaders)
	for _, module := range p.Run.Spec.System.Modules {
		if !modules.LogsHeap(module) {
			continue
		}
		for _, pod := range pods[module.Name] {
			readers.Go(func() error {
				start, err := m.readJVMStart(ctx, p, pod, modules.Container(module, pod))
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

func (m moduleSet) readJVMStart(ctx context.Context, p *Scope, pod corev1.Pod, container string) (jvm.Init, error) {
	log, err := p.Logs.Log(ctx, pod.Namespace, pod.Name, container)
	if err != nil {
		return jvm.Init{}, err
	}
	text, err := io.ReadAll(io.LimitReader(log, maxStartBytes))
	start, _ := jvm.ParseInit(bytes.NewReader(text))
	return start, errors.Join(err, log.Close())
}

// CountRestarts counts the restarts of each module.
func (m moduleSet) CountRestarts(ctx context.Context, p *Scope, record *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
	pods, err := m.pods(ctx, p)
	if err != nil {
		return nil, err
	}
	var restarted []environment.Restarted
	for i := range record.Modules {
		found := &record.Modules[i]
		found.Restarts = environment.Restarts(found.Pods, record.MorePods, pods[found.Name])
		restarted = append(restarted, environment.Restarted{Part: found.Name, Times: found.Restarts, Pods: pods[found.Name]})
	}
	return restarted, nil
}
