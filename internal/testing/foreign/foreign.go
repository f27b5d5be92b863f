// SPDX-License-Identifier: Apache-2.0

// Package foreign finds the CRDs of the operators PerfLab works with, so that
// tests speak to the schemas of the real ones.
package foreign

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// postgresModule holds CloudNativePG's CRDs, in the version the local cluster
// is built with.
const postgresModule = "github.com/cloudnative-pg/cloudnative-pg"

// CRDs returns the paths of Strimzi's, k6-operator's, CloudNativePG's and Kueue's CRDs.
// Those that have to be made are put into dir.
func CRDs(dir string) ([]string, error) {
	if output, err := exec.Command(apiserver.Root("test", "emulators", "crds", "generate.sh"), dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("generating CRDs: %w\n%s", err, output)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, fmt.Errorf("looking for the generated CRDs: %w", err)
	}
	paths = append(paths, apiserver.Root("test", "emulators", "kueue", "workloads.yaml"))
	postgres, err := postgresCRDs()
	return append(paths, postgres...), err
}

func postgresCRDs() ([]string, error) {
	download := exec.Command("go", "mod", "download", "-json", postgresModule)
	download.Dir = apiserver.Root("hack", "cluster", "addons")
	download.Stderr = os.Stderr
	output, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w\n%s", postgresModule, err, output)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return nil, fmt.Errorf("reading where %s is: %w", postgresModule, err)
	}
	bases := filepath.Join(module.Dir, "config", "crd", "bases")
	return []string{
		filepath.Join(bases, "postgresql.cnpg.io_clusters.yaml"),
		filepath.Join(bases, "postgresql.cnpg.io_poolers.yaml"),
	}, nil
}
