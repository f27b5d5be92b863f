// SPDX-License-Identifier: Apache-2.0

// Package fit truncates statuses to what the API server accepts. Text from a log or a
// cluster can have any size, and a rejected status could never be written. The limits are
// those of the kinds' schemas, so that code repeats none. It is pure.
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

// MaxBytes is the limit of a status, in bytes of JSON. With a spec of the largest size the
// object stays below etcd's limit of 1.5 MiB.
const MaxBytes = 768 << 10

var errNothingLeft = errors.New("no part of it fits into its schema")

// Status truncates a status of a resource, for example perfruns, and describes what was
// omitted; empty if nothing was.
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
		return "", fmt.Errorf("encoding a truncated status: %w", err)
	}
	fitted := new(T)
	if err := json.Unmarshal(text, fitted); err != nil {
		return "", fmt.Errorf("reading a truncated status: %w", err)
	}
	*status = *fitted
	return c.sentence(), nil
}

// invalidUTF8 is what the encoder writes for invalid UTF-8. The API server would store
// other bytes, so each reconcile would write them again.
var invalidUTF8 = []byte(`\ufffd`)

// cutter truncates a status and notes what it omitted, by the path of the field.
type cutter struct {
	patterns patterns
	cuts     map[string]*cut
}

// cut counts the omitted and the shortened fields of a path.
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

// sentence describes what was omitted; empty if nothing was.
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
	return "not everything fits into the status: " + prose.Enumerate(parts)
}

// shrink halves the largest lists while the status, of this size, is too large. It treats
// all lists of one path alike.
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
			return fmt.Errorf("%w: its text alone has %d bytes", errNothingLeft, size)
		}
		heaviest := slices.MaxFunc(slices.Sorted(maps.Keys(lists)), func(a, b string) int { return cmp.Compare(lists[a].bytes, lists[b].bytes) })
		c.halve(fields, "", heaviest, lists[heaviest].longest/2)
	}
	return nil
}

// weight is the size of the lists of a path.
type weight struct{ bytes, longest int }

// weigh adds up the sizes of lists, each without nested lists, and returns the size outside
// of lists.
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

// halve truncates all lists of a path.
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
