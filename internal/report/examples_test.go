// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// example is what a recorded experiment of the documentation exported.
func example(t *testing.T, name string) report.Input {
	t.Helper()
	file, err := os.Open("../../docs/examples/" + name + ".yaml.gz")
	expect.NoError(t, err)
	defer file.Close()
	packed, err := gzip.NewReader(file)
	expect.NoError(t, err)
	inputs, err := report.Read(packed)
	expect.NoError(t, err)
	return inputs[0]
}

// eachExample runs a test for every recorded experiment of the documentation.
func eachExample(t *testing.T, test func(*testing.T, report.Input)) {
	t.Helper()
	paths, err := filepath.Glob("../../docs/examples/*.yaml.gz")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d recorded experiments, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml.gz")
		t.Run(name, func(t *testing.T) { test(t, example(t, name)) })
	}
}
