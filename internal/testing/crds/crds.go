// SPDX-License-Identifier: Apache-2.0

// Package crds finds the definitions of the kinds PerfLab writes and other
// operators serve. A test that asks for those that can't be had is skipped.
package crds

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// cloudNativePG is the module with CloudNativePG's definitions. The release is
// the one that the cluster of the demo is made with.
const cloudNativePG = "github.com/cloudnative-pg/cloudnative-pg"

// Strimzi is a directory with a directory of definitions for each release.
func Strimzi(t *testing.T) string {
	t.Helper()
	directory := os.Getenv("PERFLAB_CRDS")
	if directory == "" {
		directory = apiserver.Root("..", "shared", "crds")
	}
	if _, err := os.Stat(filepath.Join(directory, "strimzi-1.2.0")); err != nil {
		t.Skipf("no CRDs of Strimzi here: set PERFLAB_CRDS to a directory with strimzi-1.2.0 and strimzi-0.45.2 (%v)", err)
	}
	return directory
}

// CloudNativePG is the directory of CloudNativePG's definitions. Go keeps them
// in a module that our own does not require: its code is not wanted.
func CloudNativePG(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", cloudNativePG)
	command.Dir = apiserver.Root("hack", "cluster", "addons")
	output, err := command.Output()
	if err != nil {
		t.Skipf("no CRD of CloudNativePG here: downloading %s: %v", cloudNativePG, err)
	}
	var downloaded struct{ Dir string }
	expect.NoError(t, json.Unmarshal(output, &downloaded), "reading what go mod download says")
	return filepath.Join(downloaded.Dir, "config", "crd", "bases")
}
