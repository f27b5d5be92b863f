// SPDX-License-Identifier: Apache-2.0

// Package source reads the files, manifests and archives that commands get.
package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/planning/repair"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// StandardInput is the file name for standard input.
const StandardInput = "-"

// maxMemoryFlag limits the memory for reading files.
const maxMemoryFlag = "max-memory"

// DefaultMaxMemory is the default of --max-memory.
const DefaultMaxMemory = "4Gi"

// minMemory is less than any file needs: a smaller value lacks its unit.
const minMemory = 1 << 10

// AddMaxMemoryFlag adds --max-memory.
func AddMaxMemoryFlag(flags *pflag.FlagSet) {
	flags.String(maxMemoryFlag, DefaultMaxMemory, "limit for the estimated memory of input files")
}

// Input opens the input of a command: files, compressed or not, and standard
// input. A memory limit applies to all of it together.
type Input struct {
	stdin  io.Reader
	limit  resource.Quantity
	Budget *payload.Budget
}

// CommandInput returns the input of a command with --max-memory.
func CommandInput(command *cobra.Command) (*Input, error) {
	text := command.Flag(maxMemoryFlag).Value.String()
	limit, err := resource.ParseQuantity(text)
	if err != nil || limit.Sign() <= 0 {
		return nil, fmt.Errorf("%w: --%s %q must be an amount of memory above 0, for example %s%s", exit.ErrOption, maxMemoryFlag, text, DefaultMaxMemory, repair.Advice(repair.Bytes(text)))
	}
	if limit.Value() < minMemory {
		return nil, fmt.Errorf("%w: --%s %s is %s%s", exit.ErrOption, maxMemoryFlag, text, prose.Counted(limit.Value(), "byte"), repair.Advice(repair.Bytes(text)))
	}
	return NewInput(command.InOrStdin(), limit), nil
}

// NewInput returns an input with a memory limit.
func NewInput(standard io.Reader, limit resource.Quantity) *Input {
	return &Input{stdin: standard, limit: limit, Budget: payload.NewBudget(int(limit.Value()))}
}

// Table reads CSV from a file.
func (i *Input) Table(path string, read func(io.Reader) error) error {
	return i.read(path, i.Budget.CSV, read)
}

// objects reads YAML or JSON from a file.
func (i *Input) objects(path string, read func(io.Reader) error) error {
	return i.read(path, i.Budget.YAML, read)
}

func (i *Input) read(path string, bounded func(io.Reader) io.Reader, read func(io.Reader) error) error {
	title := fileTitle(path)
	stream, closed, err := i.open(path)
	if err != nil {
		return err
	}
	defer closed()
	text := bufio.NewReaderSize(stream, sniffedBytes)
	if fault := describeNonText(text); fault != "" {
		return fmt.Errorf("%w: %s %s", exit.ErrUnusable, title, fault)
	}
	return i.explain(title, read(bounded(text)))
}

// Results reads the output of another tool in any format. It returns the SHA-256
// of the file before decompression.
func (i *Input) Results(path string, read func(io.Reader) error) (sum string, err error) {
	raw, title := i.stdin, fileTitle(path)
	if path != StandardInput {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("opening the file: %w", err)
		}
		defer func() { _ = file.Close() }() // Nothing was written.
		raw = file
	}
	digest := sha256.New()
	whole := io.TeeReader(raw, digest)
	stream, err := unpack(bufio.NewReader(whole), path)
	if err != nil {
		return "", err
	}
	if err := i.explain(title, read(stream)); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return "", fmt.Errorf("reading %s: %w", title, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// explain adds the file and the fix to an error.
func (i *Input) explain(title string, err error) error {
	switch {
	case errors.Is(err, payload.ErrTooLarge):
		return fmt.Errorf("%s: reading it takes more than %s of memory: raise the limit with --%s", title, i.limit.String(), maxMemoryFlag)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %s is truncated: copy or export it again", exit.ErrUnusable, title)
	case err != nil:
		return fmt.Errorf("%s: %w", title, err)
	}
	return nil
}

// sniffedBytes is how many bytes determine the type of a file.
const sniffedBytes = 4096

// describeNonText describes a file that no command can read; empty: it is text.
func describeNonText(text *bufio.Reader) string {
	head, err := text.Peek(sniffedBytes)
	begins := bytes.TrimSpace(head)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "is truncated: copy or export it again"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return "is damaged: copy or export it again"
	case err != nil && !errors.Is(err, io.EOF):
		return "can't be read: " + err.Error()
	case len(begins) == 0:
		return "is empty"
	case bytes.IndexByte(head, 0) >= 0:
		return "is binary, not YAML, JSON, CSV or Markdown: name the file itself, or its folder"
	case begins[0] == '<':
		return "is a web page or XML: download the file itself"
	}
	return ""
}

// open opens a file, and decompresses gzip, which is detected by content or
// name.
func (i *Input) open(path string) (stream io.Reader, closed func(), err error) {
	if path == StandardInput {
		stream, err := unpack(bufio.NewReader(i.stdin), "")
		return stream, func() {}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the file: %w", err)
	}
	closed = func() { _ = file.Close() } // Nothing was written.
	stream, err = unpack(bufio.NewReader(file), path)
	if err != nil {
		closed()
		return nil, nil, err
	}
	return stream, closed, nil
}
