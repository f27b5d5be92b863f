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
	// maxPages limits the open pages: each holds the recorded data of its experiment.
	maxPages = 8
	// idleTimeout is how long a page without viewers stays open.
	idleTimeout = 5 * time.Minute
	// listTTL is how long a list of experiments is cached.
	listTTL = 10 * time.Second
	// indexPolicy allows the list of experiments its style and nothing else.
	indexPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// ListItem is an experiment in the list.
type ListItem struct {
	types.NamespacedName
	Phase, Progress, Verdict, Message string
}

// Server serves a list of experiments at its root and the page of each experiment at
// NAMESPACE/NAME/. It opens a page for its first viewer and closes the page after the last
// viewer left.
type Server struct {
	// List returns the experiments.
	List func(context.Context) ([]ListItem, error)
	// Open watches an experiment until closed is called.
	Open func(types.NamespacedName) (watched Source, closed func())
	// Viewer identifies the viewer who sent a request.
	Viewer func(*http.Request) string
	Now    func() time.Time

	// listMu is held while the cluster is queried; open pages do not wait for it.
	listMu   sync.Mutex
	listed   []ListItem
	listErr  error
	listedAt time.Time

	mu    sync.Mutex
	pages map[types.NamespacedName]*openPage
}

type openPage struct {
	PageHandler
	close   func()
	viewers viewers
}

func (h *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	segments := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 3)
	var name types.NamespacedName
	if len(segments) > 1 {
		name = types.NamespacedName{Namespace: segments[0], Name: segments[1]}
	}
	// An open page requests only its state, also while the cluster is unavailable.
	if len(segments) == 3 && segments[2] != "" && h.isOpen(name) {
		h.servePage(w, r, name, segments[2], false)
		return
	}
	listed, err := h.cachedList(r.Context())
	isListed := slices.ContainsFunc(listed, func(one ListItem) bool { return one.NamespacedName == name })
	switch {
	case segments[0] == "" && err == nil:
		h.serveList(w, listed)
	case !isListed && !h.isOpen(name) && err != nil:
		fail(w, err)
	case !isListed && !h.isOpen(name):
		http.Error(w, "Experiment not found.", http.StatusNotFound)
	case len(segments) == 2:
		// The trailing slash makes the page's own requests relative to it. The address is
		// relative as well, because a proxy may serve it below another path.
		w.Header().Set("Location", name.Name+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		// Viewers of a deleted experiment keep its last state; a new viewer gets the recreated
		// experiment of that name.
		h.servePage(w, r, name, segments[2], isListed)
	}
}

func (h *Server) servePage(w http.ResponseWriter, r *http.Request, name types.NamespacedName, path string, replaceDeleted bool) {
	page := h.acquirePage(name, h.Viewer(r), replaceDeleted)
	if page == nil {
		http.Error(w, fmt.Sprintf("The limit of %d open experiments is reached: close one of your pages, and retry in five minutes.", maxPages), http.StatusServiceUnavailable)
		return
	}
	forwarded := r.Clone(r.Context())
	forwarded.URL.Path = "/" + path
	page.ServeHTTP(w, forwarded)
}

// cachedList returns the experiments, or the error of listing them. Both are cached, and one
// query runs at a time.
func (h *Server) cachedList(ctx context.Context) ([]ListItem, error) {
	h.listMu.Lock()
	defer h.listMu.Unlock()
	if h.Now().Sub(h.listedAt) < listTTL {
		return h.listed, h.listErr
	}
	// The client may disconnect; the next request needs the same result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTTL)
	defer cancel()
	h.listed, h.listErr = h.List(ctx)
	if h.listErr != nil {
		h.listed, h.listErr = nil, fmt.Errorf("listing the experiments: %w", h.listErr)
	}
	h.listedAt = h.Now()
	return h.listed, h.listErr
}

func (h *Server) isOpen(name types.NamespacedName) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pages[name] != nil
}

// acquirePage opens the page of an experiment for a viewer, or returns nil if all pages are in
// use. With replaceDeleted, it replaces the page of a deleted experiment.
func (h *Server) acquirePage(name types.NamespacedName, viewer string, replaceDeleted bool) *openPage {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeIdle()
	page := h.pages[name]
	if page != nil && replaceDeleted && page.Source.Snapshot().Deleted {
		h.close(name)
		page = nil
	}
	if page == nil && !h.ensureCapacity(viewer) {
		return nil
	}
	if page == nil {
		source, stop := h.Open(name)
		page = &openPage{PageHandler: PageHandler{Source: source, Now: h.Now}, close: stop, viewers: viewers{}}
		if h.pages == nil {
			h.pages = map[types.NamespacedName]*openPage{}
		}
		h.pages[name] = page
	}
	page.viewers[viewer] = h.Now()
	return page
}

// ensureCapacity evicts a page if the viewer needs one and none is free.
func (h *Server) ensureCapacity(viewer string) bool {
	if len(h.pages) < maxPages {
		return true
	}
	name, found := h.evictionCandidate(viewer)
	if found {
		h.close(name)
	}
	return found
}

// CloseIdle closes the pages without viewers.
func (h *Server) CloseIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeIdle()
}

func (h *Server) closeIdle() {
	for name, page := range h.pages {
		if page.viewers.expire(h.Now().Add(-idleTimeout)); len(page.viewers) == 0 {
			h.close(name)
		}
	}
}

func (h *Server) close(name types.NamespacedName) {
	h.pages[name].close()
	delete(h.pages, name)
}

func (h *Server) serveList(w http.ResponseWriter, listed []ListItem) {
	body, err := elements.Bytes(experimentList(listed))
	if err != nil {
		fail(w, fmt.Errorf("writing the list: %w", err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", indexPolicy)
	write(w, body)
}
