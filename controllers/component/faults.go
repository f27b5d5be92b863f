// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/kube"
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

// Restart changes the pod template of the module's Deployment, which is otherwise recreated as a
// whole, and lets it be updated pod by pod. With less memory, it is recreated: the old pods would
// otherwise keep theirs until the new ones are ready.
func (m moduleSet) Restart(ctx context.Context, p *Scope, restart v1alpha1.RestartFault, mark RestartMark) (RestartMark, error) {
	deployment, err := m.deployment(ctx, p, restart.Module)
	if err != nil || deployment == nil {
		return RestartMark{}, err
	}
	return p.mark(ctx, deployment, mark, func(changed *unstructured.Unstructured) error {
		if restart.Image != "" || restart.Memory != nil {
			if err := changeContainer(changed, restart); err != nil {
				return err
			}
			if err := outdate(changed, mark, []string{"spec", "template", "metadata"}); err != nil {
				return err
			}
		}
		if restart.Memory != nil || strategyOf(changed) != appsv1.RecreateDeploymentStrategyType {
			return nil
		}
		return unstructured.SetNestedField(changed.Object, string(appsv1.RollingUpdateDeploymentStrategyType), append(strategyPath, "type")...)
	}, "spec", "template", "metadata", "annotations")
}

// EndRestart gives the module's Deployment the strategy with which PerfLab builds it.
func (m moduleSet) EndRestart(ctx context.Context, p *Scope, restart v1alpha1.RestartFault) error {
	deployment, err := m.deployment(ctx, p, restart.Module)
	if err != nil || deployment == nil {
		return err
	}
	for _, intent := range modules.Build(p.Request(), kafka.Env(p.Request())) {
		if intent.GetKind() != deployment.GetKind() || intent.GetName() != deployment.GetName() || strategyOf(intent) == strategyOf(deployment) {
			continue
		}
		wanted, _, err := unstructured.NestedMap(intent.Object, strategyPath...)
		if err != nil {
			return fmt.Errorf("reading the strategy of Deployment %q: %w", intent.GetName(), err)
		}
		changed := deployment.DeepCopy()
		if err := unstructured.SetNestedMap(changed.Object, wanted, strategyPath...); err != nil {
			return fmt.Errorf("setting the strategy of Deployment %q: %w", intent.GetName(), err)
		}
		return p.Cluster.PatchIfUnchanged(ctx, changed, deployment)
	}
	return nil
}

// strategyPath is the path of a Deployment's strategy.
var strategyPath = []string{"spec", "strategy"}

func strategyOf(deployment *unstructured.Unstructured) appsv1.DeploymentStrategyType {
	strategy, _, _ := unstructured.NestedString(deployment.Object, append(strategyPath, "type")...)
	return appsv1.DeploymentStrategyType(strategy)
}

// deployment is the Deployment of a module that PerfLab created; nil if there is none.
func (m moduleSet) deployment(ctx context.Context, p *Scope, module string) (*unstructured.Unstructured, error) {
	if module == "" {
		return nil, nil
	}
	made, err := p.Cluster.ListOwned(ctx, p.Experiment, deploymentKind, m.objectLabels(p))
	if err != nil {
		return nil, err
	}
	for i := range made {
		if made[i].GetLabels()[v1alpha1.LabelModule] == module {
			return &made[i], nil
		}
	}
	return nil, nil
}

// changeContainer sets the image and the memory of the module's container in a Deployment's pods.
func changeContainer(deployment *unstructured.Unstructured, restart v1alpha1.RestartFault) error {
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(deployment.Object, path...)
	if err != nil {
		return fmt.Errorf("reading the containers of Deployment %q: %w", deployment.GetName(), err)
	}
	for _, one := range containers {
		fields, is := one.(map[string]any)
		if !is || fields["name"] != restart.Module {
			continue
		}
		if restart.Image != "" {
			fields["image"] = restart.Image
		}
		if restart.Memory != nil {
			if err := limitMemory(fields, *restart.Memory); err != nil {
				return fmt.Errorf("changing the memory of Deployment %q: %w", deployment.GetName(), err)
			}
		}
	}
	return unstructured.SetNestedSlice(deployment.Object, containers, path...)
}

// limitMemory sets a container's memory limit, and lowers a request above it.
func limitMemory(container map[string]any, limit resource.Quantity) error {
	requested, _, err := unstructured.NestedString(container, "resources", "requests", "memory")
	if err != nil {
		return err
	}
	if request, err := resource.ParseQuantity(requested); err == nil && request.Cmp(limit) > 0 {
		if err := unstructured.SetNestedField(container, limit.String(), "resources", "requests", "memory"); err != nil {
			return err
		}
	}
	return unstructured.SetNestedField(container, limit.String(), "resources", "limits", "memory")
}

