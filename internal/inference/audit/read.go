// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"perflab.dev/perflab/internal/importers/delimited"
	"perflab.dev/perflab/internal/text/number"
	"perflab.dev/perflab/internal/text/unit"
)

// ErrRows means that a file does not contain a list of published numbers.
var ErrRows = errors.New("the published numbers are invalid")

// Kinds of rows that are read; others are skipped.
const (
	measured       = "measured"
	publishedDelta = "published_delta"
)

// Row is one number of a published table.
type Row struct {
	// Line is the line in the file.
	Line int
	// Report, Table, Configuration, Scenario and Metric identify the number. The configuration
	// of a delta names its operands, as in "new minus old".
	Report, Table, Configuration, Scenario, Metric string
	Value                                          float64
	Unit                                           string
	delta                                          bool
	// decimals is the number of printed digits after the point; negative if an exponent omits
	// digits before it.
	decimals int
	// asPrinted means that the digits are this number's own. CSV may lose trailing zeros, so
	// the longest number of a table determines the digits.
	asPrinted bool
	// adjusted means that the page marks the delta as one that does not follow.
	adjusted bool
	// of identifies the series of a number next to a delta, if it has a name.
	of seriesKey
}

// maxBadRows is the number of bad rows that are reported before reading ends.
const maxBadRows = 10

// columns that a file must have. Others may be anywhere.
var columns = []string{"report", "table", "configuration", "scenario", "metric", "value", "unit", "kind"}

// ReadCSV reads published numbers in the long format: one per row, with the
// kind measured or published_delta. It fails with a sentence per bad row, of the first ten.
func ReadCSV(in io.Reader) ([]Row, error) {
	reader := delimited.NewReader(in)
	reader.ReuseRecord = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: the file is empty", ErrRows)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRows, err)
	}
	at := map[string]int{}
	for _, name := range columns {
		if at[name] = slices.Index(header, name); at[name] < 0 {
			return nil, fmt.Errorf("%w: the header lacks the column %q: it must have %s", ErrRows, name, strings.Join(columns, ","))
		}
	}
	return readRows(reader, at)
}

// isMissing reports whether a cell means that nothing was measured, so that a delta is Unchecked.
func isMissing(text string) bool {
	return slices.Contains([]string{"", "-", "–", "—", "n/a", "na", "nan", "null", "none"}, strings.ToLower(text))
}

// valueIn reads a value and its unit, which may follow it, as in 20 %.
func valueIn(text, column string) (number.Number, string, error) {
	digits := strings.TrimRightFunc(text, func(letter rune) bool { return !unicode.IsDigit(letter) })
	own := strings.TrimSpace(text[len(digits):])
	read, err := number.Parse(digits)
	if err != nil || own == "" || strings.ContainsAny(own[:1], ".,") {
		read, err = number.Parse(text)
		return read, column, err
	}
	if column != "" && unit.Canonical(own) != unit.Canonical(column) {
		return read, "", fmt.Errorf("%q is in %s, but the column unit has %q: write only the number, in that unit", text, own, column)
	}
	return read, own, nil
}

func readRows(reader *csv.Reader, at map[string]int) ([]Row, error) {
	var rows []Row
	var bad []error
	for len(bad) < maxBadRows {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			bad = append(bad, fmt.Errorf("line %d: %w", broken.Line, broken.Err))
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading published numbers: %w", err)
		}
		kind := fields[at["kind"]]
		if kind != measured && kind != publishedDelta {
			continue
		}
		line, _ := reader.FieldPos(0)
		text := strings.TrimSpace(fields[at["value"]])
		if isMissing(text) {
			continue
		}
		read, in, err := valueIn(text, fields[at["unit"]])
		if err != nil {
			bad = append(bad, fmt.Errorf("line %d: the value %w", line, err))
			continue
		}
		rows = append(rows, Row{
			Line: line, Report: fields[at["report"]], Table: fields[at["table"]], Configuration: fields[at["configuration"]],
			Scenario: fields[at["scenario"]], Metric: fields[at["metric"]], Unit: in,
			Value: read.Value, delta: kind == publishedDelta, decimals: read.Decimals,
		})
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%w:\n%w", ErrRows, errors.Join(bad...))
	}
	return rows, nil
}
