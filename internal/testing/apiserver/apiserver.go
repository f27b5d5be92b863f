// SPDX-License-Identifier: Apache-2.0

// Package apiserver gives tests a real kube-apiserver with a real etcd. No controller and
// no kubelet runs: tests act in their place.
package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// errNoAssets describes how to install missing programs.
var errNoAssets = errors.New("KUBEBUILDER_ASSETS is not set, so there is no kube-apiserver to test against: " +
	`run "make test-go", or export KUBEBUILDER_ASSETS="$(hack/cluster/envtest.sh)"`)

// Server is an API server that starts on first use.
type Server struct {
	// Paths of the CRDs that it serves from the beginning: directories or files, from the
	// project's root.
	Paths []string
	// CRDs are further ones, built by the test.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Webhooks are files, from the project's root, with webhook configurations.
	Webhooks []string
	// Answers registers the webhooks. The configuration is that of the API server.
	Answers func(webhook.Server, *rest.Config) error

	once        sync.Once
	environment envtest.Environment
	config      *rest.Config
	err         error
	// hangUp stops the webhook's server.
	hangUp context.CancelFunc
	// requests counts the requests of tests.
	requests atomic.Int64
}

// Requests returns the number of the tests' requests.
func (s *Server) Requests() int64 { return s.requests.Load() }

// counted counts requests.
type counted struct {
	http.RoundTripper
	requests *atomic.Int64
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.RoundTripper.RoundTrip(request)
}

// Config returns an administrator's connection to the server. The TestMain of the package
// must call Main, or a test Stop.
func (s *Server) Config(t *testing.T) *rest.Config {
	t.Helper()
	s.once.Do(s.start)
	if s.err != nil {
		t.Fatalf("no API server: %v", s.err)
	}
	return s.config
}

// Kubeconfig returns the same connection for a program.
func (s *Server) Kubeconfig(t *testing.T) []byte {
	t.Helper()
	s.Config(t)
	return s.environment.KubeConfig
}

func (s *Server) start() {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		s.err = errNoAssets
		return
	}
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	register(s)
	s.environment = envtest.Environment{
		CRDDirectoryPaths:        fromRoot(s.Paths),
		CRDs:                     s.CRDs,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	s.environment.WebhookInstallOptions.Paths = fromRoot(s.Webhooks)
	if s.config, s.err = s.environment.Start(); s.err != nil {
		return
	}
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next, &s.requests} })
	if s.Answers != nil {
		s.err = s.answer()
	}
}

func fromRoot(paths []string) []string {
	found := slices.Clone(paths)
	for i, path := range found {
		if !filepath.IsAbs(path) {
			found[i] = Root(path)
		}
	}
	return found
}

// answer serves the webhooks until the server is stopped.
func (s *Server) answer() error {
	options := s.environment.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{
		Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
	})
	if err := s.Answers(server, s.config); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.hangUp = cancel
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	for ready := server.StartedChecker(); ready(nil) != nil; {
		select {
		case err := <-ended:
			return fmt.Errorf("serving the webhooks: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// Stop ends the server, if it was started.
func (s *Server) Stop() error {
	if s.config == nil {
		return nil
	}
	s.config = nil
	if s.hangUp != nil {
		s.hangUp()
	}
	return s.environment.Stop()
}

var (
	registering sync.Mutex
	started     []*Server
)

func register(s *Server) {
	registering.Lock()
	defer registering.Unlock()
	started = append(started, s)
}

// Main runs the tests of a package, stops the servers they have started, and exits.
func Main(m *testing.M) {
	code := m.Run()
	for _, server := range started {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Scheme returns a scheme with Kubernetes' kinds, ours, and further ones.
func Scheme(further ...func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range append(further, clientgoscheme.AddToScheme, v1alpha1.AddToScheme) {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// Client returns a client with this scheme.
func Client(tb testing.TB, config *rest.Config, further ...func(*runtime.Scheme) error) client.WithWatch {
	tb.Helper()
	made, err := client.NewWithWatch(config, client.Options{Scheme: Scheme(further...)})
	expect.NoError(tb, err, "making a client")
	return made
}

// Namespace creates a namespace for one test.
func Namespace(t *testing.T, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	expect.NoError(t, c.Create(t.Context(), namespace), "making a namespace")
	return namespace.Name
}

// Root returns the absolute path of a file, given relative to the project's root. It
// searches the working directory and its parents for the root, because -trimpath removes
// source paths from test binaries. It panics outside the project.
func Root(elements ...string) string {
	directory, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for !isRoot(directory) {
		if parent := filepath.Dir(directory); parent != directory {
			directory = parent
			continue
		}
		panic("no directory above this one has the module perflab.dev/perflab")
	}
	return filepath.Join(append([]string{directory}, elements...)...)
}

// isRoot distinguishes the main module from those below it.
func isRoot(directory string) bool {
	text, err := os.ReadFile(filepath.Join(directory, "go.mod"))
	return err == nil && bytes.HasPrefix(text, []byte("module perflab.dev/perflab\n"))
}

// ClusterRole returns a role of the project, by its file in a directory of config.
func ClusterRole(t *testing.T, directory, file string) *rbacv1.ClusterRole {
	t.Helper()
	text, err := os.ReadFile(Root("config", directory, file))
	expect.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	expect.NoError(t, yaml.UnmarshalStrict(text, role), "%s", file)
	return role
}
