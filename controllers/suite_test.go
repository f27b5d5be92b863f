// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"os"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/crds"
	"perflab.dev/perflab/internal/testing/readcache"
)

// complete serves our kinds and those of the other operators; bare serves only ours, until a
// test installs the others.
var (
	complete = &apiserver.Server{}
	bare     = &apiserver.Server{Paths: []string{"config/crd"}}
	// upgraded serves the kinds of an earlier commit, until a test installs today's.
	upgraded = &apiserver.Server{}
	// readCaches reduce repeated reads of labs. The other servers change their kinds during
	// tests, which changes what is read.
	readCaches = map[*apiserver.Server]*readcache.Cache{complete: {}}
	// foreignCRDs is the directory of the other operators' kinds.
	foreignCRDs []string
)

func TestMain(m *testing.M) {
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "perflab-crds-")
	if err != nil {
		return 1, fmt.Errorf("making a directory for CRDs: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary directory.
	if foreignCRDs, err = crds.All(dir); err != nil {
		return 1, err
	}
	complete.Paths = append(foreignCRDs, "config/crd")
	code = m.Run()
	fmt.Printf("%d requests to the API server\n", complete.Requests()+bare.Requests()+upgraded.Requests())
	for _, server := range []*apiserver.Server{complete, bare, upgraded} {
		if err := server.Stop(); err != nil {
			return code, fmt.Errorf("stopping the API server: %w", err)
		}
	}
	return code, nil
}
