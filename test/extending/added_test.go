//go:build extending

// SPDX-License-Identifier: Apache-2.0

package extending_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// TestPatchesOfThePageWork applies all patches to a copy of the project and runs the commands
// of the page.
func TestPatchesOfThePageWork(t *testing.T) {
	copied := copyProject(t)
	for kind := range kinds {
		run(t, copied, "git", "apply", patchPath(t, kind))
	}
	run(t, copied, "make", "generate")
	page := sections(t)
	for kind, want := range kinds {
		t.Run(kind, func(t *testing.T) {
			words := strings.Fields(page[want.section].command)
			if len(words) == 0 {
				t.Fatalf("docs/extending.md, %s: no command shows that it works", want.section)
			}
			output := run(t, copied, words[0], append(words[1:], "-v")...)
			if !strings.Contains(output, "--- PASS") {
				t.Errorf("%v ran no test:\n%s", words, output)
			}
		})
	}
}

// copyProject copies the project to a fixed directory, so that the build cache is
// reused.
func copyProject(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	expect.NoError(t, err)
	copied := filepath.Join(cache, "perflab", "extending")
	expect.NoError(t, os.RemoveAll(copied))
	for file := range strings.Lines(run(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
		copyFile(t, strings.TrimSpace(file), copied)
	}
	return copied
}

// copyFile copies a file or a link. It skips a file that was deleted but is still in the index.
func copyFile(t *testing.T, file, to string) {
	t.Helper()
	source, target := filepath.Join(root, file), filepath.Join(to, file)
	info, err := os.Lstat(source)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(target), 0o755)
	}
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		var to string
		if to, err = os.Readlink(source); err == nil {
			err = os.Symlink(to, target)
		}
	} else if err == nil {
		var data []byte
		if data, err = os.ReadFile(source); err == nil {
			err = os.WriteFile(target, data, info.Mode())
		}
	}
	expect.NoError(t, err, "copying %s", file)
}
