// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/watching"
	"perflab.dev/perflab/internal/view"
)

// viewCommand as the first argument serves pages instead of running the operator:
// the chart has a separate Deployment for it, with a read-only account.
const viewCommand = "view"

type viewOptions struct {
	address, probeAddress, hosts, namespace, viewerHeader string
}

// runView serves until it is signaled.
func runView(arguments []string) error {
	o := viewOptions{}
	flags := flag.NewFlagSet("manager view", flag.ContinueOnError)
	flags.StringVar(&o.address, "bind-address", "127.0.0.1:8080", "address of the pages; the view does not authenticate, so an address other than loopback needs an authenticating proxy")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flags.StringVar(&o.hosts, "hosts", "", "host names of the pages in addition to those of loopback, separated by commas")
	flags.StringVar(&o.viewerHeader, "viewer-header", "", "header that a trusted proxy sets to identify the viewer, for example X-Forwarded-For or X-Forwarded-User; default: the client's address")
	flags.StringVar(&o.namespace, "namespace", os.Getenv("WATCH_NAMESPACE"), "the only namespace whose experiments are shown; default: all (env WATCH_NAMESPACE)")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serveView(ctx, config, o)
}

func serveView(ctx context.Context, config *rest.Config, o viewOptions) error {
	hall, err := newHall(ctx, config, o)
	if err != nil {
		return err
	}
	go closeIdle(ctx, hall)
	healthy := http.NewServeMux()
	for _, path := range []string{"/healthz", "/readyz"} {
		healthy.HandleFunc("GET "+path, func(http.ResponseWriter, *http.Request) {})
	}
	ended := make(chan error, 2)
	for address, pages := range map[string]http.Handler{o.address: view.Secure(allowedHosts(o.hosts), view.LimitRequests(hall.Viewer, hall)), o.probeAddress: healthy} {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("serving: %w", err)
		}
		server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
		context.AfterFunc(ctx, func() { _ = server.Close() }) // Readers reconnect.
		go func() { ended <- server.Serve(listener) }()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

func newHall(ctx context.Context, config *rest.Config, o viewOptions) (*view.Server, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	reader, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	lister, err := watching.NewLister(config, o.namespace)
	if err != nil {
		return nil, err
	}
	return &view.Server{
		List: lister.List,
		Open: func(name types.NamespacedName) (view.Source, func()) {
			watched := watching.New(reader, name, time.Now)
			own, stop := context.WithCancel(ctx)
			go watched.Run(own)
			return watched, stop
		},
		Viewer: view.IdentifyViewer(o.viewerHeader),
		Now:    time.Now,
	}, nil
}

// closeIdle closes unused pages every minute.
func closeIdle(ctx context.Context, hall *view.Server) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
			hall.CloseIdle()
		}
	}
}

// allowedHosts are the given names and those of loopback, for forwarded ports.
func allowedHosts(list string) []string {
	hosts := slices.Clone(view.Loopback)
	for _, host := range strings.Split(list, ",") {
		if host = strings.ToLower(strings.TrimSpace(host)); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
