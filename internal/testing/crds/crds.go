// SPDX-License-Identifier: Apache-2.0

// Package crds finds the CRDs of third-party operators, so that tests use the real schemas.
package crds

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// Strimzi returns a directory with a directory of CRDs for each release. The test is
// skipped if there is none.
func Strimzi(t *testing.T) string {
	t.Helper()
	directory := os.Getenv("PERFLAB_CRDS")
	if directory == "" {
		directory = apiserver.Root("..", "shared", "crds")
	}
	if _, err := os.Stat(filepath.Join(directory, "strimzi-1.2.0")); err != nil {
		t.Skipf("no Strimzi CRDs found: set PERFLAB_CRDS to a directory with strimzi-1.2.0 and strimzi-0.45.2 (%v)", err)
	}
	return directory
}

// CloudNativePG returns the directory of CloudNativePG's CRDs. The test is skipped if they
// can't be downloaded.
func CloudNativePG(t *testing.T) string {
	t.Helper()
	directory, err := cloudNativePG()
	if err != nil {
		t.Skipf("no CloudNativePG CRDs: %v", err)
	}
	return directory
}

// Generated generates the CRDs of a release of Strimzi and of k6-operator in dir, and
// returns their paths.
func Generated(dir, strimzi string) ([]string, error) {
	generate := exec.Command(apiserver.Root("test", "emulators", "crds", "generate.sh"), dir)
	generate.Env = append(os.Environ(), "STRIMZI="+strimzi)
	if output, err := generate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("generating CRDs: %w\n%s", err, output)
	}
	return filepath.Glob(filepath.Join(dir, "*"))
}

// All returns the paths of Strimzi's, k6-operator's, CloudNativePG's and Kueue's CRDs. It
// generates missing ones in dir.
func All(dir string) ([]string, error) {
	paths, err := Generated(dir, "1.2.0")
	if err != nil {
		return nil, err
	}
	postgres, err := cloudNativePG()
	return append(paths, apiserver.Root("test", "emulators", "kueue", "workloads.yaml"),
		filepath.Join(postgres, "postgresql.cnpg.io_clusters.yaml"), filepath.Join(postgres, "postgresql.cnpg.io_poolers.yaml")), err
}

// cloudNativePG downloads the module with CloudNativePG's CRDs, in the release of the local
// cluster. This module does not require it, because its code is not needed.
func cloudNativePG() (string, error) {
	const path = "github.com/cloudnative-pg/cloudnative-pg"
	download := exec.Command("go", "mod", "download", "-json", path)
	download.Dir = apiserver.Root("hack", "cluster", "addons")
	download.Stderr = os.Stderr
	output, err := download.Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w\n%s", path, err, output)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return "", fmt.Errorf("locating %s: %w", path, err)
	}
	return filepath.Join(module.Dir, "config", "crd", "bases"), nil
}
