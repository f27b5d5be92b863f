// SPDX-License-Identifier: Apache-2.0

// Package directory opens archives in a directory: a volume, or a share.
package directory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"gocloud.dev/blob/fileblob"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/bucket"
)

// Open is an archive.Provider. The directory must exist: one created where a volume should
// be mounted is lost with the pod.
func Open(_ context.Context, location archive.Location) (archive.Bucket, error) {
	opened, err := fileblob.OpenBucket(location.Prefix, &fileblob.Options{NoTempDir: true, DirFileMode: 0o750, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		if _, failed := os.Stat(location.Prefix); errors.Is(failed, syscall.ENOENT) {
			return nil, fmt.Errorf("%w: there is no directory %q: create it, or mount a volume there", archive.ErrInvalidLocation, location.Prefix)
		}
		return nil, fmt.Errorf("opening the directory: %w", err)
	}
	return &bucket.Bucket{Blob: opened, Sync: newSync(location.Prefix), Page: list(location.Prefix, bucket.PageSize)}, nil
}

// newSync returns a function that syncs a file and the directories above it to the disk.
// The keys of an archive's objects are the paths of their files.
func newSync(root string) func(key string) error {
	return func(key string) error {
		for path := filepath.Join(root, filepath.FromSlash(key)); len(path) >= len(root); path = filepath.Dir(path) {
			if err := syncFile(path); err != nil {
				return err
			}
			if path == root {
				return nil
			}
		}
		return nil
	}
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening a written file: %w", err)
	}
	err = file.Sync()
	if errors.Is(err, syscall.EINVAL) {
		// Not every file system can sync a directory.
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("syncing a file to the disk: %w", err)
	}
	return nil
}
