// SPDX-License-Identifier: Apache-2.0

// Package delimited reads tables of text, with the separators of spreadsheets and other
// tools.
package delimited

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
)

// hint is Excel's prefix of a line that names the separator.
const hint = "sep="

// longestHeader bounds the search for separators.
const longestHeader = 4096

// NewReader reads rows with the most frequent separator of the first line: a comma, a
// semicolon, a tab or a bar. It skips a line that only names the separator.
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

// carriageReturns reads the line ends of old Macintosh files, which some spreadsheets
// write.
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
