// SPDX-License-Identifier: Apache-2.0

package pgsettings

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/text/number"
)

// form matches a number with a unit, possibly separated by spaces.
var form = regexp.MustCompile(`^([+-]?(?:0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))\s*(\S*)$`)

// PostgreSQL's units, in bytes and in milliseconds. They are case-sensitive.
var (
	memory = map[string]float64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
	times  = map[string]float64{"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
)

// blockUnit is the unit of settings in blocks. Values can't be written with it.
const blockUnit, blockSize = "8kB", 8 << 10

// number parses a value in the setting's unit.
func (s setting) number(text string) (float64, error) {
	parts := form.FindStringSubmatch(text)
	if parts == nil || strings.HasPrefix(parts[2], ",") {
		return 0, s.noNumber(text)
	}
	value, err := parse(parts[1])
	if err != nil {
		return 0, s.noNumber(text)
	}
	if unit := parts[2]; unit != "" {
		factor, known := s.factor(unit)
		if !known {
			return 0, fmt.Errorf("%q has a unit that PostgreSQL does not accept for %s: write %s", text, s.name, s.suggestion(parts[1], unit))
		}
		value *= factor
	}
	if s.kind == "integer" {
		value = math.RoundToEven(value)
	}
	return value, s.bounded(text, value)
}

// noNumber suggests what a decimal comma or thousands separators may mean, or gives an
// example.
func (s setting) noNumber(text string) error {
	write := "a number" + s.example()
	if meant, err := number.Parse(text); err == nil {
		write = strconv.FormatFloat(meant.Value, 'f', -1, 64)
	}
	return fmt.Errorf("%q is not a number for %s: write %s", text, s.name, write)
}

func parse(number string) (float64, error) {
	if whole, err := strconv.ParseInt(number, 0, 64); err == nil && strings.ContainsAny(number, "xX") {
		return float64(whole), nil
	}
	return strconv.ParseFloat(number, 64)
}

// factor converts a unit to the setting's own.
func (s setting) factor(unit string) (float64, bool) {
	family := s.family()
	of, known := family[unit]
	own := s.size()
	return of / own, known && own > 0
}

// size returns the setting's unit, in bytes or milliseconds.
func (s setting) size() float64 {
	if s.unit == blockUnit {
		return blockSize
	}
	return s.family()[s.unit]
}

func (s setting) family() map[string]float64 {
	switch {
	case s.isMemory():
		return memory
	case s.unit != "":
		return times
	default:
		return nil
	}
}

func (s setting) isMemory() bool { return strings.HasSuffix(s.unit, "B") }

func (s setting) bounded(text string, number float64) error {
	least, _ := strconv.ParseFloat(s.least, 64)
	most, _ := strconv.ParseFloat(s.most, 64)
	if s.least != "" && number < least || s.most != "" && number > most {
		return fmt.Errorf("%q is out of the range of %s: write %s to %s%s", text, s.name, s.least, s.most, s.inUnit())
	}
	return nil
}

func (s setting) inUnit() string {
	switch s.unit {
	case "":
		return ""
	case blockUnit:
		return " blocks of 8kB"
	default:
		return s.unit
	}
}

func (s setting) example() string {
	switch {
	case s.isMemory():
		return ", for example 64MB"
	case s.unit != "":
		return ", for example 30s"
	default:
		return ""
	}
}

// suggestion returns the number with the probably intended unit.
func (s setting) suggestion(number, unit string) string {
	meant := map[string]string{"b": "B", "k": "kB", "m": "MB", "g": "GB", "t": "TB"}
	if !s.isMemory() {
		meant = map[string]string{"u": "us", "m": "min", "s": "s", "h": "h", "d": "d"}
	}
	if s.unit == "" {
		return number + " without a unit"
	}
	if name, known := meant[strings.ToLower(unit[:1])]; known {
		return number + name
	}
	return "one of its units" + s.example()
}

// Bytes returns the memory that a parameter requests; false if it is not about memory, or
// its value is invalid.
func Bytes(name, value string) (int64, bool) {
	known := settings()[strings.ToLower(name)]
	number, err := known.number(strings.TrimSpace(value))
	if !known.isMemory() || err != nil {
		return 0, false
	}
	return int64(number * known.size()), true
}

// Number returns a parameter's value in its unit; false if it is no number.
func Number(name, value string) (float64, bool) {
	known := settings()[strings.ToLower(name)]
	number, err := known.number(strings.TrimSpace(value))
	return number, known.name != "" && err == nil
}
