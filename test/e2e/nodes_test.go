//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// threeNodes returns the names of the schedulable nodes. It skips the test if there are fewer
// than three.
func threeNodes(t *testing.T) []string {
	t.Helper()
	list := &corev1.NodeList{}
	expect.NoError(t, cluster.List(t.Context(), list), "listing nodes")
	var names []string
	for _, node := range list.Items {
		if !node.Spec.Unschedulable && len(node.Spec.Taints) == 0 {
			names = append(names, node.Name)
		}
	}
	if len(names) < 3 {
		t.Skipf("the cluster has %d schedulable nodes, and the test needs 3 (NODES=3 with kind)", len(names))
	}
	return names
}

// nodesOf returns the nodes of each module in a run.
func nodesOf(run *v1alpha1.PerfRun) map[string][]string {
	nodes := map[string][]string{}
	for _, module := range run.Status.Effective.Modules {
		nodes[module.Name] = module.Nodes
	}
	return nodes
}

// TestNodesSample checks that the gateway runs on circulation's node in one arm, and on another
// node in the other.
func TestNodesSample(t *testing.T) {
	threeNodes(t)
	_, done := runShortened(t, "nodes.yaml")
	for _, run := range done {
		nodes := nodesOf(&run)
		same := slices.Equal(nodes["gateway"], nodes["circulation"])
		if len(nodes["gateway"]) != 1 || len(nodes["circulation"]) != 1 || same != (run.Spec.Arm == "together") {
			t.Errorf("arm %s: the gateway is on %v, circulation on %v", run.Spec.Arm, nodes["gateway"], nodes["circulation"])
		}
	}
}

// TestDrainedNode spreads brokers and PostgreSQL's instances over the nodes, and drains the
// gateway's node under load: that attempt is invalid, and the next one has its gateway on another node.
func TestDrainedNode(t *testing.T) {
	ctx := t.Context()
	threeNodes(t)
	experiment := apply(t, namespace(t), "testdata/experiment.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Blocks, e.Spec.Arms = 1, e.Spec.Arms[:1]
		e.Spec.System.Kafka.Brokers.Replicas = 3
		e.Spec.System.Kafka.Brokers.Placement = &v1alpha1.Placement{TopologySpread: []v1alpha1.Spread{{TopologyKey: corev1.LabelHostname}}}
	})
	awaitPhase(ctx, t, experiment, v1alpha1.RunLoading, 8*time.Minute)
	checkSpread(ctx, t, experiment.Namespace, client.MatchingLabels{"strimzi.io/broker-role": "true"}, 3)
	checkSpread(ctx, t, experiment.Namespace, client.HasLabels{"cnpg.io/instanceName"}, 2)
	drained := drainGateway(ctx, t, experiment)
	awaitComplete(ctx, t, experiment, 12*time.Minute)

	invalid, valid := 0, 0
	for _, run := range runs(ctx, t, experiment.Namespace) {
		if run.Status.Phase == v1alpha1.RunInvalid {
			invalid++
			if !strings.Contains(run.Status.Message, "gateway") {
				t.Errorf("run %s is invalid, and the gateway is not named: %s", run.Name, run.Status.Message)
			}
			continue
		}
		valid++
		if nodes := nodesOf(&run); run.Status.Phase != v1alpha1.RunSucceeded || slices.Contains(nodes["gateway"], drained) {
			t.Errorf("run %s is %s with the gateway on %v, and %s is drained", run.Name, run.Status.Phase, nodes["gateway"], drained)
		}
	}
	if invalid != 1 || valid != 1 {
		t.Errorf("%d invalid runs and %d valid ones, want 1 and 1", invalid, valid)
	}
}

// checkSpread checks that there are this many pods with the labels, each on its own node.
func checkSpread(ctx context.Context, t *testing.T, namespace string, labels client.ListOption, want int) {
	t.Helper()
	pods := &corev1.PodList{}
	expect.NoError(t, cluster.List(ctx, pods, client.InNamespace(namespace), labels), "listing pods")
	nodes := map[string]string{}
	for _, pod := range pods.Items {
		nodes[pod.Spec.NodeName] = pod.Name
	}
	if len(pods.Items) != want || len(nodes) != want {
		t.Errorf("%d pods on %d nodes, want %d on as many: %v", len(pods.Items), len(nodes), want, nodes)
	}
}

// drainGateway cordons the gateway's node and evicts the gateway, as kubectl drain does. The node
// is uncordoned when the test ends.
func drainGateway(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) string {
	t.Helper()
	pods := &corev1.PodList{}
	expect.NoError(t, cluster.List(ctx, pods, client.InNamespace(experiment.Namespace), client.MatchingLabels{v1alpha1.LabelModule: "gateway"}), "listing the gateway's pods")
	if len(pods.Items) != 1 {
		t.Fatalf("the gateway has %d pods", len(pods.Items))
	}
	pod := &pods.Items[0]
	t.Cleanup(func() {
		expect.NoError(t, cordon(context.WithoutCancel(ctx), pod.Spec.NodeName, false), "uncordoning %s", pod.Spec.NodeName)
	})
	expect.NoError(t, cordon(ctx, pod.Spec.NodeName, true), "cordoning %s", pod.Spec.NodeName)
	expect.NoError(t, cluster.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}), "evicting %s", pod.Name)
	return pod.Spec.NodeName
}

// cordon sets whether a node is unschedulable.
func cordon(ctx context.Context, name string, unschedulable bool) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return cluster.Patch(ctx, node, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"unschedulable": %t}}`, unschedulable)))
}

// TestLanesOfNodes checks that two experiments on different nodes run at the same time.
func TestLanesOfNodes(t *testing.T) {
	ctx := t.Context()
	nodes := threeNodes(t)
	var both []*v1alpha1.PerfExperiment
	for i := range 2 {
		on := &v1alpha1.Placement{NodeSelector: map[string]string{corev1.LabelHostname: nodes[i]}}
		both = append(both, apply(t, namespace(t), "testdata/experiment.yaml", func(e *v1alpha1.PerfExperiment) {
			e.Spec.Lane = &v1alpha1.Lane{Type: v1alpha1.LaneNodes}
			e.Spec.Design.Blocks, e.Spec.Arms = 1, e.Spec.Arms[:1]
			e.Spec.System.Kafka.Brokers.Placement, e.Spec.System.Postgres.Placement = on, on
			for j := range e.Spec.System.Modules {
				e.Spec.System.Modules[j].Placement = on
			}
		}))
	}
	await.Until(ctx, t, 10*time.Minute, "both experiments to have a run", func() (bool, string) {
		var active []string
		for _, one := range both {
			if current := get(ctx, t, one).Status.Current; current != nil {
				active = append(active, fmt.Sprintf("%+v", *current))
			}
		}
		return len(active) == 2, fmt.Sprint(active)
	})
	for i, one := range both {
		awaitComplete(ctx, t, one, 12*time.Minute)
		for _, run := range runs(ctx, t, one.Namespace) {
			for _, node := range run.Status.Effective.Nodes {
				if node.Name != nodes[i] {
					t.Errorf("run %s has %d pods on %s, want all on %s", run.Name, node.Pods, node.Name, nodes[i])
				}
			}
		}
	}
}
