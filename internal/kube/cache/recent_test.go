// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// behind is a manager's client with a cache that tests update, and an API server
// that counts requests.
type behind struct {
	client.Client
	server    client.WithWatch
	namespace string
	// shown are the pods that the cache has, by name.
	shown map[string]*corev1.Pod
	asked int
}

func newBehind(server client.WithWatch, namespace string) *behind {
	b := &behind{server: server, namespace: namespace, shown: map[string]*corev1.Pod{}}
	cached := interceptor.NewClient(b.server, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			found := b.shown[key.Name]
			if found == nil {
				return apierrors.NewNotFound(corev1.Resource("pods"), key.Name)
			}
			if shared := (&client.GetOptions{}).ApplyOptions(options).UnsafeDisableDeepCopy; shared == nil || !*shared {
				found = found.DeepCopy()
			}
			*object.(*corev1.Pod) = *found
			return nil
		},
	})
	live := interceptor.NewClient(b.server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			b.asked++
			return server.Get(ctx, key, object, options...)
		},
	})
	b.Client = cache.NewFreshness().Client(cached, live)
	return b
}

// onServer returns one with a real API server.
func onServer(t *testing.T) *behind {
	t.Helper()
	direct := apiserver.Client(t, server.Config(t))
	return newBehind(direct, apiserver.Namespace(t, direct))
}

func (b *behind) key() client.ObjectKey { return client.ObjectKey{Namespace: b.namespace, Name: "one"} }

// read returns the message of the pod; empty if it does not exist.
func (b *behind) read(t *testing.T) string {
	t.Helper()
	pod := &corev1.Pod{}
	err := b.Get(t.Context(), b.key(), pod, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return pod.Status.Message
}

// catchUp updates the cache from the API server.
func (b *behind) catchUp(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{}
	expect.NoError(t, b.server.Get(t.Context(), b.key(), pod))
	b.shown["one"] = pod
}

// write writes the pod with another message.
func (b *behind) write(t *testing.T, pod *corev1.Pod, message string) {
	t.Helper()
	before := pod.DeepCopy()
	pod.Annotations = map[string]string{"message": message}
	expect.NoError(t, b.Patch(t.Context(), pod, client.MergeFrom(before)))
	before = pod.DeepCopy()
	pod.Status.Message = message
	expect.NoError(t, b.Status().Patch(t.Context(), pod, client.MergeFrom(before)))
}

func (b *behind) make(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "one"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "one", Image: "one"}}},
	}
	expect.NoError(t, b.Create(t.Context(), pod))
	return pod
}

func TestWhatWasJustWrittenIsRead(t *testing.T) {
	b := onServer(t)
	pod := b.make(t)
	b.write(t, pod, "first")
	if got := b.read(t); got != "first" || b.asked != 1 {
		t.Errorf("of a pod that the cache does not have yet %q is read, in %d requests", got, b.asked)
	}
	b.catchUp(t)
	b.write(t, pod, "second")
	if got := b.read(t); got != "second" || b.asked != 2 {
		t.Errorf("of a pod that the cache has as it was %q is read, in %d requests", got, b.asked)
	}
	if kept := b.shown["one"]; kept.Status.Message != "first" || kept.Annotations["message"] != "first" {
		t.Errorf("what is read from the API server is read into the cache: %v", kept)
	}
	b.catchUp(t)
	for range 2 {
		if got := b.read(t); got != "second" || b.asked != 2 {
			t.Errorf("of a pod that the cache has %q is read, in %d requests", got, b.asked)
		}
	}
	expect.NoError(t, b.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	delete(b.shown, "one")
	if got := b.read(t); got != "" || b.asked != 2 {
		t.Errorf("of a pod that is gone %q is read, in %d requests", got, b.asked)
	}
}

// Get does not read past the cache for writes of others.
func TestWhatOthersWriteIsReadFromTheCache(t *testing.T) {
	b := onServer(t)
	pod := b.make(t)
	b.catchUp(t)
	b.read(t)
	other := pod.DeepCopy()
	other.Status.Message = "another's"
	expect.NoError(t, b.server.Status().Update(t.Context(), other))
	if got := b.read(t); got == "another's" || b.asked != 0 {
		t.Errorf("%q is read, in %d requests", got, b.asked)
	}
}

// A cache that does not catch up, because it leaves objects out or versions have decreased,
// is used as it is after a while.
func TestRequestsDoNotWaitLongForACache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBehind(fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).Build(), "trial")
		pod := b.make(t)
		b.catchUp(t)
		b.write(t, pod, "first")
		time.Sleep(9 * time.Second)
		if got := b.read(t); got != "first" {
			t.Errorf("soon after it was written, %q is read", got)
		}
		time.Sleep(time.Second)
		if got := b.read(t); got == "first" || b.asked != 1 {
			t.Errorf("long after it was written, %q is read, in %d requests", got, b.asked)
		}
	})
}
