// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"perflab.dev/perflab/api/v1alpha1"
)

// pageSize is how many objects are read at once, of up to a megabyte each: what takes
// fewer asks more often, what takes more has more of them in memory as they are stored.
const pageSize = 20

// NewInformer makes the informers of the operator's cache. Experiments and runs, of which
// there may be thousands that are large and of which little is kept in mind, are listed in
// pages. Any other kind is listed as client-go does, in a stream of events: an object of
// a stream is read several times over until it is known what it is.
func NewInformer(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	switch example.(type) {
	case *v1alpha1.PerfExperiment:
		lister = newPages(lister, &v1alpha1.PerfExperimentList{}, transform(Outline))
	case *v1alpha1.PerfRun:
		lister = newPages(lister, &v1alpha1.PerfRunList{}, transform(Summary))
	}
	return toolscache.NewSharedIndexInformer(lister, example, resync, indexers)
}

// pages list what there is page by page, and keep of each what is kept in mind.
type pages struct {
	toolscache.ListerWatcherWithContext
	// empty is a list of the kind.
	empty runtime.Object
	strip toolscache.TransformFunc
}

func newPages(lister toolscache.ListerWatcher, empty runtime.Object, strip toolscache.TransformFunc) pages {
	return pages{toolscache.ToListerWatcherWithContext(lister), empty, strip}
}

// IsWatchListSemanticsUnSupported makes the reflector list, and not ask for a stream.
func (pages) IsWatchListSemanticsUnSupported() bool { return true }

// List is for who has no context.
func (p pages) List(options metav1.ListOptions) (runtime.Object, error) {
	return p.ListWithContext(context.Background(), options)
}

// Watch is for who has no context.
func (p pages) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return p.WatchWithContext(context.Background(), options)
}

// ListWithContext lists all as of now, whatever version is asked for: of an older one the
// server gives no pages. It fails where a page does, also where there are so many pages that
// the last ones are too old.
func (p pages) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch, options.Limit = "", "", pageSize
	whole := p.empty.DeepCopyObject()
	var kept []runtime.Object
	for {
		page, err := p.ListerWatcherWithContext.ListWithContext(ctx, options)
		if err != nil {
			return nil, err //nolint:wrapcheck // The reflector tells by its type what to do.
		}
		err = meta.EachListItem(page, func(object runtime.Object) error {
			stripped, err := p.strip(object)
			if small, is := stripped.(runtime.Object); is {
				kept = append(kept, small)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading a page of a list: %w", err)
		}
		listed, err := meta.ListAccessor(page)
		if err != nil {
			return nil, fmt.Errorf("reading a page of a list: %w", err)
		}
		if options.Continue = listed.GetContinue(); options.Continue == "" {
			return whole, p.fill(whole, listed, kept)
		}
	}
}

func (pages) fill(whole runtime.Object, last metav1.ListInterface, kept []runtime.Object) error {
	if err := meta.SetList(whole, kept); err != nil {
		return fmt.Errorf("putting the pages of a list together: %w", err)
	}
	list, err := meta.ListAccessor(whole)
	if err != nil {
		return fmt.Errorf("putting the pages of a list together: %w", err)
	}
	list.SetResourceVersion(last.GetResourceVersion())
	return nil
}
