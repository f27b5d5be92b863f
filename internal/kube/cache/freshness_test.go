// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// lists records the parameters of each list request.
type lists struct {
	mutex sync.Mutex
	asked []url.Values
	next  http.RoundTripper
}

func (l *lists) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && request.URL.Query().Has("labelSelector") {
		l.mutex.Lock()
		l.asked = append(l.asked, request.URL.Query())
		l.mutex.Unlock()
	}
	return l.next.RoundTrip(request)
}

// last returns the version that the last list requested.
func (l *lists) last(t *testing.T) (match string, version uint64) {
	t.Helper()
	asked := l.asked[len(l.asked)-1]
	if version := asked.Get("resourceVersion"); version != "" {
		return asked.Get("resourceVersionMatch"), number(t, version)
	}
	return asked.Get("resourceVersionMatch"), 0
}

func number(t *testing.T, version string) uint64 {
	t.Helper()
	read, err := strconv.ParseUint(version, 10, 64)
	expect.NoError(t, err)
	return read
}

// aside is a namespace with a client that notes its writes, and a reader whose lists
// include them.
type aside struct {
	asked     *lists
	namespace string
	client    client.Client
	live      client.Reader
}

func newAside(t *testing.T) aside {
	t.Helper()
	asked := &lists{}
	config := rest.CopyConfig(server.Config(t))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { asked.next = next; return asked })
	direct := apiserver.Client(t, config)
	freshness := cache.NewFreshness()
	live := freshness.Reader(direct, direct.Scheme())
	return aside{asked, apiserver.Namespace(t, direct), freshness.Client(direct, live, configMap), live}
}

// list lists objects, and checks that the list requested at least the written version.
func (a aside) list(t *testing.T, list client.ObjectList, written string) {
	t.Helper()
	expect.NoError(t, a.live.List(t.Context(), list, client.InNamespace(a.namespace), ours))
	if match, version := a.asked.last(t); match != "NotOlderThan" || version < number(t, written) {
		t.Errorf("the list after version %s asked for %s %d", written, match, version)
	}
}

var (
	ours       = client.MatchingLabels{"of": "ours"}
	oursLabels = map[string]string{"of": "ours"}
)

// A list without a limit is read in pages, and is complete.
func TestListsWithoutALimitAreReadInPages(t *testing.T) {
	a := newAside(t)
	const all = kube.PageSize + 3
	for n := range all {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: fmt.Sprintf("one-%03d", n), Labels: oursLabels}}
		expect.NoError(t, a.client.Create(t.Context(), object))
	}
	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, untyped, &corev1.ConfigMapList{}} {
		before := len(a.asked.asked)
		expect.NoError(t, a.live.List(t.Context(), list, client.InNamespace(a.namespace), ours))
		asked := a.asked.asked[before:]
		if len(asked) != 2 || asked[0].Get("limit") != "500" || asked[1].Get("limit") != "500" {
			t.Errorf("pages asked for: %v, want two of 500", asked)
		}
		names := map[string]bool{}
		if err := meta.EachListItem(list, func(object runtime.Object) error {
			names[object.(client.Object).GetName()] = true
			return nil
		}); err != nil || len(names) != all {
			t.Errorf("%d objects are listed, want %d (%v)", len(names), all, err)
		}
		if list.GetContinue() != "" || number(t, list.GetResourceVersion()) == 0 {
			t.Errorf("the list is of version %q and goes on at %q", list.GetResourceVersion(), list.GetContinue())
		}
	}
	some := &corev1.ConfigMapList{}
	if err := a.live.List(t.Context(), some, client.InNamespace(a.namespace), ours, client.Limit(2)); err != nil || len(some.Items) != 2 || some.Continue == "" {
		t.Errorf("of two, %d are listed, and it goes on at %q (%v)", len(some.Items), some.Continue, err)
	}
}

