// SPDX-License-Identifier: Apache-2.0

package format

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// Third-party files are identical to what hack/assets.sh fetched.
func TestThirdPartyFilesMatchTheirDigests(t *testing.T) {
	for _, directory := range []string{"assets/uplot", "../../testing/browser/axe"} {
		list, err := os.ReadFile(filepath.Join(directory, "SHA256SUMS"))
		expect.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(list)), "\n")
		if len(lines) != 3 {
			t.Errorf("%s: %d files, want three", directory, len(lines))
		}
		for _, line := range lines {
			want, name, _ := strings.Cut(line, "  ")
			body, err := os.ReadFile(filepath.Join(directory, name))
			expect.NoError(t, err)
			if digest := sha256.Sum256(body); hex.EncodeToString(digest[:]) != want {
				t.Errorf("%s/%s differs from the file that was fetched", directory, name)
			}
		}
	}
}

// The scripts stay small, because people send the page as a file.
func TestScriptsAreSmall(t *testing.T) {
	const most = 100_000
	size := 0
	for _, script := range pageScripts {
		size += len(script)
		if strings.Contains(script, "</script") || strings.Contains(script, "<!--") {
			t.Error("a script ends its element early")
		}
	}
	if size > most {
		t.Errorf("the scripts have %d bytes, want at most %d", size, most)
	}
}

// The page contains the license of the embedded library.
func TestPageHasLicenseOfLibrary(t *testing.T) {
	if !strings.Contains(pageScripts[1], "Copyright (c) 2022 Leon Sorokin") || !strings.Contains(pageScripts[1], "Permission is hereby granted") {
		t.Error("the license of uPlot is missing")
	}
}
