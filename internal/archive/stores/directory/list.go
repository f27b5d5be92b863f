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

// list returns pages of a directory's files. The library walks all that a prefix has for each
// page, which takes hours where there are a million; this one goes straight to where the last
// page ended.
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

// page that is being made.
type page struct {
	ctx                 context.Context
	root, prefix, after string
	size                int
	objects             []archive.Object
	// more comes behind the page.
	more bool
}

// walk a folder, whose key ends with a slash, in the order of keys.
func (p *page) walk(folder string) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		// There is nothing of the prefix, or it was removed meanwhile.
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing a folder: %w", err)
	}
	// A folder's name ends with a slash where keys are compared: a-b is before a/.
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
		return fmt.Errorf("looking at a file: %w", err)
	}
	p.objects = append(p.objects, archive.Object{Key: key, Size: found.Size(), Modified: found.ModTime()})
	return nil
}
