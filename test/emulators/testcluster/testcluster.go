// SPDX-License-Identifier: Apache-2.0

// Package testcluster provides a real API server with the emulated CRDs for the emulators'
// tests, and acts as the kubelet, which this API server lacks.
package testcluster

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/crds"
	"perflab.dev/perflab/internal/testing/expect"
)

// servers are the API servers of the package, by the release of Strimzi whose CRDs they have.
// One server can't have the CRDs of two releases.
var (
	lock    sync.Mutex
	servers = map[string]*apiserver.Server{}
)

// Config returns the connection to the package's API server that has the CRDs of a
// release of Strimzi, and starts it on the first call. The TestMain of a package that uses
// it calls apiserver.Main.
func Config(t *testing.T, strimzi string) *rest.Config {
	t.Helper()
	lock.Lock()
	defer lock.Unlock()
	if servers[strimzi] == nil {
		paths, err := crds.Generated(t.TempDir(), strimzi)
		expect.NoError(t, err)
		servers[strimzi] = &apiserver.Server{Paths: paths}
	}
	return servers[strimzi].Config(t)
}

// Eventually waits until check returns "", and fails the test with the last result.
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
