// SPDX-License-Identifier: Apache-2.0

package kube

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
)

// Freshness tracks the minimum resource version of a list of each kind: the newest that
// this process has written or listed. The API server serves such a list from its watch
// cache, in milliseconds; a list without a version waits until that cache has caught up
// with etcd, which takes 0.1 s.
//
// Writes of other clients may be missing for as long as the watch cache is behind. They
// could as well have been made just after a list that waited.
type Freshness struct {
	mutex sync.Mutex
	known map[schema.GroupKind]uint64
}

// NewFreshness returns an empty tracker: the first list of each kind waits.
func NewFreshness() *Freshness { return &Freshness{known: map[schema.GroupKind]uint64{}} }

// Client returns the client of a manager that notes its own writes. An object that was just
// written is read from the API server if the cache is behind; kinds that the cache excludes
// are listed with live.
func (f *Freshness) Client(cached client.Client, live client.Reader, leftOut ...schema.GroupVersionKind) client.Client {
	return trackingClient{cached, f, &recentWrites{}, live, leftOut}
}

// Reader returns a reader of the API server whose lists are as new as needed. Lists with a
// version of their own, and pages after the first, stay unchanged. Lists without a limit
// are read in pages, so that the server never holds more than one.
func (f *Freshness) Reader(live client.Reader, scheme *runtime.Scheme) client.Reader {
	return fresh{live, f, scheme}
}

func (f *Freshness) of(kind schema.GroupKind) uint64 {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.known[kind]
}

// note stores the version if it is newer than the known one. Versions of a kind are
// increasing numbers.
func (f *Freshness) note(kind schema.GroupKind, version string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.known[kind] = max(f.known[kind], parseVersion(version))
}

// parseVersion parses a version as a number; 0 if it is none.
func parseVersion(version string) uint64 {
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

// List reads in pages, as new as needed.
func (r fresh) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if (&client.ListOptions{}).ApplyOptions(options).Limit > 0 {
		return r.page(ctx, list, options...)
	}
	var items []runtime.Object
	version := ""
	err := Pages(ctx, r, list, PageSize, func(page client.ObjectList) error {
		found, err := meta.ExtractList(page)
		items, version = append(items, found...), page.GetResourceVersion()
		return err
	}, options...)
	if err != nil {
		return err
	}
	list.SetResourceVersion(version)
	if err := meta.SetList(list, items); err != nil {
		return fmt.Errorf("putting pages together: %w", err)
	}
	return nil
}

// page reads one page, as new as needed. After a restore of etcd the versions are lower:
// the server then answers ten times, every 4 s, that it does not have the version yet, and
// the known version is obsolete.
func (r fresh) page(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	listed, err := listedKind(list, r.scheme)
	if err != nil {
		return err
	}
	kind := listed.GroupKind()
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if known := r.of(kind); known > 0 && asked.Continue == "" && asked.Raw == nil {
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

type trackingClient struct {
	client.Client
	*Freshness
	recent   *recentWrites
	live     client.Reader
	excluded []schema.GroupVersionKind
}

func (w trackingClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	kind, err := listedKind(list, w.Scheme())
	if err != nil {
		return err
	}
	if slices.Contains(w.excluded, kind) {
		return w.live.List(ctx, list, options...)
	}
	return w.Client.List(ctx, list, options...)
}

func (w trackingClient) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return w.noteWrite(object, w.Client.Create(ctx, object, options...))
}

func (w trackingClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return w.noteWrite(object, w.Client.Update(ctx, object, options...))
}

func (w trackingClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return w.noteWrite(object, w.Client.Patch(ctx, object, patch, options...))
}

func (w trackingClient) Apply(ctx context.Context, intent runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	err := w.Client.Apply(ctx, intent, options...)
	if object, ok := intent.(client.Object); ok {
		return w.noteWrite(object, err)
	}
	return err
}

func (w trackingClient) Status() client.SubResourceWriter {
	return trackingStatus{w.Client.Status(), w}
}

type trackingStatus struct {
	client.SubResourceWriter
	noting trackingClient
}

func (s trackingStatus) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	return s.noting.noteWrite(object, s.SubResourceWriter.Update(ctx, object, options...))
}

func (s trackingStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.noting.noteWrite(object, s.SubResourceWriter.Patch(ctx, object, patch, options...))
}

// noteWrite notes an object as the server returned it. A dry run returns no version, or
// that of the existing object.
func (w trackingClient) noteWrite(object client.Object, err error) error {
	if err != nil {
		return err
	}
	if kind, unknown := w.GroupVersionKindFor(object); unknown == nil {
		w.note(kind.GroupKind(), object.GetResourceVersion())
		w.recent.note(identity{kind.GroupKind(), client.ObjectKeyFromObject(object)}, object.GetResourceVersion(), time.Now())
	}
	return nil
}
