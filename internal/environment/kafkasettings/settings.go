// SPDX-License-Identifier: Apache-2.0

// Package kafkasettings validates the settings of topics and brokers of Kafka 3.9 to 4.3.
// It is pure.
//
//	err := kafkasettings.Check(kafkasettings.Topic, "retention.ms", "2h")
//	// err: write a whole number of milliseconds, -1 or more: 7200000 for 2h
package kafkasettings

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/internal/planning/repair"
	"perflab.dev/perflab/internal/text/prose"
)

// Scope is what a setting configures.
type Scope string

// The settings of topics and brokers have different names.
const (
	Topic  Scope = "topic"
	Broker Scope = "broker"
)

// list has a line per setting, from Kafka's own definitions: scope, name, type,
// least and largest value, and values. Of bounds that differ between releases it
// has the wider ones.
//
//go:embed settings.tsv
var list string

type setting struct {
	name, kind string
	// least and most are empty if unbounded.
	least, most string
	values      []string
}

var settings = sync.OnceValue(func() map[Scope]map[string]setting {
	all := map[Scope]map[string]setting{Topic: {}, Broker: {}}
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		known := setting{name: fields[1], kind: fields[2], least: fields[3], most: fields[4]}
		if fields[5] != "" {
			known.values = strings.Split(fields[5], ",")
		}
		all[Scope(fields[0])][known.name] = known
	}
	return all
})

// IsKnown reports whether a scope has a setting.
func IsKnown(scope Scope, name string) bool {
	_, known := settings()[scope][name]
	return known
}

// Suggest returns the setting that an unknown name probably means; empty if none is close.
// Many broker settings are those of topics with the prefix "log.".
func Suggest(scope Scope, name string) string {
	other := strings.TrimPrefix(name, "log.")
	if scope == Broker {
		other = "log." + name
	}
	if IsKnown(scope, other) {
		return other
	}
	return prose.Closest(name, slices.Sorted(maps.Keys(settings()[scope])))
}

// Check returns what to write instead of a value that Kafka rejects. It accepts unknown
// settings, and references such as ${env:NAME}.
func Check(scope Scope, name, value string) error {
	known, found := settings()[scope][name]
	value = strings.TrimSpace(value)
	switch {
	case !found || strings.Contains(value, "${") || known.takes(value):
		return nil
	case known.values != nil:
		return fmt.Errorf("write one of %s", strings.Join(known.values, ", "))
	case known.kind == "boolean":
		return errors.New("write true or false")
	default:
		return fmt.Errorf("write a %s%s%s%s", known.number(), known.unit(), known.bounds(), known.instead(value))
	}
}

// instead returns the number, in the setting's unit, for an amount with a unit.
func (s setting) instead(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return ""
	}
	number := ""
	if size, err := resource.ParseQuantity(cmp.Or(repair.Bytes(value), value)); err == nil && s.unit() == bytesUnit {
		number = strconv.FormatInt(size.Value(), 10)
	}
	if length, err := time.ParseDuration(cmp.Or(repair.Duration(value), value)); err == nil && periods[s.unit()] > 0 && length >= periods[s.unit()] {
		number = strconv.FormatInt(int64(length/periods[s.unit()]), 10)
	}
	if number == "" || !s.takes(number) {
		return ""
	}
	return fmt.Sprintf(": %s for %s", number, value)
}

const bytesUnit = " of bytes"

// periods are the units of time of settings.
var periods = map[string]time.Duration{" of milliseconds": time.Millisecond, " of seconds": time.Second, " of minutes": time.Minute, " of hours": time.Hour}

// bits of Java's integers.
var bits = map[string]int{"short": 16, "int": 32, "long": 64}

func (s setting) takes(value string) bool {
	switch {
	case s.kind == "list" && s.values != nil:
		return !slices.ContainsFunc(strings.Split(value, ","), func(entry string) bool {
			return entry != "" && !slices.Contains(s.values, strings.TrimSpace(entry))
		})
	case s.values != nil:
		return slices.Contains(s.values, value)
	case s.kind == "boolean":
		return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case s.kind == "double":
		number, err := strconv.ParseFloat(value, 64)
		return err == nil && !strings.Contains(value, "_") && s.contains(number)
	case bits[s.kind] > 0:
		number, err := strconv.ParseInt(value, 10, bits[s.kind])
		return err == nil && s.contains(float64(number))
	default:
		return true
	}
}

func (s setting) contains(number float64) bool {
	least, _ := strconv.ParseFloat(s.least, 64)
	most, _ := strconv.ParseFloat(s.most, 64)
	return (s.least == "" || number >= least) && (s.most == "" || number <= most)
}

func (s setting) number() string {
	if s.kind == "double" {
		return "number"
	}
	return "whole number"
}

func (s setting) unit() string {
	for suffix, unit := range map[string]string{".ms": " of milliseconds", ".bytes": bytesUnit, ".minutes": " of minutes", ".hours": " of hours", ".seconds": " of seconds"} {
		if strings.HasSuffix(s.name, suffix) {
			return unit
		}
	}
	return ""
}

func (s setting) bounds() string {
	switch {
	case s.most != "":
		return fmt.Sprintf(", %s to %s", s.least, s.most)
	case s.least != "":
		return fmt.Sprintf(", %s or more", s.least)
	default:
		return ""
	}
}
