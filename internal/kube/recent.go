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

// recentWrites knows in which version this process has left what it wrote of late. For some
// milliseconds a cache shows what was there before, and what is decided by that is decided
// twice, and refused when it is written.
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

// lag is the longest that a cache is taken to be behind. Versions may have gone back, and
// not every object is in it.
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

// sweep forgets what every cache has by now.
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

// isBehind: a cache that shows an object in this version, or with none does not show it,
// has not seen yet what this process has written.
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

// Get reads from the cache, and from the API server what the cache does not show yet as
// this process has written it.
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
	// Clients empty what they read into, so that nothing is read into the cache.
	return w.live.Get(ctx, key, object, options...)
}
