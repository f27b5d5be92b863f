// SPDX-License-Identifier: AGPL-3.0-only

// Package marctest parses MARC files in tests by the standard only. It shares no code with the
// generator.
package marctest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Field is a field of ISO 2709: indicators, subfield codes and their delimiters are part of
// the value.
type Field struct{ Tag, Value string }

// Count counts record terminators.
func Count(file string) int { return strings.Count(file, "\x1d") }

// Read parses a file only by its lengths and positions, as every reader does, and checks that
// lengths and terminators agree. kind is positions 05 to 07 of the leaders.
func Read(file, kind string) ([][]Field, error) {
	var records [][]Field
	for n := 1; file != ""; n++ {
		length, err := number(file, 0, 5)
		if err != nil {
			return nil, fmt.Errorf("record %d: length: %w", n, err)
		}
		if length < 26 || length > len(file) {
			return nil, fmt.Errorf("record %d: length %d of %d bytes left", n, length, len(file))
		}
		fields, err := readRecord(file[:length], kind)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
		records = append(records, fields)
		file = file[length:]
	}
	return records, nil
}

func readRecord(record, kind string) ([]Field, error) {
	// Status, type and level; UTF-8; two indicators, two-character subfield
	// codes; entries of 4 + 5 digits.
	if leader := record[:24]; leader[5:8] != kind || leader[9] != 'a' || leader[10:12] != "22" || leader[20:] != "4500" {
		return nil, fmt.Errorf("leader %q", leader)
	}
	base, err := number(record, 12, 17)
	if err != nil {
		return nil, fmt.Errorf("base address: %w", err)
	}
	if base < 25 || base >= len(record) || record[base-1] != 0x1e || (base-25)%12 != 0 {
		return nil, fmt.Errorf("base address %d", base)
	}
	if !strings.HasSuffix(record, "\x1e\x1d") || strings.Count(record, "\x1d") != 1 {
		return nil, fmt.Errorf("it does not end with field and record terminator")
	}
	var fields []Field
	due := 0
	for entry := 24; entry < base-1; entry += 12 {
		field, next, err := readField(record, base, entry, due)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		due = next
	}
	if base+due+1 != len(record) {
		return nil, fmt.Errorf("fields end at %d of %d", base+due+1, len(record))
	}
	return fields, nil
}

func readField(record string, base, entry, due int) (field Field, next int, err error) {
	tag := record[entry : entry+3]
	length, err := number(record, entry+3, entry+7)
	if err != nil {
		return field, 0, err
	}
	start, err := number(record, entry+7, entry+12)
	if err != nil {
		return field, 0, err
	}
	if start != due || base+start+length >= len(record) {
		return field, 0, fmt.Errorf("field %s starts at %d, want %d", tag, start, due)
	}
	value := record[base+start : base+start+length]
	if !utf8.ValidString(value) || strings.IndexByte(value, 0x1e) != length-1 {
		return field, 0, fmt.Errorf("field %s is %q", tag, value)
	}
	value = value[:length-1]
	if (tag < "010") == strings.Contains(value, "\x1f") || tag >= "010" && value[2] != 0x1f {
		return field, 0, fmt.Errorf("field %s is %q", tag, value)
	}
	return Field{tag, value}, start + length, nil
}

func number(text string, from, to int) (int, error) {
	if len(text) < to {
		return 0, fmt.Errorf("too short: %d bytes", len(text))
	}
	return strconv.Atoi(text[from:to])
}

// Value returns the value of a field, or of its subfield a, or "" if the record lacks it.
func Value(fields []Field, tag string) string {
	return Subfield(fields, tag, "a")
}

// Subfield returns the first subfield of a code, or a field without subfields, or "" if the
// record lacks it.
func Subfield(fields []Field, tag, code string) string {
	for _, f := range fields {
		if f.Tag != tag {
			continue
		}
		if tag < "010" {
			return f.Value
		}
		for _, subfield := range strings.Split(f.Value, "\x1f")[1:] {
			if strings.HasPrefix(subfield, code) {
				return subfield[len(code):]
			}
		}
	}
	return ""
}
