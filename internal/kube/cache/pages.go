// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
)

// pageSize is how many objects are read at once, of up to a megabyte each: what takes
// fewer asks more often, for more the API server needs more memory.
const pageSize = 20

// NewRESTClient asks the API server for experiments and runs as they are stored.
func NewRESTClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	server, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building the client of experiments and runs: %w", err)
	}
	return server, nil
}

// NewInformer makes the informers of the operator's cache. The kinds of ours, of the
// namespace (none: of all), are listed in pages. Of experiments and runs there may be
// thousands that are large: they are read no further than the little that is kept in mind. They
// need no transform, which would make another copy of all while the first is held. Any
// other kind is listed as client-go does, in a stream of events: an object of a stream is
// read several times over until it is known what it is.
func NewInformer(server rest.Interface, namespace string) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		watcher := toolscache.ToListerWatcherWithContext(lister)
		switch example.(type) {
		case *v1alpha1.PerfExperiment:
			lister = pages{watcher, server, namespace, experiments}
		case *v1alpha1.PerfRun:
			lister = pages{watcher, server, namespace, runs}
		case *v1alpha1.PerfSystem:
			lister = pages{watcher, server, namespace, systems}
		case *v1alpha1.PerfSchedule:
			lister = pages{watcher, server, namespace, schedules}
		}
		return toolscache.NewSharedIndexInformer(lister, example, resync, indexers)
	}
}

// pages list what there is page by page, and keep of each object what is kept in mind.
type pages struct {
	toolscache.ListerWatcherWithContext
	server    rest.Interface
	namespace string
	kind
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

// WatchWithContext tells of each object what is kept in mind of it.
func (p pages) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	whole, err := p.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err //nolint:wrapcheck // The reflector tells by its type what to do.
	}
	return watch.Filter(whole, func(event watch.Event) (watch.Event, bool) {
		event.Object = p.strip(event.Object)
		return event, true
	}), nil
}

// ListWithContext lists all as of now, whatever version is asked for: of an older one the
// server gives no pages. It fails where a page does, also where there are so many pages that
// the last ones are too old.
func (p pages) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch, options.Limit = "", "", pageSize
	whole := &internalversion.List{}
	for {
		page, err := p.page(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if err := page.Items[i].unread; err != nil {
				log.FromContext(ctx).Info("An object can't be read, and is left alone", "resource", p.resource, "error", err.Error())
				continue
			}
			whole.Items = append(whole.Items, page.Items[i].Object)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			whole.ResourceVersion = page.ResourceVersion
			return whole, nil
		}
	}
}

func (p pages) page(ctx context.Context, options metav1.ListOptions) (*page, error) {
	request := p.server.Get().Resource(p.resource).NamespaceIfScoped(p.namespace, p.namespace != "")
	text, err := request.VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // The reflector tells by its type what to do.
	}
	defer func() { _ = text.Close() }()
	return p.readPage(text)
}
