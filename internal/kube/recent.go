// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recentWrites tracks the versions of objects that this process has written recently. For
// some milliseconds a cache may show an older version; decisions based on it would repeat a
// write, which the server rejects.
type recentWrites struct {
	mutex    sync.Mutex
	versions map[identity]written
	swept    time.Time
}

type identity struct {
	kind schema.GroupKind
	key  client.ObjectKey
}

type written struct {
	version uint64
	at      time.Time
}

// lag is the longest time that a cache may be behind. Later, the version may have
// decreased, and not every object is in the cache.
const lag = 10 * time.Second

func (r *recentWrites) note(object identity, version string, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sweep(now)
	if r.versions == nil {
		r.versions = map[identity]written{}
	}
	r.versions[object] = written{max(r.versions[object].version, parseVersion(version)), now}
}

// sweep drops the versions that every cache has.
func (r *recentWrites) sweep(now time.Time) {
	if now.Sub(r.swept) < lag {
		return
	}
	for object, last := range r.versions {
		if now.Sub(last.at) >= lag {
			delete(r.versions, object)
		}
	}
	r.swept = now
}

// isBehind reports whether a cache that shows this version of an object, or no version, has
// not seen our last write.
func (r *recentWrites) isBehind(object identity, shown string, now time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last, known := r.versions[object]
	if !known {
		return false
	}
	if now.Sub(last.at) < lag && parseVersion(shown) < last.version {
		return true
	}
	delete(r.versions, object)
	return false
}

// Get reads from the cache, or from the API server if the cache does not show our last
// write yet.
func (w trackingClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	kind, err := w.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	err = w.Client.Get(ctx, key, object, options...)
	shown := object.GetResourceVersion()
	switch {
	case apierrors.IsNotFound(err):
		shown = ""
	case err != nil:
		return err
	}
	if !w.recent.isBehind(identity{kind.GroupKind(), key}, shown, time.Now()) {
		return err
	}
	// Clients reset the object before they read into it, so the cache stays unchanged.
	return w.live.Get(ctx, key, object, options...)
}
