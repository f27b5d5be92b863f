// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/payload"
)

// pod is a pod of the system.
type pod struct {
	component string
	name      string
	// address is its IP, empty if it has none yet.
	address    string
	containers []string
}

// podLister reads the pods of the system's namespace.
type podLister struct {
	pods       corev1client.PodInterface
	components []component
	// place of the collector, for its neighbours.
	place Location
	// ends are the known ends of each container, by pod UID and container.
	ends map[string]int32
}

type component struct {
	collector.Component
	selector labels.Selector
}

func newPodLister(pods corev1client.PodInterface, wanted []collector.Component) (*podLister, error) {
	lister := &podLister{pods: pods, ends: map[string]int32{}}
	for _, one := range wanted {
		selector, err := labels.Parse(one.Selector)
		if err != nil {
			return nil, fmt.Errorf("reading the selector of %s: %w", one.Name, err)
		}
		lister.components = append(lister.components, component{Component: one, selector: selector})
	}
	return lister, nil
}

// list returns the pods of the system that have started, and a function that records their state.
func (l *podLister) list(ctx context.Context, at time.Time) ([]pod, recordFunc, error) {
	// The API server's cache is good enough, and cheap to read.
	list, err := l.pods.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, nil, fmt.Errorf("listing pods: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	var (
		found      []pod
		containers []payload.Container
		ends       []payload.ContainerEnd
		ranks      = map[string]int{}
		node       = payload.Node{Name: l.place.Node}
	)
	for _, item := range list.Items {
		name, belongs := l.matchComponent(item, ranks)
		if !belongs && l.isNeighbour(item) {
			node.Neighbours = append(node.Neighbours, item.Name)
		}
		if !belongs || item.Status.Phase == corev1.PodPending {
			continue
		}
		own := pod{component: name, name: item.Name, address: item.Status.PodIP}
		for _, container := range item.Spec.Containers {
			own.containers = append(own.containers, container.Name)
			containers = append(containers, newContainer(name, item, container))
		}
		found = append(found, own)
		ends = append(ends, l.containerEnds(name, item, at)...)
	}
	return found, func(into *payload.SampleRecorder) {
		for _, container := range containers {
			into.Samples.SetContainer(container)
		}
		into.Samples.Ends = append(into.Samples.Ends, ends...)
		if len(node.Neighbours) > 0 {
			into.Samples.SetNode(node)
		}
	}, nil
}

// isNeighbour reports whether the pod runs on the collector's node, and is not the collector.
func (l *podLister) isNeighbour(item corev1.Pod) bool {
	return item.Status.Phase == corev1.PodRunning && item.Name != l.place.Pod &&
		l.place.Node != "" && item.Spec.NodeName == l.place.Node
}

// matchComponent returns the component of a pod. Ranks count the pods of those that are numbered
// that way.
func (l *podLister) matchComponent(item corev1.Pod, ranks map[string]int) (string, bool) {
	for _, one := range l.components {
		if !one.selector.Matches(labels.Set(item.Labels)) || !one.controls(item) {
			continue
		}
		switch one.Numbered {
		case collector.ByRank:
			ranks[one.Name]++
			return one.Name + strconv.Itoa(ranks[one.Name]), true
		case collector.ByOrdinal:
			return one.Name + ordinal(item.Name), true
		default:
			return one.Name, true
		}
	}
	return "", false
}

// controls reports whether the component's controller, if it has one, controls the pod.
func (c component) controls(item corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(&item)
	return c.Controller == "" || owner != nil && owner.UID == c.Controller
}

var lastNumber = regexp.MustCompile(`[0-9]+$`)

// ordinal is the number at the end of a name, or the name itself without one.
func ordinal(name string) string { return cmp.Or(lastNumber.FindString(name), name) }

func instanceName(pod, container string) string { return pod + "/" + container }

func newContainer(component string, pod corev1.Pod, container corev1.Container) payload.Container {
	requests, limits := container.Resources.Requests, container.Resources.Limits
	return payload.Container{
		Component: component, Instance: instanceName(pod.Name, container.Name), Node: pod.Spec.NodeName,
		CPURequest: cores(requests[corev1.ResourceCPU]), CPULimit: cores(limits[corev1.ResourceCPU]),
		MemoryRequest: mebibytes(requests[corev1.ResourceMemory]), MemoryLimit: mebibytes(limits[corev1.ResourceMemory]),
	}
}

func cores(quantity resource.Quantity) float64 { return quantity.AsApproximateFloat64() }

func mebibytes(quantity resource.Quantity) float64 {
	return quantity.AsApproximateFloat64() / (1 << 20)
}

// containerEnds returns the ends of a pod's containers since the previous round.
func (l *podLister) containerEnds(component string, item corev1.Pod, at time.Time) []payload.ContainerEnd {
	var ends []payload.ContainerEnd
	for _, status := range item.Status.ContainerStatuses {
		key := string(item.UID) + "/" + status.Name
		before, seen := l.ends[key]
		l.ends[key] = status.RestartCount
		if !seen || status.RestartCount <= before {
			continue
		}
		end := payload.ContainerEnd{
			Component: component, Instance: instanceName(item.Name, status.Name), At: at.UTC().Truncate(time.Millisecond), Count: status.RestartCount - before,
		}
		if last := status.LastTerminationState.Terminated; last != nil {
			end.At, end.Reason, end.ExitCode = last.FinishedAt.UTC(), last.Reason, last.ExitCode
		}
		ends = append(ends, end)
	}
	return ends
}
