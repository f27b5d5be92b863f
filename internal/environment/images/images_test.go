// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/images"
	"perflab.dev/perflab/internal/testing/expect"
)

func request(modules ...string) environment.Request {
	req := environment.Request{Namespace: "ns", Experiment: "exp"}
	for _, image := range modules {
		req.System.Modules = append(req.System.Modules, v1alpha1.Module{Image: image})
	}
	return req
}

func pod(t *testing.T, intent environment.Intent) corev1.Pod {
	t.Helper()
	made := corev1.Pod{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(intent.Object, &made, true))
	return made
}

func TestBuildPullsEveryImageOnce(t *testing.T) {
	made := pod(t, images.Build(request("b:1", "a:1", "b:1"), "k6:1", "k6:1")[0])
	var got []string
	for _, container := range made.Spec.Containers {
		got = append(got, container.Image)
	}
	expect.Equal(t, []string{"k6:1", "a:1", "b:1"}, got, "images")
}

func TestBuildNamesPodByImages(t *testing.T) {
	first := images.Build(request("a:1"))[0].GetName()
	if again := images.Build(request("a:1"))[0].GetName(); again != first {
		t.Errorf("the same images gave pods %q and %q", first, again)
	}
	if other := images.Build(request("a:2"))[0].GetName(); other == first {
		t.Errorf("other images gave the same pod %q", other)
	}
}

func TestAssess(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  corev1.ContainerState
		ready  bool
	}{
		"pulled": {
			reason: "the container started", ready: true,
			state: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0}},
		},
		"being pulled": {
			reason: "whether the image exists is not known yet", ready: false,
			state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		},
		"has no such program": {
			reason: "it was pulled", ready: true,
			state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "RunContainerError"}},
		},
		"missing": {
			reason: "the runtime can't find it", ready: false,
			state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
		},
		"not running as declared": {
			reason: "the image was pulled; the user is checked elsewhere", ready: true,
			state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: "container has runAsNonRoot"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			seen := pod(t, images.Build(request(), "a:1")[0])
			seen.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "image-1", Image: "a:1", State: test.state}}
			if got := images.Assess(environment.Observed{Pods: []corev1.Pod{seen}}, "a:1"); got.Ready != test.ready {
				t.Errorf("%s: got %+v", test.reason, got)
			}
		})
	}
}

func TestAssessNamesPullingImages(t *testing.T) {
	seen := pod(t, images.Build(request("module:1"), "k6:1", "collector:1", "k6:1")[0])
	seen.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "image-1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
		{Name: "image-2", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
	}
	got := images.Assess(environment.Observed{Pods: []corev1.Pod{seen}}, "k6:1", "collector:1", "k6:1")
	want := environment.NotReady(v1alpha1.ReasonPulling, "1 of 2 images is available; pulling collector:1")
	expect.Equal(t, want, got, "a module's image is not asked for")
}

func TestAssessWithoutANode(t *testing.T) {
	seen := pod(t, images.Build(request(), "k6:1")[0])
	seen.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "1 node had an untolerated taint"}}
	if got := images.Assess(environment.Observed{Pods: []corev1.Pod{seen}, Now: time.Now()}, "k6:1"); !got.Ready {
		t.Errorf("a pod of ours that no node takes says nothing of the images: got %+v", got)
	}
}
