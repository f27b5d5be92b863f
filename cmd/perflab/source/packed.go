// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/importers/charset"
)

// gzipExtension is the extension of files compressed by gzip.
const gzipExtension = ".gz"

const gzipMagic = "\x1f\x8b"

// unsupportedPackings are archive and compression formats that are not supported, by
// their magic number and its offset. Some contain small texts uncompressed, which a
// reader could mistake for its input.
var unsupportedPackings = []struct {
	offset      int
	magic, what string
}{
	{0, "PK\x03\x04", "a ZIP archive or a workbook such as .xlsx: unpack it, or save the sheet as CSV"},
	{257, "ustar", "a tar archive: unpack it"},
	{0, "\xfd7zXZ\x00", "compressed by xz: decompress it, or use gzip"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd: decompress it, or use gzip"},
	{0, "BZh", "compressed by bzip2: decompress it, or use gzip"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"},
	{0, "PAR1", "in the Parquet format: save it as CSV"},
	{0, "SQLite format 3\x00", "a SQLite database: export its data as CSV"},
	{0, "\xd0\xcf\x11\xe0", "an old workbook such as .xls: save the sheet as CSV"},
}

// detectPacking describes the unsupported format of a file; empty: none.
func detectPacking(file *bufio.Reader) string {
	const most = 300
	head, _ := file.Peek(most) // A shorter file is whole; the reader reports any error.
	for _, one := range unsupportedPackings {
		if len(head) > one.offset && bytes.HasPrefix(head[one.offset:], []byte(one.magic)) {
			return one.what
		}
	}
	return ""
}

// unpack decompresses gzip and converts to UTF-8.
func unpack(file *bufio.Reader, path string) (io.Reader, error) {
	magic, err := file.Peek(len(gzipMagic))
	isPacked := string(magic) == gzipMagic
	what := detectPacking(file)
	if err == nil && !isPacked && what == "" && filepath.Ext(path) == gzipExtension {
		return nil, fmt.Errorf("%w: %s is not a gzip file", exit.ErrUnusable, path)
	}
	if isPacked {
		stream, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is not a gzip file: %w", exit.ErrUnusable, path, err)
		}
		file = bufio.NewReader(stream)
		what = detectPacking(file)
	}
	if what != "" {
		return nil, fmt.Errorf("%w: %s is %s", exit.ErrUnusable, fileTitle(path), what)
	}
	return charset.UTF8(file), nil
}

// fileTitle is the name of a file in messages.
func fileTitle(path string) string {
	if path == "" || path == StandardInput {
		return "standard input"
	}
	return path
}
