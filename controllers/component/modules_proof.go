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
	// startBytes is how much of a module's log is read for what its JVM says
	// at its start, which are its first lines.
	startBytes = 64 << 10
	// startReaders bounds how many logs are read at a time.
	startReaders = 8
	// startTimeout bounds reading all of them.
	startTimeout = time.Minute
)

// Prove reads from the modules' pods and their logs what runs, and waits while a
// log that is needed can't be read.
func (m moduleSet) Prove(ctx context.Context, p *Pass, record *v1alpha1.EffectiveSystem) (Proof, error) {
	pods, err := m.pods(ctx, p)
	if err != nil {
		return Proof{}, err
	}
	starts, silent := m.readStarts(ctx, p, pods)
	if silent != nil {
		return unsettled(environment.NotReady(v1alpha1.ReasonNotReady, fmt.Sprintf("the heaps of the modules are unknown: %v", silent))), nil
	}
	proof := Proof{Pods: slices.Concat(slices.Collect(maps.Values(pods))...)}
	labels, err := nodeLabels(ctx, p, proof.Pods)
	if err != nil {
		return Proof{}, err
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

// nodeLabels are those of the pods' nodes, by name. A node the operator may not
// look at has none.
func nodeLabels(ctx context.Context, p *Pass, pods []corev1.Pod) (map[string]map[string]string, error) {
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

// pods of the run's modules that stay, by module, borrowed ones included.
func (m moduleSet) pods(ctx context.Context, p *Pass) (map[string][]corev1.Pod, error) {
	list, err := m.ours(ctx, p)
	if err != nil {
		return nil, err
	}
	pods := map[string][]corev1.Pod{}
	for _, pod := range list {
		if module := pod.Labels[v1alpha1.LabelModule]; pod.DeletionTimestamp == nil {
			pods[module] = append(pods[module], pod)
		}
	}
	return pods, m.addBorrowedPods(ctx, p, pods)
}

// ours are the pods of the Deployments that we have made.
func (m moduleSet) ours(ctx context.Context, p *Pass) ([]corev1.Pod, error) {
	made, err := p.Cluster.ListOwned(ctx, p.Experiment, deploymentKind, m.objectsOf(p))
	if err != nil || len(made) == 0 {
		return nil, err
	}
	lineage := Lineage{}
	lineage.add(made)
	if err := p.addReplicaSets(ctx, lineage); err != nil {
		return nil, err
	}
	pods, err := p.pods(ctx, m.objectsOf(p))
	return lineage.Pods(pods), err
}

// readStarts reads what the JVMs of these pods logged at their start, by pod.
// It fails when a log can't be read that would prove a declared heap.
func (m moduleSet) readStarts(ctx context.Context, p *Pass, pods map[string][]corev1.Pod) (map[string]jvm.Init, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var (
		mutex   sync.Mutex
		starts  = map[string]jvm.Init{}
		readers errgroup.Group
	)
	readers.SetLimit(startReaders)
	for _, module := range p.Run.Spec.System.Modules {
		if !modules.LogsHeap(module) {
			continue
		}
		for _, pod := range pods[module.Name] {
			readers.Go(func() error {
				start, err := m.readStart(ctx, p, pod, modules.Container(module, pod))
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

func (m moduleSet) readStart(ctx context.Context, p *Pass, pod corev1.Pod, container string) (jvm.Init, error) {
	log, err := p.Logs.Log(ctx, pod.Namespace, pod.Name, container)
	if err != nil {
		return jvm.Init{}, err
	}
	text, err := io.ReadAll(io.LimitReader(log, startBytes))
	start, _ := jvm.ParseInit(bytes.NewReader(text))
	return start, errors.Join(err, log.Close())
}

// Restarts counts those of each module.
func (m moduleSet) Restarts(ctx context.Context, p *Pass, record *v1alpha1.EffectiveSystem) ([]environment.Restarted, error) {
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
