// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxRequests limits the requests in flight of each viewer: an open page sends one every
	// two seconds.
	maxRequests = 16
	// maxViewerBytes limits the length of a viewer's name.
	maxViewerBytes = 128
	// writeTimeout is how long a client may take to read each part of a response.
	writeTimeout = time.Minute
)

// IdentifyViewer identifies a viewer by the last value of a header, which the proxy in front
// appends, or without a header by the client's address.
func IdentifyViewer(header string) func(*http.Request) string {
	return func(r *http.Request) string {
		values := strings.Split(strings.Join(r.Header.Values(header), ","), ",")
		if last := strings.TrimSpace(values[len(values)-1]); header != "" && last != "" {
			return last[:min(len(last), maxViewerBytes)]
		}
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		return host
	}
}

// LimitRequests rejects requests of a viewer with too many in flight, and ends responses that
// are not read.
func LimitRequests(viewer func(*http.Request) string, next http.Handler) http.Handler {
	var mu sync.Mutex
	busy := map[string]int{}
	enter := func(viewer string) bool {
		mu.Lock()
		defer mu.Unlock()
		if busy[viewer] >= maxRequests {
			return false
		}
		busy[viewer]++
		return true
	}
	leave := func(viewer string) {
		mu.Lock()
		defer mu.Unlock()
		if busy[viewer]--; busy[viewer] == 0 {
			delete(busy, viewer)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		viewer := viewer(r)
		if !enter(viewer) {
			w.Header().Set("Retry-After", "2")
			http.Error(w, "Too many requests at a time: try again when earlier ones are answered.", http.StatusTooManyRequests)
			return
		}
		defer leave(viewer)
		next.ServeHTTP(&deadlineWriter{w}, r)
	})
}

// deadlineWriter sets a deadline before each write.
type deadlineWriter struct{ http.ResponseWriter }

func (p *deadlineWriter) Write(body []byte) (int, error) {
	// A writer without deadlines, as in a test, returns an error.
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
	return p.ResponseWriter.Write(body)
}

// Unwrap implements http.ResponseController's interface.
func (p *deadlineWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// viewers of a page, with the time of their last request.
type viewers map[string]time.Time

// expire removes viewers without a request since a time.
func (l viewers) expire(at time.Time) {
	maps.DeleteFunc(l, func(_ string, looked time.Time) bool { return looked.Before(at) })
}

// isOnlyViewer reports whether the page has no other viewer.
func (l viewers) isOnlyViewer(viewer string) bool {
	_, looks := l[viewer]
	return looks && len(l) == 1
}

// evictionCandidate returns the page to close for a viewer who needs one. It belongs to the
// viewer with the most unshared pages, if those are at least two more than this viewer has,
// and is the least recently used of them. So a viewer who opens every experiment does not
// block others, and the pages of one viewer do not replace each other.
func (h *Server) evictionCandidate(viewer string) (types.NamespacedName, bool) {
	alone := map[string][]types.NamespacedName{}
	for name, room := range h.pages {
		for viewer := range room.viewers {
			if room.viewers.isOnlyViewer(viewer) {
				alone[viewer] = append(alone[viewer], name)
			}
		}
	}
	if len(alone) == 0 {
		return types.NamespacedName{}, false
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(alone)), func(a, b string) int { return cmp.Compare(len(alone[a]), len(alone[b])) })
	if len(alone[most]) < len(alone[viewer])+2 {
		return types.NamespacedName{}, false
	}
	return slices.MinFunc(alone[most], func(a, b types.NamespacedName) int {
		return cmp.Or(h.pages[a].viewers[most].Compare(h.pages[b].viewers[most]), cmp.Compare(a.String(), b.String()))
	}), true
}
