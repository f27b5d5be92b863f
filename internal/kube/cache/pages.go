// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"

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

// pageSize is how many objects a list request returns, each up to a megabyte. A smaller page
// means more requests, a larger one more memory in the API server.
const pageSize = 20

// NewRESTClient returns a client for the stored form of the operator's own kinds.
func NewRESTClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	server, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("building the REST client of %s: %w", v1alpha1.GroupVersion, err)
	}
	return server, nil
}

// pagedLister lists a resource page by page and keeps of each object what the cache needs.
type pagedLister struct {
	toolscache.ListerWatcherWithContext
	server    rest.Interface
	namespace string
	resource
}

// IsWatchListSemanticsUnSupported makes the reflector list instead of streaming.
func (pagedLister) IsWatchListSemanticsUnSupported() bool { return true }

// List serves callers without a context.
func (p pagedLister) List(options metav1.ListOptions) (runtime.Object, error) {
	return p.ListWithContext(context.Background(), options)
}

// Watch serves callers without a context.
func (p pagedLister) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return p.WatchWithContext(context.Background(), options)
}

// WatchWithContext strips the objects of events.
func (p pagedLister) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	whole, err := p.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err //nolint:wrapcheck // The reflector decides by the error's type.
	}
	return watch.Filter(whole, func(event watch.Event) (watch.Event, bool) {
		event.Object = p.strip(event.Object)
		return event, true
	}), nil
}

// ListWithContext lists all objects at the latest version, whatever version is requested: the
// server does not page older ones. It fails if a page does, also when a late page has expired.
func (p pagedLister) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch, options.Limit = "", "", pageSize
	whole := &internalversion.List{}
	for {
		page, err := p.page(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if err := page.Items[i].err; err != nil {
				log.FromContext(ctx).Info("Skipping an object that cannot be decoded", "resource", p.name, "error", err.Error())
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

func (p pagedLister) page(ctx context.Context, options metav1.ListOptions) (*page, error) {
	request := p.server.Get().Resource(p.name).NamespaceIfScoped(p.namespace, p.namespace != "")
	body, err := request.VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // The reflector decides by the error's type.
	}
	defer func() { _ = body.Close() }()
	return p.decodePage(body)
}
