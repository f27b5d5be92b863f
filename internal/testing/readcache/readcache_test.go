// SPDX-License-Identifier: Apache-2.0

package readcache_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/readcache"
)

// server counts the reads that reach it.
type server struct {
	cached, uncached client.Client
	reads            int
}

func newServer(objects ...client.Object) *server {
	s := &server{}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	uncached := fake.NewClientBuilder().WithRESTMapper(mapper).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			s.reads++
			return err
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			s.reads++
			return err
		},
	}).Build()
	s.cached, s.uncached = (&readcache.Cache{}).Client(uncached, uncached), uncached
	return s
}

func configMap(namespace, name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"key": value},
	}
}

// get reads a ConfigMap and returns its value; "absent" if there is none.
func (s *server) get(t *testing.T, namespace, name string) string {
	t.Helper()
	found := &corev1.ConfigMap{}
	err := s.cached.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return "absent"
	}
	expect.NoError(t, err)
	return found.Data["key"]
}

func (s *server) count(t *testing.T, options ...client.ListOption) int {
	t.Helper()
	list := &corev1.ConfigMapList{}
	expect.NoError(t, s.cached.List(t.Context(), list, options...))
	return len(list.Items)
}

func TestRepeatedReadsAreAnsweredFromMemory(t *testing.T) {
	s := newServer(configMap("a", "one", "1"))
	for range 3 {
		if got := s.get(t, "a", "one"); got != "1" {
			t.Errorf("a/one holds %q", got)
		}
		if got := s.get(t, "a", "two"); got != "absent" {
			t.Errorf("a/two holds %q", got)
		}
		if got := s.count(t, client.InNamespace("a")); got != 1 {
			t.Errorf("namespace a has %d ConfigMaps", got)
		}
	}
	if s.reads != 1 {
		t.Errorf("%d reads reached the server, want one list", s.reads)
	}
}

func TestWriteInvalidatesCache(t *testing.T) {
	for name, write := range map[string]func(context.Context, client.Client) error{
		"create": func(ctx context.Context, c client.Client) error { return c.Create(ctx, configMap("a", "two", "2")) },
		"update": func(ctx context.Context, c client.Client) error { return c.Update(ctx, configMap("a", "one", "2")) },
		"delete": func(ctx context.Context, c client.Client) error { return c.Delete(ctx, configMap("a", "one", "")) },
		"apply": func(ctx context.Context, c client.Client) error {
			return c.Patch(ctx, configMap("a", "one", ""), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"key":"2"}}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(configMap("a", "one", "1"))
			read := func() [3]any {
				return [3]any{s.get(t, "a", "one"), s.get(t, "a", "two"), s.count(t, client.InNamespace("a"))}
			}
			before := read()
			expect.NoError(t, write(t.Context(), s.cached))
			if after := read(); after == before {
				t.Errorf("%v before the write and after it", after)
			}
			if s.reads != 2 {
				t.Errorf("%d reads reached the server, want a list, and what was written", s.reads)
			}
		})
	}
}

func TestOtherWritesKeepCache(t *testing.T) {
	s := newServer(configMap("a", "one", "1"))
	s.get(t, "a", "one")
	for _, object := range []client.Object{configMap("b", "one", "1"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "one"}}} {
		expect.NoError(t, s.cached.Create(t.Context(), object))
	}
	s.get(t, "a", "one")
	if s.reads != 1 {
		t.Errorf("%d reads reached the server, want 1", s.reads)
	}
}

func TestReadsReturnCopies(t *testing.T) {
	s := newServer(configMap("a", "one", "1"))
	found := &corev1.ConfigMap{}
	for range 2 {
		expect.NoError(t, s.cached.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, found))
		found.Data["key"] = "changed"
	}
	if got := s.get(t, "a", "one"); got != "1" {
		t.Errorf("a/one holds %q", got)
	}
}

// A list is filtered as by the server, also one of metadata only.
func TestListsSelectLabels(t *testing.T) {
	labelled := configMap("a", "two", "2")
	labelled.Labels = map[string]string{"team": "shop"}
	s := newServer(configMap("a", "one", "1"), labelled)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	expect.NoError(t, s.cached.List(t.Context(), list, client.InNamespace("a"), client.MatchingLabels{"team": "shop"}))
	if len(list.Items) != 1 || list.Items[0].Name != "two" {
		t.Errorf("chosen are %v", list.Items)
	}
}

// Two reads are equal, whether the server or the cache has answered.
func TestErrorsComeFromServer(t *testing.T) {
	s := newServer(configMap("a", "one", "1"))
	key := client.ObjectKey{Namespace: "a", Name: "one"}
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for _, pair := range [][2]client.Object{{&corev1.ConfigMap{}, &corev1.ConfigMap{}}, {raw, raw.DeepCopy()}} {
		expect.NoError(t, errors.Join(s.uncached.Get(t.Context(), key, pair[0]), s.cached.Get(t.Context(), key, pair[1])))
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("-server +cache:\n%s", diff)
		}
	}
}

// Reads that the cache can't answer reach the server each time.
func TestUncachedReads(t *testing.T) {
	s := newServer(configMap("a", "one", "1"), configMap("b", "one", "1"), configMap("b", "two", "1"))
	for range 2 {
		if got := s.count(t); got != 3 {
			t.Errorf("%d ConfigMaps in all namespaces", got)
		}
	}
	if s.reads != 2 {
		t.Errorf("%d reads reached the server, want 2", s.reads)
	}
}
