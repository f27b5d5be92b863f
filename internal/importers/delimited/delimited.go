// SPDX-License-Identifier: Apache-2.0

// Package delimited reads tables as text, with the separators that spreadsheets and
// other tools write.
package delimited

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
)

// hint is what Excel puts before the separator, on a line of its own.
const hint = "sep="

// longestHeader that is looked at for separators.
const longestHeader = 4096

// NewReader reads rows with the separator that the first line has most of: a comma,
// a semicolon, a tab or a bar. A line that only names the separator is passed over.
func NewReader(in io.Reader) *csv.Reader {
	text := bufio.NewReaderSize(in, longestHeader)
	head, _ := text.Peek(longestHeader) // The reader reports any error.
	var lines io.Reader = text
	if !bytes.Contains(head, []byte("\n")) {
		lines, head = carriageReturns{text}, bytes.ReplaceAll(head, []byte("\r"), []byte("\n"))
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	reader := csv.NewReader(lines)
	reader.Comma = separator(first)
	if bytes.HasPrefix(first, []byte(hint)) {
		_, _ = reader.Read() // As above.
		reader.FieldsPerRecord = 0
	}
	return reader
}

// carriageReturns end the lines of a text that some spreadsheets write for a Macintosh.
type carriageReturns struct{ io.Reader }

func (c carriageReturns) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	for i := range into[:n] {
		if into[i] == '\r' {
			into[i] = '\n'
		}
	}
	return n, err
}

func separator(header []byte) rune {
	most := ','
	for _, other := range ";\t|" {
		if bytes.Count(header, []byte(string(other))) > bytes.Count(header, []byte(string(most))) {
			most = other
		}
	}
	return most
}
