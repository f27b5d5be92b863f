// SPDX-License-Identifier: Apache-2.0

// Package readcache serves a test's reads from memory. It lists the objects of a kind in a
// namespace once, and then rereads only written ones. The cache is consistent as long as
// every writer uses it.
package readcache

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Cache holds objects of one API server.
type Cache struct {
	mutex   sync.Mutex
	shelves map[shelfKey]*shelf
}

type shelfKey struct {
	kind      schema.GroupKind
	namespace string
}

// shelf holds the objects of one kind in one namespace. Its lock is held during requests,
// so that no read overtakes a write.
type shelf struct {
	mutex sync.Mutex
	// versions are the listed API versions, each with its objects by name.
	versions map[string]*version
}

type version struct {
	objects map[string]*unstructured.Unstructured
	// written are names of objects that were written since they were read.
	written map[string]bool
	// resourceVersion is that of the list.
	resourceVersion string
}

// Client reads through the cache, and writes with the writer. Reads of all namespaces, of
// cluster-scoped objects and of further pages go to the API server.
func (c *Cache) Client(uncached, writer client.WithWatch) client.WithWatch {
	return interceptor.NewClient(writer, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if key.Namespace == "" {
				return uncached.Get(ctx, key, object, options...)
			}
			return c.get(ctx, uncached, key, object)
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return c.list(ctx, uncached, list, options)
		},
		Create: func(ctx context.Context, u client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return c.write(u, object, func() error { return u.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, u client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return c.write(u, object, func() error { return u.Delete(ctx, object, options...) })
		},
		DeleteAllOf: func(ctx context.Context, u client.WithWatch, object client.Object, options ...client.DeleteAllOfOption) error {
			defer c.forget(u, object, options)
			return u.DeleteAllOf(ctx, object, options...)
		},
		Update: func(ctx context.Context, u client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return c.write(u, object, func() error { return u.Update(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, u client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return c.write(u, object, func() error { return u.Patch(ctx, object, patch, options...) })
		},
		Apply: func(ctx context.Context, u client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return c.write(u, object, func() error { return u.Apply(ctx, object, options...) })
		},
		SubResourceCreate: func(ctx context.Context, u client.Client, part string, object client.Object, body client.Object, options ...client.SubResourceCreateOption) error {
			return c.write(u, object, func() error { return u.SubResource(part).Create(ctx, object, body, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, u client.Client, part string, object client.Object, options ...client.SubResourceUpdateOption) error {
			return c.write(u, object, func() error { return u.SubResource(part).Update(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx context.Context, u client.Client, part string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return c.write(u, object, func() error { return u.SubResource(part).Patch(ctx, object, patch, options...) })
		},
		SubResourceApply: func(ctx context.Context, u client.Client, part string, object runtime.ApplyConfiguration, options ...client.SubResourceApplyOption) error {
			return c.write(u, object, func() error { return u.SubResource(part).Apply(ctx, object, options...) })
		},
	})
}

func (c *Cache) get(ctx context.Context, u client.WithWatch, key client.ObjectKey, into client.Object) error {
	kind, err := u.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	s := c.shelf(kind.GroupKind(), key.Namespace)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, err := s.current(ctx, u, kind, key.Namespace)
	if err != nil {
		return err
	}
	found, there := known.objects[key.Name]
	if !there {
		return notFound(u, kind, key.Name)
	}
	return convert(found, into)
}

func (c *Cache) list(ctx context.Context, u client.WithWatch, list client.ObjectList, options []client.ListOption) error {
	which := (&client.ListOptions{}).ApplyOptions(options)
	kind, err := u.GroupVersionKindFor(list)
	if err != nil {
		return err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	if which.Namespace == "" || which.Continue != "" {
		return u.List(ctx, list, options...)
	}
	s := c.shelf(kind.GroupKind(), which.Namespace)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, err := s.current(ctx, u, kind, which.Namespace)
	if err != nil {
		return err
	}
	chosen := known.chosen(which)
	if which.Limit > 0 && int64(len(chosen)) > which.Limit {
		return u.List(ctx, list, options...)
	}
	list.SetResourceVersion(known.resourceVersion)
	return fill(u, kind, list, chosen)
}

// chosen returns the objects that match selectors, sorted by name.
func (v *version) chosen(which *client.ListOptions) []*unstructured.Unstructured {
	var chosen []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(v.objects)) {
		object := v.objects[name]
		if which.LabelSelector != nil && !which.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		if which.FieldSelector == nil || which.FieldSelector.Matches(selectable(object, which.FieldSelector)) {
			chosen = append(chosen, object)
		}
	}
	return chosen
}

// selectable returns the fields of field selectors, by their paths.
func selectable(object *unstructured.Unstructured, selector fields.Selector) fields.Set {
	found := fields.Set{}
	for _, requirement := range selector.Requirements() {
		found[requirement.Field], _, _ = unstructured.NestedString(object.Object, strings.Split(requirement.Field, ".")...)
	}
	return found
}

// current reads unknown and written objects.
func (s *shelf) current(ctx context.Context, u client.WithWatch, kind schema.GroupVersionKind, namespace string) (*version, error) {
	known := s.versions[kind.Version]
	if known == nil {
		var err error
		if known, err = listed(ctx, u, kind, namespace); err != nil {
			return nil, err
		}
		s.versions[kind.Version] = known
	}
	for name := range known.written {
		if err := known.read(ctx, u, kind, client.ObjectKey{Namespace: namespace, Name: name}); err != nil {
			return nil, err
		}
	}
	return known, nil
}

func listed(ctx context.Context, u client.WithWatch, kind schema.GroupVersionKind, namespace string) (*version, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := u.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	known := &version{objects: map[string]*unstructured.Unstructured{}, written: map[string]bool{}, resourceVersion: list.GetResourceVersion()}
	for i := range list.Items {
		known.objects[list.Items[i].GetName()] = &list.Items[i]
	}
	return known, nil
}

// read reads one object again.
func (v *version) read(ctx context.Context, u client.WithWatch, kind schema.GroupVersionKind, key client.ObjectKey) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err := u.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	delete(v.written, key.Name)
	delete(v.objects, key.Name)
	if err == nil {
		v.objects[key.Name] = object
		v.resourceVersion = object.GetResourceVersion()
	}
	return nil
}

// convert copies an object into the reader's type, as a client does.
func convert(found *unstructured.Unstructured, into client.Object) error {
	if raw, is := into.(*unstructured.Unstructured); is {
		raw.Object = found.DeepCopy().Object
		return nil
	}
	target := reflect.ValueOf(into).Elem()
	target.SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into); err != nil {
		return err
	}
	if _, partial := into.(*metav1.PartialObjectMetadata); !partial {
		into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

// fill copies objects into a list.
func fill(u client.Client, kind schema.GroupVersionKind, list client.ObjectList, chosen []*unstructured.Unstructured) error {
	if raw, is := list.(*unstructured.UnstructuredList); is {
		raw.Items = make([]unstructured.Unstructured, len(chosen))
		for i, found := range chosen {
			found.DeepCopyInto(&raw.Items[i])
		}
		return nil
	}
	items := make([]runtime.Object, len(chosen))
	for i, found := range chosen {
		item, err := blank(u, kind, list)
		if err != nil {
			return err
		}
		if err := convert(found, item); err != nil {
			return err
		}
		items[i] = item
	}
	return meta.SetList(list, items)
}

// blank returns an empty item of a list.
func blank(u client.Client, kind schema.GroupVersionKind, list client.ObjectList) (client.Object, error) {
	if _, partial := list.(*metav1.PartialObjectMetadataList); partial {
		return &metav1.PartialObjectMetadata{}, nil
	}
	item, err := u.Scheme().New(kind)
	if err != nil {
		return nil, err
	}
	return item.(client.Object), nil
}

func notFound(u client.Client, kind schema.GroupVersionKind, name string) error {
	mapping, err := u.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	return apierrors.NewNotFound(mapping.Resource.GroupResource(), name)
}

// write marks the object as written, whatever the result: a failed write may have taken
// effect.
func (c *Cache) write(u client.Client, object any, do func() error) error {
	kind, namespace, err := identity(u, object)
	if err != nil {
		return err
	}
	s := c.shelf(kind.GroupKind(), namespace)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer func() {
		// The API server may have generated the name.
		name := object.(interface{ GetName() string }).GetName()
		for _, known := range s.versions {
			known.written[name] = true
		}
	}()
	return do()
}

// identity returns the key of a written object. Applied objects are unstructured.
func identity(u client.Client, object any) (schema.GroupVersionKind, string, error) {
	if applied, is := object.(runtime.ApplyConfiguration); is {
		object := applied.(interface {
			GroupVersionKind() schema.GroupVersionKind
			GetNamespace() string
		})
		return object.GroupVersionKind(), object.GetNamespace(), nil
	}
	typed := object.(client.Object)
	kind, err := apiutil.GVKForObject(typed, u.Scheme())
	return kind, typed.GetNamespace(), err
}

// forget drops all objects of a kind.
func (c *Cache) forget(u client.Client, object client.Object, options []client.DeleteAllOfOption) {
	kind, err := u.GroupVersionKindFor(object)
	if err != nil {
		return
	}
	s := c.shelf(kind.GroupKind(), (&client.DeleteAllOfOptions{}).ApplyOptions(options).Namespace)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	clear(s.versions)
}

func (c *Cache) shelf(kind schema.GroupKind, namespace string) *shelf {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at := shelfKey{kind, namespace}
	if c.shelves == nil {
		c.shelves = map[shelfKey]*shelf{}
	}
	if c.shelves[at] == nil {
		c.shelves[at] = &shelf{versions: map[string]*version{}}
	}
	return c.shelves[at]
}
