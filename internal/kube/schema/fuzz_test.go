// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/testing/expect"
)

// A manifest is rejected with a message, or checked without a panic.
func FuzzDocuments(f *testing.F) {
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		expect.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, metadata: {name: a}, spec: {arms: []}}\n---\n- a\n")
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := schema.Documents(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, object := range objects {
			if schema.IsOurs(object) {
				schema.Check(t.Context(), object)
			}
		}
	})
}
