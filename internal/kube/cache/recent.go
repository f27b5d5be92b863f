// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recent holds the versions that this process has written lately. For some milliseconds a
// cache shows the previous state. A reconcile of that state would repeat its decision, and
// its write would be rejected.
type recent struct {
	mutex sync.Mutex
	left  map[objectID]written
	swept time.Time
}

type objectID struct {
	kind schema.GroupKind
	key  client.ObjectKey
}

type written struct {
	version uint64
	at      time.Time
}

// lag is the longest assumed delay of a cache. After it the cache is trusted, because
// versions may have decreased, and not every object is cached.
const lag = 10 * time.Second

func (r *recent) note(object objectID, version string, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sweep(now)
	if r.left == nil {
		r.left = map[objectID]written{}
	}
	r.left[object] = written{max(r.left[object].version, numberOf(version)), now}
}

// sweep removes the objects that every cache has by now.
func (r *recent) sweep(now time.Time) {
	if now.Sub(r.swept) < lag {
		return
	}
	for object, last := range r.left {
		if now.Sub(last.at) >= lag {
			delete(r.left, object)
		}
	}
	r.swept = now
}

// isBehind reports whether a cache that shows this version of an object, or no object if
// it is empty, does not have the latest write of this process yet.
func (r *recent) isBehind(object objectID, shown string, now time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last, known := r.left[object]
	if !known {
		return false
	}
	if now.Sub(last.at) < lag && numberOf(shown) < last.version {
		return true
	}
	delete(r.left, object)
	return false
}

// Get reads from the cache, or from the API server if the cache does not have the latest
// write of this process yet.
func (w noting) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
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
	if !w.recent.isBehind(objectID{kind.GroupKind(), key}, shown, time.Now()) {
		return err
	}
	// Clients clear the object before they decode into it, so the cache's is not changed.
	return w.live.Get(ctx, key, object, options...)
}
