// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/payload"
)

// standardInput is the name of the file that is none.
const standardInput = "-"

// packedEnding is that of files which are read through gzip.
const packedEnding = ".gz"

// maxMemoryFlag bounds what reading files may take.
const maxMemoryFlag = "max-memory"

const defaultMaxMemory = "4Gi"

func addMaxMemory(flags *pflag.FlagSet) {
	flags.String(maxMemoryFlag, defaultMaxMemory, "most memory that reading files may take, as it is estimated while they are read")
}

// input opens what a command reads: files, packed or not, and standard input.
// All of it together may take so much memory.
type input struct {
	standard io.Reader
	limit    resource.Quantity
	left     *payload.Budget
}

// inputOf is that of a command with the flag for it.
func inputOf(command *cobra.Command) (*input, error) {
	text := command.Flag(maxMemoryFlag).Value.String()
	limit, err := resource.ParseQuantity(text)
	if err != nil || limit.Sign() <= 0 {
		return nil, fmt.Errorf("%w: --%s %q must be an amount of memory above 0, for example %s", errOption, maxMemoryFlag, text, defaultMaxMemory)
	}
	return newInput(command.InOrStdin(), limit), nil
}

func newInput(standard io.Reader, limit resource.Quantity) *input {
	return &input{standard: standard, limit: limit, left: payload.NewBudget(int(limit.Value()))}
}

// table reads CSV from a file for one reader.
func (i *input) table(path string, read func(io.Reader) error) error {
	return i.reading(path, i.left.CSV, read)
}

// objects reads YAML or JSON from a file for one reader.
func (i *input) objects(path string, read func(io.Reader) error) error {
	return i.reading(path, i.left.YAML, read)
}

func (i *input) reading(path string, bounded func(io.Reader) io.Reader, read func(io.Reader) error) error {
	title := path
	if path == standardInput {
		title = "standard input"
	}
	stream, closed, err := i.open(path)
	if err != nil {
		return err
	}
	defer closed()
	switch err := read(bounded(stream)); {
	case errors.Is(err, payload.ErrTooLarge):
		return fmt.Errorf("%s: reading it takes more than %s of memory: if this machine has more, give it with --%s", title, i.limit.String(), maxMemoryFlag)
	case err != nil:
		return fmt.Errorf("%s: %w", title, err)
	}
	return nil
}

// open opens a file, through gzip where its name says so.
func (i *input) open(path string) (stream io.Reader, closed func(), err error) {
	if path == standardInput {
		return i.standard, func() {}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the file: %w", err)
	}
	closed = func() { _ = file.Close() } // Nothing was written.
	if filepath.Ext(path) != packedEnding {
		return file, closed, nil
	}
	stream, err = gzip.NewReader(file)
	if err != nil {
		closed()
		return nil, nil, fmt.Errorf("%w: %s is not a gzip file: %w", errInvalid, path, err)
	}
	return stream, closed, nil
}
