// SPDX-License-Identifier: AGPL-3.0-only

package marc

import (
	"fmt"
	"strconv"
)

// RecordEnd is the byte that ends every record and occurs nowhere else.
const RecordEnd = 0x1d

const (
	fieldEnd     = 0x1e
	subfieldMark = 0x1f

	leaderLength = 24
	entryLength  = 12
	maxRecord    = 99999
	maxField     = 9999
)

// status is the content of a leader without its lengths: positions 05 to 09 and 17 to 19. All
// records are UTF-8.
type status struct{ before, after string }

// record builds the fields of one ISO 2709 record. Its buffers are reused.
type record struct {
	directory []byte
	body      []byte
	start     int // of the current field
	tag       string
}

func (r *record) reset() {
	r.directory = r.directory[:0]
	r.body = r.body[:0]
}

// control adds a field without indicators, 001 to 009.
func (r *record) control(tag string, texts ...string) {
	r.begin(tag, "")
	r.text(texts...)
	r.end()
}

// field adds a field with two indicators and one subfield for each pair of a
// code and a text.
func (r *record) field(tag, indicators string, pairs ...string) {
	r.begin(tag, indicators)
	for i := 0; i < len(pairs); i += 2 {
		r.subfield(pairs[i], pairs[i+1])
	}
	r.end()
}

func (r *record) begin(tag, indicators string) {
	r.tag, r.start = tag, len(r.body)
	r.body = append(r.body, indicators...)
}

func (r *record) subfield(code string, texts ...string) {
	r.body = append(r.body, subfieldMark)
	r.body = append(r.body, code...)
	r.text(texts...)
}

func (r *record) text(texts ...string) {
	for _, text := range texts {
		r.body = append(r.body, text...)
	}
}

func (r *record) number(n int) { r.body = strconv.AppendInt(r.body, int64(n), 10) }

func (r *record) end() {
	r.body = append(r.body, fieldEnd)
	r.directory = append(r.directory, r.tag...)
	r.directory = digits(r.directory, len(r.body)-r.start, 4)
	r.directory = digits(r.directory, r.start, 5)
	if len(r.body)-r.start > maxField {
		panic(fmt.Sprintf("field %s has %d bytes, more than a directory entry can hold", r.tag, len(r.body)-r.start))
	}
}

// appendTo appends the record to a file. All lengths and positions count bytes.
func (r *record) appendTo(file []byte, s status) []byte {
	base := leaderLength + len(r.directory) + 1
	length := base + len(r.body) + 1
	if length > maxRecord {
		panic(fmt.Sprintf("a record has %d bytes, more than a leader can hold", length))
	}
	file = digits(file, length, 5)
	file = append(append(file, s.before...), "22"...)
	file = digits(file, base, 5)
	file = append(append(file, s.after...), "4500"...)
	file = append(append(file, r.directory...), fieldEnd)
	return append(append(file, r.body...), RecordEnd)
}

// digits appends a number with leading zeros.
func digits(to []byte, number, width int) []byte {
	for divisor := power(width - 1); divisor > 0; divisor /= 10 {
		to = append(to, byte('0'+number/divisor%10))
	}
	return to
}

func power(exponent int) int {
	p := 1
	for range exponent {
		p *= 10
	}
	return p
}
