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

	"perflab.dev/perflab/internal/importers/delimited"
	"perflab.dev/perflab/internal/text/number"
	"perflab.dev/perflab/internal/text/unit"
)

// Header is the first line of a file of observations.
const Header = "block,arm,scenario,metric,unit,value"

// maxBadRows is the number of bad rows that are reported before reading ends.
const maxBadRows = 10

// ErrRows means that a file has no comparable observations.
var ErrRows = errors.New("the observations are invalid")

// ReadCSV reads observations, one per row, in any order. It fails with a sentence per bad row that
// names its line; it never skips a row silently.
func ReadCSV(in io.Reader) (*Table, error) {
	reader := delimited.NewReader(in)
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
			// A stray quote hides the following rows, so reading ends.
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
		return fmt.Errorf("%w: the file is empty: the first line must be %q", ErrRows, Header)
	}
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	if !IsHeader(fields) {
		return fmt.Errorf("%w: line 1 is %q, but the header must be %q; use perflab convert --from table for other columns", ErrRows, strings.Join(fields, ","), Header)
	}
	return nil
}

// IsHeader reports whether a line has the names of the columns, also in capitals, or with a space
// after each comma.
func IsHeader(fields []string) bool {
	names := strings.Split(Header, ",")
	return slices.EqualFunc(fields, names, func(written, name string) bool { return strings.EqualFold(strings.TrimSpace(written), name) })
}

func addRow(table *Table, fields []string, line int) error {
	const columns = 6
	if len(fields) != columns {
		return fmt.Errorf("%d fields instead of %d (%s)", len(fields), columns, Header)
	}
	text := strings.TrimSpace(fields[5])
	if text == "" {
		return errors.New("the value is empty: omit the row of a missing run")
	}
	read, err := number.Parse(text)
	if errors.Is(err, number.ErrSyntax) {
		return fmt.Errorf("the value %w: omit the row of a run without a value", err)
	}
	if err != nil {
		return fmt.Errorf("the value %w", err)
	}
	return table.Add(Observation{
		Block: unquoteCell(fields[0]), Arm: unquoteCell(fields[1]), Scenario: unquoteCell(fields[2]), Metric: unquoteCell(fields[3]), Unit: unit.Canonical(unquoteCell(fields[4])),
		Value: read.Value, Line: line,
	})
}

// Cell escapes a text so that spreadsheets do not interpret it as a formula: with a leading quote,
// which ReadCSV removes. Numbers stay unchanged.
func Cell(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// unquoteCell reverses Cell.
func unquoteCell(cell string) string {
	if rest, quoted := strings.CutPrefix(cell, "'"); quoted && isFormula(rest) {
		return rest
	}
	return cell
}

// isFormula reports whether a spreadsheet would interpret a cell as a formula, ignoring leading
// quotes.
func isFormula(text string) bool {
	bare := strings.TrimLeft(text, "'")
	if bare == "" || !strings.ContainsRune("=+-@\t\r\n", rune(bare[0])) {
		return false
	}
	_, err := strconv.ParseFloat(bare, 64)
	return err != nil
}
