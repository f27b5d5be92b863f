// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/archive"
)

// list returns pages of a directory's files. The library walks the whole prefix for each page,
// which takes hours with a million files; this function goes straight to where the last page
// ended.
func list(root string, size int) func(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	return func(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
		page := &page{ctx: ctx, root: root, prefix: prefix, after: string(token), size: size}
		err := page.walk(prefix[:strings.LastIndex(prefix, "/")+1])
		if err != nil && !errors.Is(err, fs.SkipAll) {
			return nil, nil, err
		}
		if !page.more {
			return page.objects, nil, nil
		}
		return page.objects, []byte(page.objects[len(page.objects)-1].Key), nil
	}
}

// page in progress.
type page struct {
	ctx                 context.Context
	root, prefix, after string
	size                int
	objects             []archive.Object
	// more reports whether files follow the page.
	more bool
}

// walk a folder, whose key ends with a slash, in the order of keys.
func (p *page) walk(folder string) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		// There is no such folder, or it was removed meanwhile.
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing a folder: %w", err)
	}
	// A folder's key ends with a slash, which affects the order: a-b is before a/.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	for _, entry := range entries {
		if err := p.add(folder+sortKey(entry), entry); err != nil {
			return err
		}
	}
	return nil
}

func sortKey(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}

func (p *page) add(key string, entry fs.DirEntry) error {
	isBefore := key <= p.after && !strings.HasPrefix(p.after, key)
	switch {
	case entry.IsDir():
		if isBefore || !strings.HasPrefix(key, p.prefix) && !strings.HasPrefix(p.prefix, key) {
			return nil
		}
		return p.walk(key)
	case key <= p.after, !strings.HasPrefix(key, p.prefix), !entry.Type().IsRegular():
		return nil
	case len(p.objects) == p.size:
		p.more = true
		return fs.SkipAll
	}
	found, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the attributes of a file: %w", err)
	}
	p.objects = append(p.objects, archive.Object{Key: key, Size: found.Size(), Modified: found.ModTime()})
	return nil
}
