// SPDX-License-Identifier: Apache-2.0

// Package pgsettings validates the parameters of PostgreSQL 14 to 18. It is pure.
//
//	err := pgsettings.Check("shared_buffers", "512m", 18)
//	// err: 512m has no unit of PostgreSQL's: write 512MB
package pgsettings

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"perflab.dev/perflab/internal/text/prose"
)

// Oldest and Newest are the releases whose parameters are known.
const (
	Oldest = 14
	Newest = 18
)

// list has a line for each parameter, as pg_settings lists them: its name, the first
// and the last release that has it, its type, unit, least and largest value, and
// values.
//
//go:embed settings.tsv
var list string

// setting is a parameter of PostgreSQL.
type setting struct {
	name        string
	first, last int
	kind, unit  string
	// least and most are in the unit; empty if unbounded.
	least, most string
	values      []string
}

// settings by lower-case name.
var settings = sync.OnceValue(func() map[string]setting {
	all := map[string]setting{}
	for line := range strings.Lines(list) {
		fields := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "", "", "")
		known := setting{name: fields[0], kind: fields[2], unit: fields[3], least: fields[4], most: fields[5], values: strings.Split(fields[6], ",")}
		if _, err := fmt.Sscanf(fields[1], "%d-%d", &known.first, &known.last); err != nil {
			panic(err) // The list is embedded and valid.
		}
		all[strings.ToLower(known.name)] = known
	}
	return all
})

// nameForm matches names that CloudNativePG accepts; a name with a dot belongs to an
// extension.
var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$`)

// Check returns why PostgreSQL of a release does not start with a parameter; 0 means any
// known release.
func Check(name, value string, release int) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q is not a valid parameter name: write it as in PostgreSQL, for example work_mem", name)
	}
	if strings.Contains(name, ".") || release != 0 && (release < Oldest || release > Newest) {
		return nil
	}
	known, found := settings()[strings.ToLower(name)]
	switch {
	case !found:
		return unknown(name)
	case release != 0 && (release < known.first || release > known.last):
		return fmt.Errorf("PostgreSQL %d has no parameter %s, which exists only in %s: remove it", release, known.name, known.releases())
	case known.kind == "internal":
		return fmt.Errorf("%s cannot be set in PostgreSQL: remove it", known.name)
	default:
		return known.check(value)
	}
}

func unknown(name string) error {
	if near := prose.Closest(name, slices.Sorted(maps.Keys(settings()))); near != "" {
		return fmt.Errorf("PostgreSQL has no parameter %s: did you mean %s?", name, settings()[near].name)
	}
	return fmt.Errorf("PostgreSQL has no parameter %s: correct its name, or remove it", name)
}

func (s setting) releases() string {
	if s.first == s.last {
		return strconv.Itoa(s.first)
	}
	return fmt.Sprintf("%d to %d", s.first, s.last)
}

func (s setting) check(value string) error {
	value = strings.TrimSpace(value)
	switch s.kind {
	case "bool":
		if !isBool(value) {
			return fmt.Errorf("%q is not a value of %s: write on or off", value, s.name)
		}
	case "enum":
		if !s.has(value) {
			return fmt.Errorf("%q is not a value of %s: write one of %s", value, s.name, strings.Join(s.values, ", "))
		}
	case "integer", "real":
		_, err := s.number(value)
		return err
	}
	return nil
}

// boolWords are the spellings of on and off, which may be abbreviated.
var boolWords = []string{"true", "false", "yes", "no", "on", "off", "1", "0"}

func isBool(value string) bool {
	lower := strings.ToLower(value)
	return lower != "" && lower != "o" && slices.ContainsFunc(boolWords, func(word string) bool { return strings.HasPrefix(word, lower) })
}

// IsOff reports whether a value means off.
func IsOff(value string) bool {
	lower := strings.ToLower(strings.TrimSpace(value))
	return isBool(lower) && slices.ContainsFunc([]string{"false", "no", "off", "0"}, func(word string) bool { return strings.HasPrefix(word, lower) })
}

// hidden are values that PostgreSQL accepts for some parameters without listing them.
var hidden = []string{"debug", "info", "archive", "hot_standby"}

func (s setting) has(value string) bool {
	same := func(other string) bool { return strings.EqualFold(other, value) }
	return slices.ContainsFunc(s.values, same) || slices.ContainsFunc(hidden, same) ||
		slices.Contains(s.values, "off") && slices.ContainsFunc(boolWords, same)
}
