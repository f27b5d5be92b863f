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

// view is the caches of two operators that take turns: one has heard of all there
// was when its pass began to ask for a kind, the other is some passes behind, in
// each pass with other kinds, so that what it is shown of two of them was never
// there at once.
type view struct {
	admin     client.Client
	namespace string
	// lag is how many of its passes the one that is behind is behind.
	lag, pass int
	heard     map[schema.GroupVersionKind][]heard
	// kinds in the order in which they were first asked for again.
	kinds []schema.GroupVersionKind
}

// heard is what there was of a kind in a pass.
type heard struct {
	pass    int
	objects []unstructured.Unstructured
}

func (l *lab) behind(passes int) *view {
	return &view{admin: l.admin, namespace: l.namespace, lag: passes, heard: map[schema.GroupVersionKind][]heard{}}
}

// delay is how many passes in which nothing happens show that nothing will: one
// of each of them.
func (v *view) delay() int {
	if v == nil {
		return 0
	}
	return 1
}

// turn tells the view that another pass begins.
func (v *view) turn() {
	if v != nil {
		v.pass++
	}
}

// holds tells what is read from the cache. ConfigMaps are not.
func (v *view) holds(object runtime.Object) bool {
	if v == nil {
		return false
	}
	kind, err := v.kindOf(object)
	return err == nil && kind != corev1.SchemeGroupVersion.WithKind("ConfigMap") && kind.Kind != "Node"
}

func (v *view) kindOf(object runtime.Object) (schema.GroupVersionKind, error) {
	kind, err := v.admin.GroupVersionKindFor(object)
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	return kind, err
}

// of are the objects of a kind as far as it was heard of them.
func (v *view) of(ctx context.Context, object runtime.Object) ([]unstructured.Unstructured, error) {
	kind, err := v.kindOf(object)
	if err != nil {
		return nil, err
	}
	known := v.heard[kind]
	if len(known) > 0 && v.isBehind(kind) {
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

// isBehind counts with the passes in binary, one digit for each three kinds.
func (v *view) isBehind(kind schema.GroupVersionKind) bool {
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
		kind, _ := v.kindOf(object)
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

// indexed are the fields by which the cache finds runs.
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
