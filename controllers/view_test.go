// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubecache "perflab.dev/perflab/internal/kube/cache"
)

// view has the caches of two operators that alternate: one is current when its reconcile first reads a
// kind, the other is some reconciles behind, in each reconcile for other kinds, so that the states of
// two kinds that it reads never existed together.
type view struct {
	admin     client.Client
	namespace string
	// lag is how many of its reconciles the stale one is behind.
	lag, pass int
	heard     map[schema.GroupVersionKind][]heard
	// kinds in the order in which they were first read again.
	kinds []schema.GroupVersionKind
}

// heard are the objects of a kind in a reconcile.
type heard struct {
	pass    int
	objects []unstructured.Unstructured
}

func (l *lab) behind(passes int) *view {
	return &view{admin: l.admin, namespace: l.namespace, lag: passes, heard: map[schema.GroupVersionKind][]heard{}}
}

// delay is how many reconciles without a change show that there will be none: one of each operator.
func (v *view) delay() int {
	if v == nil {
		return 0
	}
	return 1
}

// nextPass starts another reconcile.
func (v *view) nextPass() {
	if v != nil {
		v.pass++
	}
}

// holds reports whether an object is read from the cache. ConfigMaps are not.
func (v *view) holds(object runtime.Object) bool {
	if v == nil {
		return false
	}
	kind, err := v.objectKind(object)
	return err == nil && kind != corev1.SchemeGroupVersion.WithKind("ConfigMap") && kind.Kind != "Node"
}

func (v *view) objectKind(object runtime.Object) (schema.GroupVersionKind, error) {
	kind, err := v.admin.GroupVersionKindFor(object)
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	return kind, err
}

// of returns the objects of a kind as the cache has them.
func (v *view) of(ctx context.Context, object runtime.Object) ([]unstructured.Unstructured, error) {
	kind, err := v.objectKind(object)
	if err != nil {
		return nil, err
	}
	known := v.heard[kind]
	if len(known) > 0 && v.lagsBehind(kind) {
		return known[max(0, len(known)-v.lag)].objects, nil
	}
	if len(known) > 0 && known[len(known)-1].pass == v.pass {
		return known[len(known)-1].objects, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := v.admin.List(ctx, list, client.InNamespace(v.namespace)); err != nil {
		return nil, err
	}
	v.heard[kind] = append(known, heard{v.pass, list.Items})
	return list.Items, nil
}

// lagsBehind counts reconciles in binary, one digit for each three kinds.
func (v *view) lagsBehind(kind schema.GroupVersionKind) bool {
	if !slices.Contains(v.kinds, kind) {
		v.kinds = append(v.kinds, kind)
	}
	digit := slices.Index(v.kinds, kind) % 3
	return v.pass%2 == 0 && v.pass/2>>digit&1 == 1
}

func (v *view) get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	known, err := v.of(ctx, object)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(known, func(o unstructured.Unstructured) bool { return o.GetName() == key.Name })
	if at < 0 {
		kind, _ := v.objectKind(object)
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind) + "s"}, key.Name)
	}
	return convert(&known[at], object)
}

func (v *view) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	which := &client.ListOptions{}
	which.ApplyOptions(options)
	if which.FieldSelector == nil {
		which.FieldSelector = fields.Everything()
	}
	if which.LabelSelector == nil {
		which.LabelSelector = labels.Everything()
	}
	known, err := v.of(ctx, list)
	if err != nil {
		return err
	}
	known = slices.DeleteFunc(slices.Clone(known), func(o unstructured.Unstructured) bool {
		return !which.LabelSelector.Matches(labels.Set(o.GetLabels())) || !which.FieldSelector.Matches(indexed(&o))
	})
	if others, is := list.(*unstructured.UnstructuredList); is {
		for i := range known {
			others.Items = append(others.Items, *known[i].DeepCopy())
		}
		return nil
	}
	found := &unstructured.UnstructuredList{Items: known}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.UnstructuredContent(), list); err != nil {
		return fmt.Errorf("showing %T: %w", list, err)
	}
	_, err = meta.ExtractList(list)
	return err
}

// indexed are the cache's indexes of runs.
func indexed(object *unstructured.Unstructured) fields.Set {
	set := fields.Set{}
	for _, field := range []string{kubecache.FieldExperiment, kubecache.FieldPhase} {
		set[field], _, _ = unstructured.NestedString(object.Object, strings.Split(field, ".")...)
	}
	return set
}

func convert(known *unstructured.Unstructured, object client.Object) error {
	if other, is := object.(*unstructured.Unstructured); is {
		known.DeepCopyInto(other)
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(known.DeepCopy().Object, object)
}
