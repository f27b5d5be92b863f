// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/internal/kube/watching"
	"perflab.dev/perflab/internal/view"
)

// loopback is the only address that view serves on.
const loopback = "127.0.0.1"

type viewOptions struct {
	cluster *cluster.Cluster
	port    uint16
	open    bool
}

// NewView returns the command view.
func NewView() *cobra.Command {
	options := viewOptions{}
	command := &cobra.Command{
		Use:   "view EXPERIMENT",
		Short: "Show a running experiment in the browser",
		Long: `Show a running experiment in the browser: progress and remaining time, users, requests,
errors and response times of the current run, and verdicts as they come. When the
experiment is complete, the page becomes its report.

The page is served on 127.0.0.1, to all users of this machine, with your own rights in
the cluster to read PerfExperiments, PerfRuns and, for all charts of the report,
ConfigMaps. It is read-only. Ctrl-C ends the page, not the experiment.

Exit codes: 0 ended by Ctrl-C, 1 failure.`,
		Example: `  kubectl perflab view pubsub-partitions
  kubectl perflab view pubsub-partitions --namespace lab --open
  kubectl perflab view pubsub-partitions --port 8080`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), command.OutOrStdout(), arguments[0])
		},
	}
	options.cluster = cluster.New(command.Flags())
	command.ValidArgsFunction = cluster.CompleteExperiment(options.cluster)
	command.Flags().Uint16Var(&options.port, "port", 0, "port; 0 selects a free one")
	command.Flags().BoolVar(&options.open, "open", false, "open the page in a browser")
	return command
}

func (o viewOptions) run(ctx context.Context, out io.Writer, name string) error {
	reader, namespace, err := o.cluster.Watcher()
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	// Report initial errors here, not on a page.
	if _, err := takeSnapshot(ctx, reader, key); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(int(o.port))))
	if err != nil {
		return fmt.Errorf("serving the page: %w", err)
	}
	address := "http://" + listener.Addr().String() + "/"
	if _, err := fmt.Fprintf(out, "Serving experiment %q of namespace %q at %s; press Ctrl-C to stop\n", name, namespace, address); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if o.open {
		openBrowser(ctx, out, address)
	}
	followed := watching.New(reader, key, time.Now)
	go followed.Run(ctx)
	return serveView(ctx, listener, view.Secure(view.Loopback, &view.PageHandler{Source: followed, Now: time.Now}))
}

// serveView serves until the context ends, and gives open requests one more
// second.
func serveView(ctx context.Context, listener net.Listener, pages http.Handler) error {
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close() // It ends either way.
		}
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// openers are the commands that open a URL in the browser, by operating system.
var openers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// openBrowser opens the address if possible; it was already printed.
func openBrowser(ctx context.Context, out io.Writer, address string) {
	words, known := openers[runtime.GOOS]
	if !known {
		words = []string{"xdg-open"}
	}
	opener := exec.CommandContext(ctx, words[0], append(slices.Clone(words[1:]), address)...) //nolint:gosec // Our own words.
	if err := opener.Start(); err != nil {
		_, _ = fmt.Fprintf(out, "could not open a browser: %v\n", err)
		return
	}
	go func() { _ = opener.Wait() }() // The user sees any failure.
}
