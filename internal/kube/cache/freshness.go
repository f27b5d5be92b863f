// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"perflab.dev/perflab/internal/kube"
)

// Freshness holds the minimum version for lists of each kind: the latest that this process
// has written or listed. The API server answers such a list from its own cache, in
// milliseconds. A list without a minimum waits until that cache is as new as etcd, which
// takes a tenth of a second.
//
// Writes of others may be missing while the server's watch of etcd is behind. They could as
// well have happened a moment after a list that waited.
type Freshness struct {
	mutex sync.Mutex
	known map[schema.GroupKind]uint64
}

// NewFreshness returns one without versions: the first list of each kind waits.
func NewFreshness() *Freshness { return &Freshness{known: map[schema.GroupKind]uint64{}} }

// Client returns the client of a manager that notes the versions it writes. It gets an object
// from live while the cache does not have the written version yet. Live also lists the kinds
// that the cache leaves out.
func (f *Freshness) Client(cached client.Client, live client.Reader, leftOut ...schema.GroupVersionKind) client.Client {
	return noting{cached, f, &recent{}, live, leftOut}
}

// Reader returns a reader from the API server whose lists have the minimum version. Lists
// that set a version themselves, and pages after the first, are unchanged. A list without
// a limit is requested in pages, so that the server never holds more than one.
func (f *Freshness) Reader(live client.Reader, scheme *runtime.Scheme) client.Reader {
	return fresh{live, f, scheme}
}

func (f *Freshness) of(kind schema.GroupKind) uint64 {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.known[kind]
}

// note stores the version if it is later than the known one. Versions of a kind are
// growing numbers.
func (f *Freshness) note(kind schema.GroupKind, version string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.known[kind] = max(f.known[kind], numberOf(version))
}

// numberOf returns a version as a number; 0 if it is none.
func numberOf(version string) uint64 {
	number, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return number
}

func (f *Freshness) forget(kind schema.GroupKind) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.known, kind)
}

type fresh struct {
	client.Reader
	*Freshness
	scheme *runtime.Scheme
}

// List lists in pages, at the minimum version or later.
func (r fresh) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if (&client.ListOptions{}).ApplyOptions(options).Limit > 0 {
		return r.page(ctx, list, options...)
	}
	var items []runtime.Object
	version := ""
	err := kube.Pages(ctx, r, list, kube.PageSize, func(page client.ObjectList) error {
		found, err := meta.ExtractList(page)
		items, version = append(items, found...), page.GetResourceVersion()
		return err
	}, options...)
	if err != nil {
		return err
	}
	list.SetResourceVersion(version)
	if err := meta.SetList(list, items); err != nil {
		return fmt.Errorf("merging pages: %w", err)
	}
	return nil
}

// page lists one page, at the minimum version or later. After a restore of etcd, versions are
// lower: the server then responds ten times, after four seconds each, that the version is too
// large, and the known version is dropped.
func (r fresh) page(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	listed, err := listedKind(list, r.scheme)
	if err != nil {
		return err
	}
	kind := listed.GroupKind()
	applied := (&client.ListOptions{}).ApplyOptions(options)
	if known := r.of(kind); known > 0 && applied.Continue == "" && applied.Raw == nil {
		err = r.Reader.List(ctx, list, append(slices.Clone(options), notOlderThan(known))...)
		if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			return r.listed(kind, list, err)
		}
		r.forget(kind)
	}
	return r.listed(kind, list, r.Reader.List(ctx, list, options...))
}

func (r fresh) listed(kind schema.GroupKind, list client.ObjectList, err error) error {
	if err == nil {
		r.note(kind, list.GetResourceVersion())
	}
	return err
}

func listedKind(list client.ObjectList, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(list, scheme)
	if err != nil {
		return kind, fmt.Errorf("listing objects of an unknown kind: %w", err)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	return kind, nil
}

func notOlderThan(version uint64) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{
		ResourceVersion: strconv.FormatUint(version, 10), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}}
}

type noting struct {
	client.Client
	*Freshness
	recent  *recent
	live    client.Reader
	leftOut []schema.GroupVersionKind
}

func (w noting) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, err := listedKind(list, w.Scheme())
	if err != nil {
		return err
	}
	if slices.Contains(w.leftOut, kind) {
		return w.live.List(ctx, list, options...)
	}
	return w.Client.List(ctx, list, options...)
}

func (w noting) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return w.wrote(object, w.Client.Create(ctx, object, options...))
}

func (w noting) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return w.wrote(object, w.Client.Update(ctx, object, options...))
}

func (w noting) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return w.wrote(object, w.Client.Patch(ctx, object, patch, options...))
}

func (w noting) Apply(ctx context.Context, intent runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	err := w.Client.Apply(ctx, intent, options...)
	if object, ok := intent.(client.Object); ok {
		return w.wrote(object, err)
	}
	return err
}

func (w noting) Status() client.SubResourceWriter { return notingStatus{w.Client.Status(), w} }

type notingStatus struct {
	client.SubResourceWriter
	noting noting
}

func (s notingStatus) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	return s.noting.wrote(object, s.SubResourceWriter.Update(ctx, object, options...))
}

func (s notingStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.noting.wrote(object, s.SubResourceWriter.Patch(ctx, object, patch, options...))
}

// wrote notes the version of an object in a response. The response to a dry run has no
// version, or that of the existing object.
func (w noting) wrote(object client.Object, err error) error {
	if err != nil {
		return err
	}
	if kind, unknown := w.GroupVersionKindFor(object); unknown == nil {
		w.note(kind.GroupKind(), object.GetResourceVersion())
		w.recent.note(objectID{kind.GroupKind(), client.ObjectKeyFromObject(object)}, object.GetResourceVersion(), time.Now())
	}
	return nil
}
