// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/number"
)

// Column headings of a report's tables: the second operand of a delta is right of the first.
const (
	ofBaseline  = " (baseline)"
	deltaColumn = "Delta"
	// metricColumn is the first column, or follows the verdicts.
	metricColumn = "Metric"
)

// adjustedMark follows a delta that, according to the page, does not follow from the shown
// values.
const adjustedMark = "†"

// longestLine of Markdown that is read.
const longestLine = 1 << 20

// ReadMarkdown reads the deltas in a Markdown report by perflab, those in tables and those in
// sentences, with the numbers next to them. It fails without deltas.
func ReadMarkdown(in io.Reader) ([]Row, error) {
	page := &markdown{names: map[string]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		page.line++
		page.read(strings.TrimSpace(strings.ReplaceAll(lines.Text(), "\u00a0", " ")))
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%w: line %d is longer than %d bytes", ErrRows, page.line+1, longestLine)
	} else if err != nil {
		return nil, fmt.Errorf("reading a report: %w", err)
	}
	if page.title == "" {
		return nil, fmt.Errorf("%w: the report has no title (# ...)", ErrRows)
	}
	return page.rows, nil
}

// markdown is the state of reading a report.
type markdown struct {
	line                     int
	title, scenario, caption string
	// header of the current table; empty outside of tables.
	header []string
	rows   []Row
	// names of the arms for which the page has other names.
	names map[string]string
}

// folded precedes the title of a folded table.
const folded = "<details><summary>"

func (m *markdown) read(line string) {
	if !strings.HasPrefix(line, "|") {
		m.header = nil
	}
	switch {
	case m.title == "" && strings.HasPrefix(line, "# "):
		m.title = plainText(line[2:])
	case strings.HasPrefix(line, "## "):
		m.scenario = ""
	case strings.HasPrefix(line, "### "):
		m.scenario = plainText(strings.TrimPrefix(line[4:], "Scenario "))
	case strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**"):
		m.caption = plainText(line)
	case strings.HasPrefix(line, folded):
		m.caption = plainText(strings.TrimSuffix(line[len(folded):], "</summary>"))
	case strings.HasPrefix(line, "- "):
		m.sentence(plainText(line[2:]))
	case strings.HasPrefix(line, "|") && m.header == nil:
		m.header = cells(line)
	case strings.HasPrefix(line, "|"):
		m.row(cells(line))
	}
}

// row reads a row of a table of comparisons, and skips others.
func (m *markdown) row(values []string) {
	m.name(values)
	baseline := slices.IndexFunc(m.header, func(title string) bool { return strings.HasSuffix(title, ofBaseline) })
	delta := slices.Index(m.header, deltaColumn)
	if baseline < 0 || delta < 0 || baseline+1 >= len(m.header) || len(values) != len(m.header) {
		return
	}
	arm, unit := m.header[baseline+1], ""
	if at := slices.Index(m.header, "Arm"); at >= 0 {
		arm = values[at]
	}
	if at := slices.Index(m.header, "Unit"); at >= 0 {
		unit = values[at]
	}
	m.add(compared{
		table: m.caption, scenario: m.scenario, metric: values[max(slices.Index(m.header, metricColumn), 0)],
		baseline: strings.TrimSuffix(m.header[baseline], ofBaseline), arm: arm,
		from: values[baseline] + " " + unit, to: values[baseline+1] + " " + unit, delta: values[delta],
	})
}

// name records an arm's name in the experiment, if the page has it.
func (m *markdown) name(values []string) {
	label, name := slices.Index(m.header, "Arm"), slices.Index(m.header, "Name")
	if label >= 0 && name >= 0 && len(values) == len(m.header) && values[name] != "" {
		m.names[values[label]] = values[name]
	}
}

// comparisonText matches a sentence with both operands and the delta. A duration may be a clock time. Earlier
// releases wrote that an arm "has" its value.
var comparisonText = regexp.MustCompile(`^(?:\S.*?: )?(.+): (\S+) (?:has )?([^:]+?)(?: \([\d:]+\))?, (\S+) (?:has )?([^:]+?)(?: \([\d:]+\))?: ([+−]?[\d.]+ ?[^( ,]*)(.*)$`)

func (m *markdown) sentence(text string) {
	parts := comparisonText.FindStringSubmatch(text)
	if parts == nil {
		return
	}
	delta := parts[6]
	if strings.Contains(parts[7], "allowing for blocks") {
		delta += " " + adjustedMark
	}
	m.add(compared{
		table: "sentence", metric: parts[1], baseline: parts[2], arm: parts[4],
		from: parts[3], to: parts[5], delta: delta, inWords: true,
	})
}

// compared is a delta with its two operands, as printed.
type compared struct {
	table, scenario, metric, baseline, arm, from, to, delta string
	// inWords means that the metric has a phrase instead of its name.
	inWords bool
}

// add adds the three numbers, if all exist: a missing operand means a missing delta.
func (m *markdown) add(c compared) {
	from, hasFrom := parse(c.from)
	to, hasTo := parse(c.to)
	delta, hasDelta := parse(c.delta)
	if !hasFrom || !hasTo || !hasDelta {
		return
	}
	delta.delta = true
	for _, one := range []struct {
		row           Row
		configuration string
		arm           string
	}{{from, "baseline", c.baseline}, {to, "arm", c.arm}, {delta, "arm minus baseline", ""}} {
		row := one.row
		row.Line, row.Report, row.Table, row.Scenario = m.line, m.title, c.table, c.scenario
		// A row belongs to one arm; the names of its numbers are the same in all rows.
		row.Metric, row.Configuration = c.metric+" of "+c.arm, one.configuration
		row.asPrinted = true
		if !c.inWords {
			row.of = seriesKey{c.scenario, c.metric, cmp.Or(m.names[one.arm], one.arm)}
		}
		m.rows = append(m.rows, row)
	}
}

var printed = regexp.MustCompile(`^([+−-]?[\d.]+) ?([^†]*?) ?(†?)$`)

// parse parses a number with its unit, if it has one.
func parse(text string) (Row, bool) {
	parts := printed.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Row{}, false
	}
	read, err := number.Parse(parts[1])
	if err != nil {
		return Row{}, false
	}
	row := Row{Value: read.Value, Unit: parts[2], decimals: read.Decimals, adjusted: parts[3] != ""}
	if row.Unit == "millicores" {
		// Runs record it in this unit.
		row.Value, row.Unit, row.decimals = row.Value/1000, "cores", row.decimals+3
	}
	return row, true
}

// cells returns the cells of a table's line.
func cells(line string) []string {
	var found []string
	for _, cell := range strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|") {
		found = append(found, plainText(strings.ReplaceAll(cell, "\x00", `\|`)))
	}
	return found
}

var (
	escaped  = regexp.MustCompile("\\\\([\\\\`*_\\[\\]|~#])")
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// plainText takes the markup off that a report puts on.
func plainText(text string) string {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"**", "`"} {
		text = strings.TrimPrefix(strings.TrimSuffix(text, mark), mark)
	}
	text = strings.Replace(text, ":** ", ": ", 1)
	return strings.TrimSpace(entities.Replace(escaped.ReplaceAllString(text, "$1")))
}
