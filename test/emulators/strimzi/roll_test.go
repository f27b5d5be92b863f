// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// rollMembers returns two brokers and a controller, before and after a change of configuration.
func rollMembers(t *testing.T) (before, after []member) {
	t.Helper()
	kafka := makeKafka("ns", "k")
	nodes := assignNodes([]api.KafkaNodePool{
		*makePool(kafka, "broker", 2, api.RoleBroker),
		*makePool(kafka, "controller", 1, api.RoleController),
	})
	var err error
	if before, err = newest.newMembers(kafka, nodes); err != nil {
		t.Fatal(err)
	}
	kafka.Spec.Kafka.Config["num.io.threads"] = apiextensionsv1.JSON{Raw: []byte("4")}
	if after, err = newest.newMembers(kafka, nodes); err != nil {
		t.Fatal(err)
	}
	return before, after
}

func TestNextStep(t *testing.T) {
	before, after := rollMembers(t)
	terminating := makePod(before[0], true)
	terminating.DeletionTimestamp = &metav1.Time{}
	for name, tc := range map[string]struct {
		reason string
		pods   []corev1.Pod
		remove []string
		wait   string
	}{
		"no Pods": {
			reason: "the StrimziPodSets make all Pods, and the first one is awaited",
			wait:   "k-broker-0",
		},
		"all Pods ready": {
			reason: "the roll is complete",
			pods:   []corev1.Pod{makePod(after[0], true), makePod(after[1], true), makePod(after[2], true)},
		},
		"all outdated": {
			reason: "the controller restarts first, alone",
			pods:   []corev1.Pod{makePod(before[0], true), makePod(before[1], true), makePod(before[2], true)},
			remove: []string{"k-controller-2"},
		},
		"controller done": {
			reason: "then the first broker",
			pods:   []corev1.Pod{makePod(before[0], true), makePod(before[1], true), makePod(after[2], true)},
			remove: []string{"k-broker-0"},
		},
		"restarted broker not ready": {
			reason: "the next one waits",
			pods:   []corev1.Pod{makePod(after[0], false), makePod(before[1], true), makePod(after[2], true)},
			wait:   "k-broker-0",
		},
		"outdated broker not ready": {
			reason: "the new configuration may fix it",
			pods:   []corev1.Pod{makePod(after[0], false), makePod(before[1], false), makePod(after[2], true)},
			remove: []string{"k-broker-1"},
		},
		"one terminating": {
			reason: "the roll waits for its deletion",
			pods:   []corev1.Pod{terminating, makePod(before[1], true), makePod(before[2], true)},
			wait:   "k-broker-0",
		},
		"one missing among outdated ones": {
			reason: "at most one is unavailable at a time",
			pods:   []corev1.Pod{makePod(before[0], true), makePod(before[1], true)},
			wait:   "k-controller-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := nextStep(after, tc.pods)
			var remove []string
			for _, pod := range got.Delete {
				remove = append(remove, pod.Name)
			}
			expect.Equal(t, []any{tc.remove, tc.wait}, []any{remove, got.Wait}, "%s", tc.reason)
		})
	}
}

// TestRollEnds simulates a whole roll: it restarts each node once and stops.
func TestRollEnds(t *testing.T) {
	before, after := rollMembers(t)
	pods := []corev1.Pod{makePod(before[0], true), makePod(before[1], true), makePod(before[2], true)}
	var restarted []string
	for range 20 {
		next := nextStep(after, pods)
		if next.settled() {
			break
		}
		for _, gone := range next.Delete {
			restarted = append(restarted, gone.Name)
			for i := range pods {
				if pods[i].Name == gone.Name {
					pods = append(pods[:i:i], pods[i+1:]...)
					break
				}
			}
		}
		for _, m := range after {
			if podNamed(pods, m.pod.Name) == nil {
				pods = append(pods, makePod(m, true))
			}
		}
	}
	expect.Equal(t, []string{"k-controller-2", "k-broker-0", "k-broker-1"}, restarted, "restarted")
	if !nextStep(after, pods).settled() {
		t.Error("the roll did not end")
	}
}
