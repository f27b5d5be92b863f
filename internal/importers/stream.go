// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// longest is the limit of a row in bytes: a longer one means another format, or an
// unbalanced quote.
const longest = 1 << 20

// stream is a file that is read row by row. The user calls next at each row.
type stream struct {
	in   io.Reader
	left int
	// failed is the read error, if any.
	failed error
}

func newStream(in io.Reader) *stream {
	s := &stream{in: in}
	s.next()
	return s
}

// next allows another row, and the read-ahead.
func (s *stream) next() { s.left = longest + 64<<10 }

var errLineTooLong = errors.New("is longer than 1 MiB: check for an unclosed quote or another file format")

func (s *stream) Read(into []byte) (int, error) {
	if s.left <= 0 {
		return 0, errLineTooLong
	}
	n, err := s.in.Read(into[:min(len(into), s.left)])
	s.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// lines calls use with each line and its number, until the first error.
func lines(in io.Reader, use func(number int, line []byte) error) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 0, 64<<10), longest)
	number := 0
	for scanner.Scan() {
		number++
		if err := use(number, scanner.Bytes()); err != nil {
			return atLine(number, err)
		}
	}
	err := scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return atLine(number+1, refuse("the line %v", errLineTooLong))
	}
	return err
}

// lineStream rejects endless lines for readers without a limit.
type lineStream struct {
	in   io.Reader
	left int
}

func newLineStream(in io.Reader) *lineStream { return &lineStream{in: in, left: longest} }

func (s *lineStream) Read(into []byte) (int, error) {
	if s.left <= 0 {
		return 0, errLineTooLong
	}
	n, err := s.in.Read(into[:min(len(into), s.left)])
	if end := bytes.LastIndexByte(into[:n], '\n'); end >= 0 {
		s.left = longest - (n - end - 1)
	} else {
		s.left -= n
	}
	return n, err
}
