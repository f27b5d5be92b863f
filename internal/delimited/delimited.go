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
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	reader := csv.NewReader(text)
	reader.Comma = separator(first)
	if bytes.HasPrefix(first, []byte(hint)) {
		_, _ = reader.Read() // As above.
		reader.FieldsPerRecord = 0
	}
	return reader
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
