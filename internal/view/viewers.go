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
	// maxRequests are answered at a time for each viewer: an open page sends one every two
	// seconds.
	maxRequests = 16
	// maxViewer are the bytes of a viewer's name that are kept.
	maxViewer = 128
	// writePatience is how long a viewer may take to read an answer.
	writePatience = time.Minute
)

// Viewer tells viewers apart: by the last value of a header, which is what the proxy in front
// has added to what it was sent, or without one by the address that connects.
func Viewer(header string) func(*http.Request) string {
	return func(r *http.Request) string {
		values := strings.Split(strings.Join(r.Header.Values(header), ","), ",")
		if last := strings.TrimSpace(values[len(values)-1]); header != "" && last != "" {
			return last[:min(len(last), maxViewer)]
		}
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		return host
	}
}

// Limit rejects requests of a viewer with too many in flight, and ends responses that are not
// read.
func Limit(viewer func(*http.Request) string, next http.Handler) http.Handler {
	var mu sync.Mutex
	busy := map[string]int{}
	enter := func(who string) bool {
		mu.Lock()
		defer mu.Unlock()
		if busy[who] >= maxRequests {
			return false
		}
		busy[who]++
		return true
	}
	leave := func(who string) {
		mu.Lock()
		defer mu.Unlock()
		if busy[who]--; busy[who] == 0 {
			delete(busy, who)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := viewer(r)
		if !enter(who) {
			w.Header().Set("Retry-After", "2")
			http.Error(w, "Too many requests at a time: try again when earlier ones are answered.", http.StatusTooManyRequests)
			return
		}
		defer leave(who)
		next.ServeHTTP(&patient{w}, r)
	})
}

// patient gives a reader so long for each part of an answer.
type patient struct{ http.ResponseWriter }

func (p *patient) Write(body []byte) (int, error) {
	// What can't set a deadline, as in a test, has none.
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(writePatience))
	return p.ResponseWriter.Write(body)
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// lookers are when viewers looked into a room last.
type lookers map[string]time.Time

// since forgets who has not looked since.
func (l lookers) since(at time.Time) {
	maps.DeleteFunc(l, func(_ string, looked time.Time) bool { return looked.Before(at) })
}

// only reports whether one viewer looks alone.
func (l lookers) only(viewer string) bool {
	_, looks := l[viewer]
	return looks && len(l) == 1
}

// taken is the room that a viewer may have in place of the one who keeps it alone: of the
// viewer who keeps most, if that is at least two more than this one has, the one looked into
// least recently. So a viewer who opens every experiment does not keep others out, and the
// pages of one viewer do not replace each other.
func (h *Hall) taken(viewer string) (types.NamespacedName, bool) {
	alone := map[string][]types.NamespacedName{}
	for name, room := range h.rooms {
		for who := range room.lookers {
			if room.lookers.only(who) {
				alone[who] = append(alone[who], name)
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
		return cmp.Or(h.rooms[a].lookers[most].Compare(h.rooms[b].lookers[most]), cmp.Compare(a.String(), b.String()))
	}), true
}
