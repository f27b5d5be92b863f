// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/gocommand"
	"perflab.dev/perflab/hack/release/internal/product"
)

// readCommit reads the commit and its time. It returns an error if the source is not in a
// repository.
func (r *release) readCommit(ctx context.Context) error {
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 && !r.dirty {
		first, _, _ := strings.Cut(string(changed), "\n")
		return fmt.Errorf("the source has uncommitted changes (%s): commit them, or use --allow-dirty for a trial", strings.TrimSpace(first))
	}
	r.modified = len(changed) > 0
	commit, err := r.git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	revision, seconds, _ := strings.Cut(strings.TrimSpace(string(commit)), " ")
	if printed := os.Getenv("SOURCE_DATE_EPOCH"); printed != "" {
		seconds = printed
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH %q: write seconds since 1970", seconds)
	}
	r.revision, r.created = revision, time.Unix(at, 0).UTC()
	return nil
}

func (r *release) git(ctx context.Context, arguments ...string) ([]byte, error) {
	var out, problems bytes.Buffer
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir, command.Stdout, command.Stderr = r.source, &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("git %s in %s: %w\n%s", arguments[0], r.source, err, problems.Bytes())
	}
	return out.Bytes(), nil
}

// packSource packs the source of k6 with the source of all that it links, as the AGPL
// requires.
func (r *release) packSource(ctx context.Context) error {
	r.progress("packing the source of k6")
	archived, err := r.git(ctx, "archive", "--format=tar", "HEAD", "k6", "payload", "LICENSE", "NOTICE")
	if err != nil {
		return err
	}
	entries, err := unpack(archived)
	if err != nil {
		return err
	}
	linked, err := r.vendor(ctx)
	if err != nil {
		return err
	}
	name := "k6-" + r.version + "-source"
	entries = append(entries, linked...)
	for i := range entries {
		entries[i].Name = name + "/" + entries[i].Name
	}
	packed, err := bundle.TarGzip(entries, r.created)
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", packed)
}

// vendor returns the source of what k6 links, in the folder that go build -mod=vendor
// reads.
func (r *release) vendor(ctx context.Context) ([]bundle.Entry, error) {
	folder, err := os.MkdirTemp("", "perflab-vendor-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // Best effort: it is temporary.
	target := filepath.Join(folder, "vendor")
	if _, err := gocommand.Output(ctx, filepath.Join(r.source, product.K6.Module), product.Platform{}, "mod", "vendor", "-o", target); err != nil {
		return nil, err
	}
	return bundle.Disk(target, product.K6.Module+"/vendor")
}

func unpack(archived []byte) ([]bundle.Entry, error) {
	var entries []bundle.Entry
	packed := tar.NewReader(bytes.NewReader(archived))
	for {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the output of git archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(packed)
		if err != nil {
			return nil, fmt.Errorf("reading the output of git archive: %w", err)
		}
		entries = append(entries, bundle.Entry{Name: header.Name, Mode: header.Mode & bundle.Executable, Content: content})
	}
}
