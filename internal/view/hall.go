// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/internal/report/elements"
)

const (
	// maxRooms are open at a time: each holds what its experiment recorded.
	maxRooms = 8
	// idle is how long a room stays open that nobody looks into.
	idle = 5 * time.Minute
	// listFor is how long a list of experiments does.
	listFor = 10 * time.Second
	// indexPolicy lets the list of experiments have its style and nothing else.
	indexPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Listed is an experiment in a list.
type Listed struct {
	types.NamespacedName
	Phase, Progress, Verdict, Waiting string
}

// Hall serves a list of experiments at its root and the room of each at
// NAMESPACE/NAME/. A room is opened when somebody looks into it, and closed when
// nobody does any more.
type Hall struct {
	// List the experiments there are.
	List func(context.Context) ([]Listed, error)
	// Open begins to watch one, until it is closed.
	Open func(types.NamespacedName) (watched Watched, closed func())
	// Viewer tells those apart who look.
	Viewer func(*http.Request) string
	Now    func() time.Time

	// listing takes as long as the cluster does; rooms don't wait for it.
	listing  sync.Mutex
	listed   []Listed
	listErr  error
	listedAt time.Time

	mu    sync.Mutex
	rooms map[types.NamespacedName]*openRoom
}

type openRoom struct {
	Room
	close   func()
	lookers lookers
}

func (h *Hall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	words := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	var name types.NamespacedName
	if len(words) > 1 {
		name = types.NamespacedName{Namespace: words[0], Name: words[1]}
	}
	// An open page asks for its state only, also while the cluster is away.
	if len(words) == 3 && words[2] != "" && h.isOpen(name) {
		h.enter(w, r, name, words[2], false)
		return
	}
	listed, err := h.experiments(r.Context())
	isListed := slices.ContainsFunc(listed, func(one Listed) bool { return one.NamespacedName == name })
	switch {
	case words[0] == "" && err == nil:
		h.serveList(w, listed)
	case !isListed && !h.isOpen(name) && err != nil:
		fail(w, err)
	case !isListed && !h.isOpen(name):
		http.Error(w, "There is no such experiment here.", http.StatusNotFound)
	case len(words) == 2:
		// What is asked for below it is told apart by the slash. The address stays
		// relative: who stands between may serve this below another path.
		w.Header().Set("Location", name.Name+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		// Who looks at an experiment that was deleted goes on seeing the last of it;
		// who comes anew wants the next of that name.
		h.enter(w, r, name, words[2], isListed)
	}
}

// enter the room of an experiment.
func (h *Hall) enter(w http.ResponseWriter, r *http.Request, name types.NamespacedName, path string, anew bool) {
	room := h.room(name, h.Viewer(r), anew)
	if room == nil {
		http.Error(w, fmt.Sprintf("%d other experiments are open, and no more fit: close one of your pages and try again in five minutes.", maxRooms), http.StatusServiceUnavailable)
		return
	}
	inside := r.Clone(r.Context())
	inside.URL.Path = "/" + path
	room.ServeHTTP(w, inside)
}

// experiments there are, asked for by one at a time and not for each look; so is
// what keeps them from being known.
func (h *Hall) experiments(ctx context.Context) ([]Listed, error) {
	h.listing.Lock()
	defer h.listing.Unlock()
	if h.Now().Sub(h.listedAt) < listFor {
		return h.listed, h.listErr
	}
	// Who asks may go away; the next one wants the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listFor)
	defer cancel()
	h.listed, h.listErr = h.List(ctx)
	if h.listErr != nil {
		h.listed, h.listErr = nil, fmt.Errorf("listing the experiments: %w", h.listErr)
	}
	h.listedAt = h.Now()
	return h.listed, h.listErr
}

func (h *Hall) isOpen(name types.NamespacedName) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[name] != nil
}

// room of an experiment for a viewer; nil: all are in use. Anew, it is not that of an
// experiment that was deleted.
func (h *Hall) room(name types.NamespacedName, viewer string, anew bool) *openRoom {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave()
	room := h.rooms[name]
	if room != nil && anew && room.Watched.Sight().Gone {
		h.close(name)
		room = nil
	}
	if room == nil && !h.makeRoom(viewer) {
		return nil
	}
	if room == nil {
		watched, closed := h.Open(name)
		room = &openRoom{Room: Room{Watched: watched, Now: h.Now}, close: closed, lookers: lookers{}}
		if h.rooms == nil {
			h.rooms = map[types.NamespacedName]*openRoom{}
		}
		h.rooms[name] = room
	}
	room.lookers[viewer] = h.Now()
	return room
}

// makeRoom for one more, if there is none.
func (h *Hall) makeRoom(viewer string) bool {
	if len(h.rooms) < maxRooms {
		return true
	}
	name, found := h.taken(viewer)
	if found {
		h.close(name)
	}
	return found
}

// Leave the rooms that nobody looks into.
func (h *Hall) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave()
}

func (h *Hall) leave() {
	for name, room := range h.rooms {
		if room.lookers.since(h.Now().Add(-idle)); len(room.lookers) == 0 {
			h.close(name)
		}
	}
}

func (h *Hall) close(name types.NamespacedName) {
	h.rooms[name].close()
	delete(h.rooms, name)
}

func (h *Hall) serveList(w http.ResponseWriter, listed []Listed) {
	written, err := elements.Bytes(list(listed))
	if err != nil {
		fail(w, fmt.Errorf("writing the list: %w", err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", indexPolicy)
	write(w, written)
}
