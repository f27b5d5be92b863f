// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/importers/delimited"
	"perflab.dev/perflab/internal/text/number"
)

// jmeter reads the output of JMeter's listeners: CSV with a header, or XML.
type jmeter struct{}

func (jmeter) Name() string { return "jmeter" }
func (jmeter) Tool() string { return "JMeter" }
func (jmeter) Reads() string {
	return "a JMeter JTL, as CSV with a header or as XML"
}

func (jmeter) Read(from Source) (*Measured, error) {
	text := bufio.NewReader(from.In)
	begins, err := text.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	from.In = text
	if strings.HasPrefix(strings.TrimLeft(string(begins), " \t\r\n"), "<") {
		return readJMeterXML(from)
	}
	return readJMeterCSV(from)
}

// Columns of a JTL; the last two are optional.
const (
	jmeterTime, jmeterElapsed, jmeterLabel, jmeterSuccess = "timeStamp", "elapsed", "label", "success"
	jmeterMessage, jmeterThread                           = "responseMessage", "threadName"
)

const jmeterHeader = jmeterTime + "," + jmeterElapsed + "," + jmeterLabel + ",…," + jmeterSuccess

// jmeterTransaction is the prefix of a Transaction Controller's message.
const jmeterTransaction = "Number of samples in transaction"

func readJMeterCSV(from Source) (*Measured, error) {
	stream := newStream(from.In)
	table := delimited.NewReader(stream)
	table.FieldsPerRecord = -1
	header, err := table.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, csvFault(err)
	}
	columns, err := jmeterColumns(header)
	if err != nil {
		return nil, atLine(1, err)
	}
	table.ReuseRecord = true
	parts := jmeterParts{tally: newTally(from), open: map[string]*jmeterFamily{}}
	for {
		stream.next()
		fields, err := table.Read()
		if errors.Is(err, io.EOF) {
			return parts.measured()
		}
		if err != nil {
			return nil, csvFault(err)
		}
		line, _ := table.FieldPos(0)
		sample, err := columns.sample(fields)
		if err == nil {
			err = parts.add(columns.at(fields, jmeterThread), jmeterRow{sample, line})
		}
		if err != nil {
			return nil, atLine(line, err)
		}
	}
}

// csvFault returns the position of a CSV error.
func csvFault(err error) error {
	var broken *csv.ParseError
	if errors.As(err, &broken) {
		return atLine(broken.Line, refuse("%v", broken.Err))
	}
	return streamFault(err)
}

// streamFault returns the fault of a row without end.
func streamFault(err error) error {
	if errors.Is(err, errLineTooLong) {
		return refuse("a row %v", errLineTooLong)
	}
	return err
}

// jmeterFields maps columns in lower case to their indexes.
type jmeterFields struct {
	columns map[string]int
	count   int
}

