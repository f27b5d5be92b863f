// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/rules"
)

// What we give people as an example is taken as it is.
func TestSamplesAreAccepted(t *testing.T) {
	seen := 0
	for _, dir := range []string{"samples", "systems"} {
		err := filepath.WalkDir(apiserver.Root("config", dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".yaml") || entry.Name() == "kustomization.yaml" {
				return err
			}
			seen++
			t.Run(dir+"/"+entry.Name(), func(t *testing.T) { acceptFile(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("there is no sample")
	}
}

func acceptFile(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, told := user(t)
	for _, document := range strings.Split(string(content), "\n---\n") {
		object := rules.Object(t, document)
		object.SetNamespace("default")
		rules.Verdict(t, c.Create(t.Context(), object, client.DryRunAll), "", "")
	}
	for _, warning := range told.told {
		t.Logf("warning: %s", warning)
	}
}
