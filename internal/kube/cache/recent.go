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

// recent knows in which version this process has left what it wrote of late. For some
// milliseconds a cache shows what was there before, and what is decided by that is decided
// twice, and refused when it is written.
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

// lag is the longest that a cache is taken to be behind. Versions may have gone back, and
// not every object is in it.
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

// sweep forgets what every cache has by now.
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

// isBehind: a cache that shows an object in this version, or with none does not show it,
// has not seen yet what this process has written.
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

// Get reads from the cache, and from the API server what the cache does not show yet as
// this process has written it.
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
	// Clients empty what they read into, so that nothing is read into the cache.
	return w.live.Get(ctx, key, object, options...)
}