// jmeterColumns reads the header.
func jmeterColumns(header []string) (jmeterFields, error) {
	columns := jmeterFields{columns: map[string]int{}, count: len(header)}
	for i, name := range header {
		columns.columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, wanted := range []string{jmeterTime, jmeterElapsed, jmeterLabel, jmeterSuccess} {
		if _, found := columns.columns[strings.ToLower(wanted)]; !found {
			return columns, refuse("%q is not a header with the column %s: expected %s, which JMeter writes with jmeter.save.saveservice.print_field_names=true", shorten(strings.Join(header, ",")), wanted, jmeterHeader)
		}
	}
	return columns, nil
}

// at returns the value of a column; empty if the column is missing.
func (c jmeterFields) at(fields []string, column string) string {
	if i, found := c.columns[strings.ToLower(column)]; found {
		return fields[i]
	}
	return ""
}

func (c jmeterFields) sample(fields []string) (sample, error) {
	if len(fields) != c.count {
		return sample{}, refuse("%d fields, but the header has %d: if the file is truncated here, copy it again, or remove the line", len(fields), c.count)
	}
	if c.at(fields, jmeterTime) == jmeterTime {
		return sample{}, refuse("the header is repeated: convert the merged files separately")
	}
	return jmeterSample(func(column string) string { return c.at(fields, column) })
}

// jmeterSample parses the columns of a sample.
func jmeterSample(at func(column string) string) (sample, error) {
	start, err := jmeterMilliseconds(jmeterTime, at(jmeterTime))
	if err != nil {
		return sample{}, err
	}
	took, err := jmeterMilliseconds(jmeterElapsed, at(jmeterElapsed))
	if err != nil {
		return sample{}, err
	}
	succeeded, known := truths[strings.ToLower(strings.TrimSpace(at(jmeterSuccess)))]
	if !known {
		return sample{}, refuse("%s %q is neither true nor false: use the file that JMeter wrote", jmeterSuccess, shorten(at(jmeterSuccess)))
	}
	made := sample{transaction: at(jmeterLabel), failed: !succeeded, inner: strings.HasPrefix(at(jmeterMessage), jmeterTransaction)}
	made.start, made.took, err = inMilliseconds(start, took)
	return made, err
}

// truths are true and false as JMeter writes them, and as spreadsheets do in several
// languages.
var truths = map[string]bool{
	"true": true, "wahr": true, "vrai": true, "verdadero": true, "verdadeiro": true, "vero": true, "waar": true, "prawda": true, "истина": true, "真": true,
	"false": false, "falsch": false, "faux": false, "falso": false, "onwaar": false, "fałsz": false, "ложь": false, "假": false,
}

// jmeterMilliseconds parses a number that a spreadsheet may have rewritten.
func jmeterMilliseconds(column, text string) (int64, error) {
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole, nil
	}
	read, err := number.Parse(text)
	if math.Abs(read.Value) >= math.MaxInt64 {
		err = number.ErrSyntax
	}
	switch {
	case err != nil && column == jmeterTime:
		return 0, refuse("%s %q is not a number of milliseconds since 1970: set jmeter.save.saveservice.timestamp_format=ms in JMeter", column, shorten(text))
	case errors.Is(err, number.ErrAmbiguous):
		return 0, refuse("%s: %v", column, err)
	case err != nil:
		return 0, refuse("%s %q is not a number of milliseconds: use the file that JMeter wrote", column, shorten(text))
	case read.Decimals < 0:
		return 0, refuse("%s %q is rounded, probably by a spreadsheet: use the file that JMeter wrote, or format the column as a number without decimals and save it again", column, shorten(text))
	}
	return int64(math.Round(read.Value)), nil
}

// inMilliseconds rejects other units: timestamps in milliseconds have had 12 or 13 digits
// since 1973.
func inMilliseconds(start, took int64) (time.Time, time.Duration, error) {
	at := time.UnixMilli(start)
	if at.Before(earliest) || at.After(latest) {
		unit := "out of range"
		for _, other := range []struct {
			at   time.Time
			unit string
		}{{time.Unix(start, 0), "in seconds"}, {time.UnixMicro(start), "in microseconds"}, {time.Unix(0, start), "in nanoseconds"}} {
			if other.at.After(earliest) && other.at.Before(latest) {
				unit = other.unit
			}
		}
		return at, 0, refuse("the time %d is %s: it must be in milliseconds since 1970", start, unit)
	}
	if took > longestSample.Milliseconds() {
		return at, 0, refuse("%d ms is longer than a week: check the unit", took)
	}
	if took < 0 {
		return at, 0, refuse("the duration is negative: %d ms", took)
	}
	return at, time.Duration(took) * time.Millisecond, nil
}

// jmeterMeasured adds notes about data that a JTL lacks.
func jmeterMeasured(t *tally) (*Measured, error) {
	made, err := t.measured()
	if err != nil {
		return nil, err
	}
	if t.requests == 0 {
		made.Notes = append(made.Notes, "all samples are from Transaction Controllers, so the number of requests per second is unknown")
	}
	slices.Sort(made.Notes)
	return made, nil
}
