// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Header is the first line of a file of observations.
const Header = "block,arm,scenario,metric,unit,value"

// maxBadRows is how many bad rows are told before reading ends.
const maxBadRows = 10

// ErrRows says that a file holds no observations that could be compared.
var ErrRows = errors.New("the observations are invalid")

// ReadCSV reads observations, one per row, in any order. It fails with a
// sentence per bad row that names its line; no row is left out silently.
func ReadCSV(in io.Reader) (*Table, error) {
	reader := csv.NewReader(in)
	reader.ReuseRecord = true
	reader.FieldsPerRecord = -1
	if err := readHeader(reader); err != nil {
		return nil, err
	}
	table := NewTable()
	var bad []error
	rows := 0
	for len(bad) < maxBadRows {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *csv.ParseError
		if err != nil && !errors.As(err, &broken) {
			return nil, fmt.Errorf("reading observations: %w", err)
		}
		if broken != nil {
			// What a stray quote swallows can't be told, so reading ends.
			bad = append(bad, fmt.Errorf("line %d: %w", broken.Line, broken.Err))
			break
		}
		rows++
		line, _ := reader.FieldPos(0)
		if err := addRow(table, fields, line); err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", line, err))
		}
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%w:\n%w", ErrRows, errors.Join(bad...))
	}
	if rows == 0 {
		return nil, fmt.Errorf("%w: no row follows the header", ErrRows)
	}
	return table, nil
}

func readHeader(reader *csv.Reader) error {
	fields, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: there is no line at all, the first must be %q", ErrRows, Header)
	}
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	found := slices.Clone(fields)
	// Spreadsheets begin a file with a byte order mark.
	found[0] = strings.TrimPrefix(found[0], "\ufeff")
	if strings.Join(found, ",") != Header {
		return fmt.Errorf("%w: line 1 is %q, the header must be %q", ErrRows, strings.Join(found, ","), Header)
	}
	return nil
}

func addRow(table *Table, fields []string, line int) error {
	const columns = 6
	if len(fields) != columns {
		return fmt.Errorf("%d fields instead of %d (%s)", len(fields), columns, Header)
	}
	text := strings.TrimSpace(fields[5])
	if text == "" {
		return errors.New("the value is empty: leave out the row of a missing run")
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("the value %q is not a number", text)
	}
	return table.Add(Observation{
		Block: fields[0], Arm: fields[1], Scenario: fields[2], Metric: fields[3], Unit: fields[4], Value: value, Line: line,
	})
}
