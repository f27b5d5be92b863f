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
	"runtime"
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
)

var (
	start  sync.Once
	server *envtest.Environment
	config *rest.Config
	failed error
)

// Config returns the connection to the package's API server, starting it on
// the first call. A test package that uses it calls Stop from TestMain.
func Config(t *testing.T) *rest.Config {
	t.Helper()
	start.Do(func() { config, failed = startServer() })
	if failed != nil {
		t.Fatalf("no API server to test against: %v", failed)
	}
	return config
}

// Stop ends the API server, if one was started.
func Stop() error {
	if server == nil {
		return nil
	}
	return server.Stop()
}

func startServer() (*rest.Config, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: it has to name a directory with kube-apiserver and etcd; " +
			"run the tests by \"make test\", or set it to the output of hack/cluster/envtest.sh")
	}
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	crds, err := CRDs()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(crds) //nolint:errcheck // A temporary directory.
	server = &envtest.Environment{
		CRDDirectoryPaths:        []string{filepath.Join(crds, "strimzi-1.2.0"), filepath.Join(crds, "k6-operator-1.6.0")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
	}
	return server.Start()
}

// CRDs writes the CRDs into a new directory, which the caller removes.
func CRDs() (string, error) {
	dir, err := os.MkdirTemp("", "perflab-crds-")
	if err != nil {
		return "", fmt.Errorf("making a directory for CRDs: %w", err)
	}
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "..", "crds", "generate.sh")
	if output, err := exec.Command(script, dir).CombinedOutput(); err != nil {
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
	deadline := time.Now().Add(30 * time.Second)
	for {
		missing := check()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s still: %s", missing)
		}
		time.Sleep(50 * time.Millisecond)
	}
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
