// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Unpack writes the files of a tar archive into a folder. It writes no file outside it.
func Unpack(file, folder string) error {
	packed, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }() // The file was only read.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // Its files are already written.
	entries := tar.NewReader(packed)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := place(root, header.Name, entries); err != nil {
			return fmt.Errorf("unpacking %s of %s: %w", header.Name, file, err)
		}
	}
}

func place(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
