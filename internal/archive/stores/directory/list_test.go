// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// Pages of any size have every file once, in the order of keys, which is not that of a
// walk: a-b is before a/.
func TestListReturnsAllFilesInOrder(t *testing.T) {
	root := t.TempDir()
	keys := []string{"b", "a/x", "a-b/y", "a/b/c", "a/b/d", "a.b", "a0", "a/b.tmp", "c/d/e/f", "a-b", "a/b-c/d"}
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == "a-b" })
	for _, key := range keys {
		path := filepath.Join(root, key)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(key), 0o600))
	}
	expect.NoError(t, os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "aa")))
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b/", "a-", "c/d/e/f", "absent/", "z"} {
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		for size := 1; size <= len(keys)+1; size++ {
			if got := all(t, list(root, size), prefix); !slices.Equal(got, want) {
				t.Errorf("with %q, %d a page, there is %q, want %q", prefix, size, got, want)
			}
		}
	}
}

func all(t *testing.T, list func(context.Context, string, []byte) ([]archive.Object, []byte, error), prefix string) []string {
	t.Helper()
	var keys []string
	var token []byte
	for {
		objects, next, err := list(t.Context(), prefix, token)
		expect.NoError(t, err)
		for _, object := range objects {
			if object.Size != int64(len(object.Key)) || object.Modified.IsZero() {
				t.Errorf("%+v", object)
			}
			keys = append(keys, object.Key)
		}
		if token = next; token == nil {
			return keys
		}
	}
}

// An unreadable folder is an error: a collection would consider its files missing.
func TestListFailsOnUnreadableFolder(t *testing.T) {
	root := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(root, "runs"), nil, 0o600))
	if objects, _, err := list(root, 10)(t.Context(), "runs/", nil); err == nil {
		t.Errorf("listed are %v", objects)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := list(root, 10)(ctx, "", nil); err == nil {
		t.Error("who is told to stop goes on")
	}
}
