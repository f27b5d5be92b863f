// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// An existing browser gets the address; a missing one does not fail the
// command.
func TestOpenBrowser(t *testing.T) {
	folder := t.TempDir()
	given := filepath.Join(folder, "given")
	expect.NoError(t, os.WriteFile(filepath.Join(folder, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > "+given+"\n"), 0o700))
	t.Setenv("PATH", folder)
	const address = "http://127.0.0.1:4711/"
	var out strings.Builder
	openBrowser(t.Context(), &out, address)
	await.Until(t.Context(), t, 10*time.Second, "a browser to be given the address", func() (bool, string) {
		got, err := os.ReadFile(given)
		return err == nil && string(got) == address, out.String()
	})
	t.Setenv("PATH", t.TempDir())
	openBrowser(t.Context(), &out, address)
	if !strings.Contains(out.String(), "could not open a browser") {
		t.Errorf("it says %q", out.String())
	}
}
