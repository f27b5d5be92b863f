// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
)

func TestRestarts(t *testing.T) {
	since := now
	running := func(name string, restarts int32) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", RestartCount: restarts}}},
		}
	}
	ended := func(pod corev1.Pod, after time.Duration, count int32) corev1.Pod {
		status := &pod.Status.ContainerStatuses[0]
		status.RestartCount = count
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
			Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(since.Add(after)),
		}
		return pod
	}
	a, b := running("a", 0), running("b", 0)
	down := *b.DeepCopy()
	down.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	evicted := *b.DeepCopy()
	evicted.Status.Phase = corev1.PodFailed
	going := *b.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: since.Add(time.Second)}
	cases := map[string]struct {
		reason string
		more   int32
		pods   []corev1.Pod
		want   int32
		fault  string
	}{
		"None":     {pods: []corev1.Pod{a, b}},
		"Before":   {reason: "it had restarted once before", pods: []corev1.Pod{ended(*a.DeepCopy(), -time.Minute, 1), b}},
		"Once":     {pods: []corev1.Pod{ended(*a.DeepCopy(), time.Minute, 2), b}, want: 1, fault: "mod-a 1 time (OOMKilled, exit code 137); validity.maxRestarts allows 0"},
		"Down":     {reason: "the container has not restarted yet", pods: []corev1.Pod{a, down}, want: 1, fault: "mod-a 1 time;"},
		"Replaced": {pods: []corev1.Pod{a, running("c", 0)}, want: 1, fault: "mod-a 1 time"},
		"Gone":     {pods: []corev1.Pod{a}, want: 1, fault: "mod-a 1 time"},
		"Going":    {reason: "a terminating pod stops serving before it is deleted", pods: []corev1.Pod{a, going}, want: 1, fault: "mod-a 1 time"},
		"Followed": {reason: "a pod was replaced", pods: []corev1.Pod{a, going, running("c", 0)}, want: 1, fault: "mod-a 1 time"},
		"Unlisted": {reason: "its earlier restarts are not listed", more: 1, pods: []corev1.Pod{a, b, running("c", 3)}},
		"Listed":   {reason: "its earlier restarts are listed", more: 1, pods: []corev1.Pod{ended(*a.DeepCopy(), time.Minute, 2), b}, want: 1, fault: "mod-a 1 time"},
		"Evicted":  {pods: []corev1.Pod{a, evicted}, want: 1, fault: "mod-a 1 time"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := []v1alpha1.EffectivePod{{Name: "a", UID: "uid-a", Restarts: 1}, {Name: "b", UID: "uid-b"}}
			got := environment.Restarts(before, tc.more, tc.pods)
			if got != tc.want {
				t.Errorf("%d restarts, want %d: %s", got, tc.want, tc.reason)
			}
			parts := []environment.Restarted{{Part: "mod-a", Times: got, Pods: tc.pods}, {Part: "mod-b"}}
			fault := environment.RestartFault(parts, 0, since)
			if (fault == "") != (tc.fault == "") || !strings.Contains(fault, tc.fault) {
				t.Errorf("the fault is %q, want %q", fault, tc.fault)
			}
			if fault := environment.RestartFault(parts, tc.want, since); fault != "" {
				t.Errorf("as many as are allowed gave %q", fault)
			}
		})
	}
}