// outdate makes the next run build an object as it is declared. pods are the paths of the metadata of
// its pods, which the next run then replaces.
func outdate(object *unstructured.Unstructured, mark RestartMark, pods ...[]string) error {
	kube.ForgetIntent(object)
	for _, metadata := range append(pods, []string{"metadata"}) {
		path := append(slices.Clone(metadata), "annotations", v1alpha1.AnnotationFingerprint)
		if err := unstructured.SetNestedField(object.Object, environment.Fingerprint(mark.String()), path...); err != nil {
			return fmt.Errorf("setting the fingerprint of %s %q: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
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
	return p.mark(ctx, object, mark, func(changed *unstructured.Unstructured) error {
		if restart.Postgres.Image == "" {
			return nil
		}
		if err := outdate(changed, mark); err != nil {
			return err
		}
		return unstructured.SetNestedField(changed.Object, restart.Postgres.Image, "spec", "imageName")
	}, "metadata", "annotations")
}

// Restart annotates the pods of the nodes, which Strimzi then rolls. A pool with a template takes
// nothing from that of the Kafka.
func (k kafkaCluster) Restart(ctx context.Context, p *Scope, restart v1alpha1.RestartFault, mark RestartMark) (RestartMark, error) {
	if restart.Kafka == nil {
		return RestartMark{}, nil
	}
	made, err := k.resources(ctx, p)
	if err != nil {
		return RestartMark{}, err
	}
	stored := RestartMark{}
	for i := range made {
		template := kafkaTemplate(&made[i])
		if template == nil {
			continue
		}
		// All objects have the mark of the first.
		stored, err = p.mark(ctx, &made[i], cmp.Or(stored, mark), func(changed *unstructured.Unstructured) error {
			return upgradeKafka(changed, restart.Kafka.Version, mark)
		}, append(template, "pod", "metadata", "annotations")...)
		if err != nil {
			return RestartMark{}, err
		}
	}
	return stored, nil
}

// kafkaTemplate is the path of the template of an object's pods; nil if it has none.
func kafkaTemplate(object *unstructured.Unstructured) []string {
	if object.GetKind() == contract.KindKafka {
		return []string{"spec", "kafka", "template"}
	}
	if _, has, _ := unstructured.NestedMap(object.Object, "spec", "template"); has {
		return []string{"spec", "template"}
	}
	return nil
}

// upgradeKafka changes the version of a Kafka, which the next run builds as declared again.
func upgradeKafka(object *unstructured.Unstructured, version string, mark RestartMark) error {
	if version == "" || object.GetKind() != contract.KindKafka {
		return nil
	}
	if err := outdate(object, mark); err != nil {
		return err
	}
	return unstructured.SetNestedField(object.Object, version, "spec", "kafka", "version")
}

// mark makes a change, and stores the mark of its restart among annotations, unless the same restart
// has one.
func (p *Scope) mark(ctx context.Context, object *unstructured.Unstructured, mark RestartMark, change func(*unstructured.Unstructured) error, path ...string) (RestartMark, error) {
	annotations, _, err := unstructured.NestedStringMap(object.Object, path...)
	if err != nil {
		return RestartMark{}, fmt.Errorf("reading the annotations of %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	if known := readMark(annotations[annotationRestart]); known.Fault == mark.Fault {
		return known, nil
	}
	changed := object.DeepCopy()
	if err := change(changed); err != nil {
		return RestartMark{}, fmt.Errorf("changing %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	if err := unstructured.SetNestedField(changed.Object, mark.String(), append(path, annotationRestart)...); err != nil {
		return RestartMark{}, fmt.Errorf("annotating %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return mark, p.Cluster.PatchIfUnchanged(ctx, changed, object)
}

// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters/status,verbs=patch

// Switchover changes the target primary in the Cluster's status, which CloudNativePG then follows.
func (postgresCluster) Switchover(ctx context.Context, p *Scope, switchover v1alpha1.SwitchoverFault, pod string, now time.Time) (time.Time, error) {
	if switchover.Postgres == nil {
		return time.Time{}, nil
	}
	object, err := p.GetOwned(ctx, contract.PostgresClusterKind, p.Request().PostgresName())
	if err != nil || object == nil {
		return time.Time{}, err
	}
	cluster := contract.PostgresCluster{Object: object}
	switch {
	case cluster.TargetPrimary() == pod:
		return cluster.TargetSince(), nil
	case cluster.TargetPrimary() != cluster.CurrentPrimary():
		return time.Time{}, nil
	}
	changed, err := cluster.Promote(pod, now)
	if err != nil {
		return time.Time{}, err
	}
	return now, p.Cluster.PatchStatus(ctx, changed, object)
}
