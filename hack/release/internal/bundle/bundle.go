// SPDX-License-Identifier: Apache-2.0

// Package bundle packs files reproducibly: the same files give the same bytes. The entries
// are sorted, and have the same time and owner.
package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Entry is a file, a folder or a link.
type Entry struct {
	// Name is the path, with forward slashes.
	Name string
	Mode int64
	// Content is the content of a file.
	Content []byte
	// Link is the target of a link.
	Link string
	// Folder is true if the entry is a folder.
	Folder bool
}

// The modes of packed entries.
const (
	Plain      = 0o644
	Executable = 0o755
	// Shared is the mode of a folder where everybody can create files.
	Shared = 0o1777
)

// File returns the entry of a plain file.
func File(name string, content []byte) Entry {
	return Entry{Name: name, Mode: Plain, Content: content}
}

// Program returns the entry of an executable file.
func Program(name string, content []byte) Entry {
	return Entry{Name: name, Mode: Executable, Content: content}
}

// Disk returns the files at a path of the disk, with names below another path.
func Disk(from, name string) ([]Entry, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		content, err := os.ReadFile(from)
		return []Entry{File(name, content)}, err
	}
	children, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, child := range children {
		below, err := Disk(path.Join(from, child.Name()), path.Join(name, child.Name()))
		if err != nil {
			return nil, err
		}
		entries = append(entries, below...)
	}
	return entries, nil
}

// WithFolders returns the entries with their parent folders.
func WithFolders(entries []Entry) []Entry {
	known := map[string]bool{".": true, "/": true}
	for _, entry := range entries {
		known[entry.Name] = true
	}
	all := slices.Clone(entries)
	for _, entry := range entries {
		for folder := path.Dir(entry.Name); !known[folder]; folder = path.Dir(folder) {
			known[folder] = true
			all = append(all, Entry{Name: folder, Mode: Executable, Folder: true})
		}
	}
	return all
}

func sorted(entries []Entry) []Entry {
	return slices.SortedStableFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
}

// Tar packs the entries.
func Tar(entries []Entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	packed := tar.NewWriter(&out)
	for _, entry := range sorted(entries) {
		if err := packed.WriteHeader(header(entry, at)); err != nil {
			return nil, fmt.Errorf("packing %s: %w", entry.Name, err)
		}
		if _, err := packed.Write(entry.Content); err != nil {
			return nil, fmt.Errorf("packing %s: %w", entry.Name, err)
		}
	}
	err := packed.Close()
	return out.Bytes(), err
}

func header(entry Entry, at time.Time) *tar.Header {
	described := &tar.Header{Name: entry.Name, Mode: entry.Mode, ModTime: at, Size: int64(len(entry.Content)), Typeflag: tar.TypeReg, Linkname: entry.Link}
	switch {
	case entry.Folder:
		described.Typeflag, described.Name = tar.TypeDir, strings.TrimSuffix(entry.Name, "/")+"/"
	case entry.Link != "":
		described.Typeflag, described.Mode = tar.TypeSymlink, 0o777
	}
	return described
}

// Gzip compresses content. The header has no name and no time.
func Gzip(content []byte) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := compressed.Write(content); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return out.Bytes(), err
}

// TarGzip packs and compresses the entries.
func TarGzip(entries []Entry, at time.Time) ([]byte, error) {
	packed, err := Tar(entries, at)
	if err != nil {
		return nil, err
	}
	return Gzip(packed)
}

// Zip packs the entries for systems without tar.
func Zip(entries []Entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	packed := zip.NewWriter(&out)
	for _, entry := range sorted(entries) {
		header := &zip.FileHeader{Name: entry.Name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(os.FileMode(entry.Mode))
		file, err := packed.CreateHeader(header)
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", entry.Name, err)
		}
		if _, err := io.Copy(file, bytes.NewReader(entry.Content)); err != nil {
			return nil, fmt.Errorf("packing %s: %w", entry.Name, err)
		}
	}
	err := packed.Close()
	return out.Bytes(), err
}
