// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
)

// FaultCandidates returns the pods of the module that PerfLab created; none of an adopted one.
func (m moduleSet) FaultCandidates(ctx context.Context, p *Scope, kill v1alpha1.KillFault) ([]corev1.Pod, error) {
	if kill.Module == "" {
		return nil, nil
	}
	pods, err := m.ownPods(ctx, p)
	return slices.DeleteFunc(runningPods(pods), func(pod corev1.Pod) bool { return pod.Labels[v1alpha1.LabelModule] != kill.Module }), err
}

// FaultCandidates returns the instances with the role, according to CloudNativePG.
func (d postgresCluster) FaultCandidates(ctx context.Context, p *Scope, kill v1alpha1.KillFault) ([]corev1.Pod, error) {
	if kill.Postgres == "" {
		return nil, nil
	}
	cluster, pods, err := d.clusterInstances(ctx, p)
	if err != nil {
		return nil, err
	}
	primary := cluster.CurrentPrimary()
	return slices.DeleteFunc(runningPods(pods), func(pod corev1.Pod) bool {
		return (pod.Name == primary) != (kill.Postgres == v1alpha1.PostgresPrimary)
	}), nil
}

// FaultCandidates returns the brokers, or the active controller according to the brokers.
func (k kafkaCluster) FaultCandidates(ctx context.Context, p *Scope, kill v1alpha1.KillFault) ([]corev1.Pod, error) {
	if kill.Kafka == "" {
		return nil, nil
	}
	pods, err := k.runningPods(ctx, p)
	if err != nil {
		return nil, err
	}
	if kill.Kafka == v1alpha1.KafkaBroker {
		return withLabels(pods, kafka.BrokerLabels(p.Request())), nil
	}
	brokers, problem, err := k.brokers(ctx, p)
	if err != nil || problem != nil {
		return nil, err
	}
	state, err := p.Kafka.Describe(ctx, brokers)
	if err != nil {
		return nil, fmt.Errorf("looking for Kafka's active controller: %w", err)
	}
	number := fmt.Sprintf("-%d", state.Controller)
	return slices.DeleteFunc(withLabels(pods, kafka.ControllerLabels(p.Request())), func(pod corev1.Pod) bool {
		return !strings.HasSuffix(pod.Name, number)
	}), nil
}

func withLabels(pods []corev1.Pod, wanted map[string]string) []corev1.Pod {
	selector := labels.SelectorFromSet(wanted)
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return !selector.Matches(labels.Set(pod.Labels)) })
}

// RestartMark identifies a rolling restart in an annotation.
type RestartMark struct {
	// Fault of a run, and when it began.
	Fault string
	At    time.Time
}

const markSeparator = " "

func (m RestartMark) String() string {
	return m.Fault + markSeparator + m.At.UTC().Format(time.RFC3339Nano)
}

// readMark reads a mark; one that can't be read is another's.
func readMark(text string) RestartMark {
	fault, at, _ := strings.Cut(text, markSeparator)
	parsed, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return RestartMark{}
	}
	return RestartMark{fault, parsed}
}

// annotationRestart is what CloudNativePG and kubectl rollout restart use.
const annotationRestart = "kubectl.kubernetes.io/restartedAt"

// Restart changes the pod template of the module's Deployment.
func (m moduleSet) Restart(ctx context.Context, p *Scope, restart v1alpha1.RestartFault, mark RestartMark) (RestartMark, error) {
	if restart.Module == "" {
		return RestartMark{}, nil
	}
	made, err := p.Cluster.ListOwned(ctx, p.Experiment, deploymentKind, m.objectLabels(p))
	if err != nil {
		return RestartMark{}, err
	}
	for i := range made {
		if made[i].GetLabels()[v1alpha1.LabelModule] == restart.Module {
			return p.mark(ctx, &made[i], mark, "spec", "template", "metadata", "annotations")
		}
	}
	return RestartMark{}, nil
}

// Restart annotates the Cluster, whose instances CloudNativePG then restarts.
func (postgresCluster) Restart(ctx context.Context, p *Scope, restart v1alpha1.RestartFault, mark RestartMark) (RestartMark, error) {
	if restart.Postgres == nil {
		return RestartMark{}, nil
	}
	object, err := p.GetOwned(ctx, contract.PostgresClusterKind, p.Request().PostgresName())
	if err != nil || object == nil {
		return RestartMark{}, err
	}
	return p.mark(ctx, object, mark, "metadata", "annotations")
}

// mark stores the mark of a restart among annotations, unless the same restart has one.
func (p *Scope) mark(ctx context.Context, object *unstructured.Unstructured, mark RestartMark, path ...string) (RestartMark, error) {
	annotations, _, err := unstructured.NestedStringMap(object.Object, path...)
	if err != nil {
		return RestartMark{}, fmt.Errorf("reading the annotations of %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	if known := readMark(annotations[annotationRestart]); known.Fault == mark.Fault {
		return known, nil
	}
	changed := object.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, mark.String(), append(path, annotationRestart)...); err != nil {
		return RestartMark{}, fmt.Errorf("annotating %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return mark, p.Cluster.PatchIfUnchanged(ctx, changed, object)
}
