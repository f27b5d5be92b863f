// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// jmeter reads what JMeter's listeners write: CSV with a header, or XML.
type jmeter struct{}

func (jmeter) Name() string { return "jmeter" }
func (jmeter) Tool() string { return "JMeter" }
func (jmeter) Reads() string {
	return "a JTL of JMeter, as CSV with a header or as XML"
}

func (jmeter) Read(from Source) (*Measured, error) {
	text := bufio.NewReader(from.In)
	begins, err := text.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	from.In = text
	if strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(begins), byteOrderMark), " \t\r\n"), "<") {
		return readJMeterXML(from)
	}
	return readJMeterCSV(from)
}

// byteOrderMark begins files of spreadsheets.
const byteOrderMark = "\ufeff"

// Columns of a JTL that are read; the last may be missing.
const (
	jmeterTime, jmeterElapsed, jmeterLabel, jmeterSuccess = "timeStamp", "elapsed", "label", "success"
	jmeterMessage                                         = "responseMessage"
)

const jmeterHeader = jmeterTime + "," + jmeterElapsed + "," + jmeterLabel + ",…," + jmeterSuccess

// jmeterTransaction begins what a Transaction Controller says of itself.
const jmeterTransaction = "Number of samples in transaction"

func readJMeterCSV(from Source) (*Measured, error) {
	stream := newStream(from.In)
	text := bufio.NewReader(stream)
	header, err := text.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, atLine(1, streamFault(err))
	}
	columns, separator, err := jmeterColumns(header)
	if err != nil {
		return nil, atLine(1, err)
	}
	table := csv.NewReader(text)
	table.Comma, table.ReuseRecord, table.FieldsPerRecord = separator, true, -1
	tally := newTally(from)
	for {
		stream.next()
		fields, err := table.Read()
		if errors.Is(err, io.EOF) {
			return jmeterMeasured(tally)
		}
		if err != nil {
			return nil, csvFault(err, 1)
		}
		line, _ := table.FieldPos(0)
		sample, err := columns.sample(fields)
		if err == nil {
			err = tally.add(sample)
		}
		if err != nil {
			return nil, atLine(line+1, err)
		}
	}
}

// csvFault says where a table is broken, so many lines below its beginning.
func csvFault(err error, above int) error {
	var broken *csv.ParseError
	if errors.As(err, &broken) {
		return atLine(broken.Line+above, refuse("%v", broken.Err))
	}
	return streamFault(err)
}

// streamFault says of a row without end that the file is at fault.
func streamFault(err error) error {
	if errors.Is(err, errEndless) {
		return refuse("a row %v", errEndless)
	}
	return err
}

// jmeterFields is where the columns are.
type jmeterFields struct {
	of    map[string]int
	count int
}

// jmeterColumns reads the header, whose separator is a setting of JMeter's.
func jmeterColumns(header string) (jmeterFields, rune, error) {
	header = strings.TrimRight(strings.TrimPrefix(header, byteOrderMark), "\r\n")
	separator := ','
	for _, other := range ";\t|" {
		if !strings.ContainsRune(header, ',') && strings.ContainsRune(header, other) {
			separator = other
		}
	}
	names := strings.Split(header, string(separator))
	columns := jmeterFields{of: map[string]int{}, count: len(names)}
	for i, name := range names {
		columns.of[strings.Trim(name, `" `)] = i
	}
	for _, wanted := range []string{jmeterTime, jmeterElapsed, jmeterLabel, jmeterSuccess} {
		if _, found := columns.of[wanted]; !found {
			return columns, separator, refuse("%q is no header with the column %s: it has to be like %s, which JMeter writes with jmeter.save.saveservice.print_field_names=true", said(header), wanted, jmeterHeader)
		}
	}
	return columns, separator, nil
}

func (c jmeterFields) sample(fields []string) (sample, error) {
	if len(fields) != c.count {
		return sample{}, refuse("it has %d fields, and the header %d", len(fields), c.count)
	}
	at := func(column string) string {
		if i, found := c.of[column]; found {
			return fields[i]
		}
		return ""
	}
	if at(jmeterTime) == jmeterTime {
		return sample{}, refuse("it is the header again: give the files that were put together one by one")
	}
	return jmeterSample(at(jmeterTime), at(jmeterElapsed), at(jmeterLabel), at(jmeterSuccess), at(jmeterMessage))
}

func jmeterSample(began, elapsed, label, success, message string) (sample, error) {
	start, err := strconv.ParseInt(began, 10, 64)
	if err != nil {
		return sample{}, refuse("%s %q is no number of milliseconds since 1970: let JMeter write jmeter.save.saveservice.timestamp_format=ms", jmeterTime, said(began))
	}
	took, err := strconv.ParseInt(elapsed, 10, 64)
	if err != nil {
		return sample{}, refuse("%s %q is no number of milliseconds", jmeterElapsed, said(elapsed))
	}
	if success != "true" && success != "false" {
		return sample{}, refuse("%s %q is neither true nor false", jmeterSuccess, said(success))
	}
	made := sample{transaction: label, failed: success == "false", inner: strings.HasPrefix(message, jmeterTransaction)}
	made.start, made.took, err = inMilliseconds(start, took)
	return made, err
}

// inMilliseconds refuses what is none: a clock's milliseconds have been of 12 or 13
// digits since 1973.
func inMilliseconds(start, took int64) (time.Time, time.Duration, error) {
	at := time.UnixMilli(start)
	if at.Before(earliest) || at.After(latest) {
		unit := "no time of a test"
		for _, other := range []struct {
			at   time.Time
			unit string
		}{{time.Unix(start, 0), "one in seconds"}, {time.UnixMicro(start), "one in microseconds"}, {time.Unix(0, start), "one in nanoseconds"}} {
			if other.at.After(earliest) && other.at.Before(latest) {
				unit = other.unit
			}
		}
		return at, 0, refuse("the time %d is %s: it has to be in milliseconds since 1970", start, unit)
	}
	if took > longestSample.Milliseconds() {
		return at, 0, refuse("%d ms is longer than a week: is that in another unit?", took)
	}
	if took < 0 {
		return at, 0, refuse("%d ms is less than no time", took)
	}
	return at, time.Duration(took) * time.Millisecond, nil
}

// jmeterMeasured adds what a JTL leaves open.
func jmeterMeasured(t *tally) (*Measured, error) {
	made, err := t.measured()
	if err != nil {
		return nil, err
	}
	if t.requests == 0 {
		made.Notes = append(made.Notes, "all samples are of Transaction Controllers, so that the number of requests per second is not known")
	}
	slices.Sort(made.Notes)
	return made, nil
}
