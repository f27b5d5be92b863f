// SPDX-License-Identifier: Apache-2.0

// Package fit cuts statuses to what the API server takes. What comes from a log or from a
// cluster can have any size, and a status that is refused could never be written. The
// bounds are those of the kinds' own schemas, so that no field has a bound in code that
// could be forgotten. It is pure.
package fit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/prose"
)

// MaxBytes of JSON are what a status may take. Beside a spec of the largest size it stays
// below the 1.5 MiB that etcd takes of an object.
const MaxBytes = 768 << 10

// Begins is how the sentence about what was left out begins.
const Begins = "not everything fits into the status: "

var errNothingLeft = errors.New("nothing of it fits into its schema")

// Status cuts a status of a resource, for example perfruns, and says in a sentence what
// was left out; empty: nothing.
func Status[T any](resource string, status *T) (leftOut string, err error) {
	known, err := boundsOf(resource)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(status)
	if err != nil {
		return "", fmt.Errorf("encoding a status: %w", err)
	}
	c := &cutter{patterns: known.patterns, cuts: map[string]*cut{}}
	fields, err := c.fit(text, known)
	if err != nil {
		return "", err
	}
	if len(c.cuts) == 0 && !bytes.Contains(text, invalidUTF8) {
		return "", nil
	}
	if text, err = json.Marshal(fields); err != nil {
		return "", fmt.Errorf("encoding a status that was cut: %w", err)
	}
	fitted := new(T)
	if err := json.Unmarshal(text, fitted); err != nil {
		return "", fmt.Errorf("reading a status that was cut: %w", err)
	}
	*status = *fitted
	return c.sentence(), nil
}

// invalidUTF8 is what the encoder writes for bytes that are no character. The API server
// would store them otherwise than they are here, so each pass would write them again.
var invalidUTF8 = []byte(`\ufffd`)

// cutter cuts a status and notes what it left out, by the path of the field.
type cutter struct {
	patterns patterns
	cuts     map[string]*cut
}

// cut is what became of the fields of a path: how many were left out, and how many were
// shortened.
type cut struct{ left, shortened int }

func (c *cutter) at(path string) *cut {
	if c.cuts[path] == nil {
		c.cuts[path] = &cut{}
	}
	return c.cuts[path]
}

func (c *cutter) fit(text []byte, known *bounds) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields any
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("decoding a status: %w", err)
	}
	fields, fits := c.value(fields, known.status, "")
	if !fits {
		return nil, errNothingLeft
	}
	return fields, c.shrink(fields, len(text))
}

// sentence tells what was left out; empty: nothing.
func (c *cutter) sentence() string {
	var parts []string
	for _, path := range slices.Sorted(maps.Keys(c.cuts)) {
		cut := c.cuts[path]
		if cut.left > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s left out", prose.Counted(cut.left, "value"), path))
		}
		if cut.shortened > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s shortened", prose.Counted(cut.shortened, "text"), path))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return Begins + prose.Enumerate(parts)
}

// shrink halves, while a status that took so many bytes takes too much, the lists that take most of it: all of
// one path alike.
func (c *cutter) shrink(fields any, size int) error {
	for size > MaxBytes {
		text, err := json.Marshal(fields)
		if err != nil {
			return fmt.Errorf("encoding a status: %w", err)
		}
		if size = len(text); size <= MaxBytes {
			return nil
		}
		lists := map[string]*weight{}
		weigh(fields, "", lists)
		if len(lists) == 0 {
			return fmt.Errorf("%w: its texts alone take %d bytes", errNothingLeft, size)
		}
		heaviest := slices.MaxFunc(slices.Sorted(maps.Keys(lists)), func(a, b string) int { return cmp.Compare(lists[a].bytes, lists[b].bytes) })
		c.halve(fields, "", heaviest, lists[heaviest].longest/2)
	}
	return nil
}

// weight is what the lists of a path take.
type weight struct{ bytes, longest int }

// weigh adds up what lists take, each without the lists in it, and returns what the value
// takes outside of lists.
func weigh(value any, path string, lists map[string]*weight) int {
	own := 0
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			own += len(name) + weigh(field, join(path, name), lists)
		}
	case []any:
		if len(value) == 0 {
			return 0
		}
		of := lists[path]
		if of == nil {
			of = &weight{}
			lists[path] = of
		}
		of.longest = max(of.longest, len(value))
		for _, item := range value {
			of.bytes += weigh(item, path+"[]", lists)
		}
	case string:
		own = len(value)
	}
	const punctuation = 4
	return own + punctuation
}

// halve cuts all lists of a path to a length.
func (c *cutter) halve(value any, path, of string, most int) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			under := join(path, name)
			if list, is := field.([]any); is && under == of && len(list) > most {
				c.at(under).left += len(list) - most
				value[name] = list[:most]
			} else if strings.HasPrefix(of, under) {
				c.halve(field, under, of, most)
			}
		}
	case []any:
		for _, item := range value {
			c.halve(item, path+"[]", of, most)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