// After each kind of write, a list has the change.
func TestListsHaveWhatThisProcessWrote(t *testing.T) {
	a := newAside(t)
	found := &corev1.ConfigMapList{}
	expect.NoError(t, a.live.List(t.Context(), found, client.InNamespace(a.namespace), ours))
	if match, version := a.asked.last(t); version != 0 {
		t.Errorf("the first list asked for %s %d, want what the API server is sure of", match, version)
	}

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "one", Labels: oursLabels}}
	for _, way := range []struct {
		name  string
		write func(value string) error
	}{
		{"create", func(string) error { return a.client.Create(t.Context(), object) }},
		{"update", func(value string) error {
			object.Data = map[string]string{"value": value}
			return a.client.Update(t.Context(), object)
		}},
		{"patch", func(value string) error {
			before := object.DeepCopy()
			object.Data = map[string]string{"value": value}
			return a.client.Patch(t.Context(), object, client.MergeFrom(before))
		}},
		{"apply", func(value string) error {
			applied := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"value": value}}}
			applied.SetGroupVersionKind(configMap)
			applied.SetNamespace(a.namespace)
			applied.SetName("one")
			if err := a.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("test"), client.ForceOwnership); err != nil {
				return err
			}
			object.ResourceVersion = applied.GetResourceVersion()
			return nil
		}},
	} {
		expect.NoError(t, way.write(way.name), "%s", way.name)
		a.list(t, found, object.ResourceVersion)
		expect.NoError(t, a.client.List(t.Context(), found, client.InNamespace(a.namespace), ours))
		if match, _ := a.asked.last(t); match != "NotOlderThan" {
			t.Errorf("%s: the kind that no cache has is listed %q", way.name, match)
		}
		if len(found.Items) != 1 || way.name != "create" && found.Items[0].Data["value"] != way.name {
			t.Errorf("%s: a list has %v", way.name, found.Items)
		}
	}
}

func TestListsHaveTheStatusThisProcessWrote(t *testing.T) {
	a := newAside(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "one", Labels: oursLabels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "one", Image: "one"}}},
	}
	found := &corev1.PodList{}
	for _, step := range []struct {
		message string
		write   func() error
	}{
		{"", func() error { return a.client.Create(t.Context(), pod) }},
		{"update", func() error {
			pod.Status.Message = "update"
			return a.client.Status().Update(t.Context(), pod)
		}},
		{"patch", func() error {
			before := pod.DeepCopy()
			pod.Status.Message = "patch"
			return a.client.Status().Patch(t.Context(), pod, client.MergeFrom(before))
		}},
	} {
		expect.NoError(t, step.write())
		a.list(t, found, pod.ResourceVersion)
		if len(found.Items) != 1 || found.Items[0].Status.Message != step.message {
			t.Errorf("after %q a list has %+v", step.message, found.Items)
		}
	}
}

// A page continues where the previous one ended, despite writes in between.
func TestPagesGoOnWhereTheyEnded(t *testing.T) {
	a := newAside(t)
	write := func(name string) {
		expect.NoError(t, a.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name, Labels: oursLabels}}))
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		write(name)
	}
	read := ""
	err := kube.Pages(t.Context(), a.live, &corev1.ConfigMapList{}, 2, func(page *corev1.ConfigMapList) error {
		if len(page.Items) > 2 {
			t.Errorf("a page has %d of 2", len(page.Items))
		}
		for i := range page.Items {
			read += page.Items[i].Name
		}
		write("z" + read)
		return nil
	}, client.InNamespace(a.namespace), ours)
	if err != nil || read != "abcde" {
		t.Errorf("read %q, %v", read, err)
	}
}

// After a restore of etcd, versions are lower, and no list would ever reach the known
// version.
func TestVersionsMayGoBack(t *testing.T) {
	restored, asked := false, []string(nil)
	direct := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			raw := (&client.ListOptions{}).ApplyOptions(options).Raw
			if raw == nil {
				asked = append(asked, "")
				err := to.List(ctx, list, options...)
				list.SetResourceVersion("7")
				return err
			}
			asked = append(asked, raw.ResourceVersion)
			if restored {
				tooLarge := apierrors.NewTimeoutError("Too large resource version", 1)
				tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
				return tooLarge
			}
			list.SetResourceVersion("90")
			return nil
		},
	})
	reader := cache.NewFreshness().Reader(direct, direct.Scheme())
	for _, step := range []bool{false, false, true, false} {
		restored = step
		expect.NoError(t, reader.List(t.Context(), &corev1.ConfigMapList{}))
	}
	want := []string{"", "7", "90", "", "7"}
	if len(asked) != len(want) {
		t.Fatalf("asked for %q, want %q", asked, want)
	}
	for i := range want {
		if asked[i] != want[i] {
			t.Errorf("asked for %q, want %q", asked, want)
		}
	}
}
