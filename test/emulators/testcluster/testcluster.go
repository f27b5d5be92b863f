// SPDX-License-Identifier: Apache-2.0

// Package testcluster gives the emulators' tests a real API server with the
// CRDs they serve, and stands in for the kubelet, which it lacks.
package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
)

// servers are the API servers that were started, by the release of Strimzi
// whose CRDs they have: the CRDs of two releases exclude each other.
var (
	lock    sync.Mutex
	servers = map[string]*envtest.Environment{}
)

// Config returns the connection to the package's API server that has the CRDs
// of a release of Strimzi, starting it on the first call. A test package that
// uses it calls Stop from TestMain.
func Config(t *testing.T, strimzi string) *rest.Config {
	t.Helper()
	lock.Lock()
	defer lock.Unlock()
	if servers[strimzi] == nil {
		server, err := startServer(strimzi)
		if err != nil {
			t.Fatalf("no API server to test against: %v", err)
		}
		servers[strimzi] = server
	}
	return servers[strimzi].Config
}

// Stop ends the API servers that were started.
func Stop() error {
	var failed []error
	for _, server := range servers {
		failed = append(failed, server.Stop())
	}
	return errors.Join(failed...)
}

func startServer(strimzi string) (*envtest.Environment, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: it has to name a directory with kube-apiserver and etcd; " +
			"run the tests by \"make test\", or set it to the output of hack/cluster/envtest.sh")
	}
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	crds, err := crds(strimzi)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(crds) //nolint:errcheck // A temporary directory.
	server := &envtest.Environment{
		CRDDirectoryPaths:        []string{filepath.Join(crds, "strimzi-"+strimzi), filepath.Join(crds, "k6-operator-1.6.0")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	_, err = server.Start()
	return server, err
}

// crds writes the CRDs into a new directory, which the caller removes.
func crds(strimzi string) (string, error) {
	dir, err := os.MkdirTemp("", "perflab-crds-")
	if err != nil {
		return "", fmt.Errorf("making a directory for CRDs: %w", err)
	}
	generate := exec.Command(apiserver.Root("test", "emulators", "crds", "generate.sh"), dir)
	generate.Env = append(os.Environ(), "STRIMZI="+strimzi)
	if output, err := generate.CombinedOutput(); err != nil {
		return "", fmt.Errorf("generating CRDs: %w\n%s", err, output)
	}
	return dir, nil
}

// Namespace makes a namespace for one test.
func Namespace(t *testing.T, c client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	return namespace.Name
}

// Eventually waits until check returns "", and fails the test with what it
// returned last.
func Eventually(t *testing.T, check func() string) {
	t.Helper()
	await.Until(t.Context(), t, time.Minute, "what is missing", func() (bool, string) {
		missing := check()
		return missing == "", missing
	})
}

// Run starts a manager and stops it when the test ends.
func Run(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the manager's caches did not fill")
	}
}
