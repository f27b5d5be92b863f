// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"io"
)

// Whoever reads logs reads what others wrote, and a few bytes unpack to a lot. So
// it is estimated, while a text is unpacked, how much memory it takes when it is
// decoded, and reading ends where that is more than a reader can spare.
const (
	// maxPayload is what one payload may take, in bytes. The largest that is
	// recorded, with MaxSeries rows in MaxBuckets buckets each, takes 110 MiB.
	maxPayload = 120 << 20
	// maxSamples is what all samples of a log may take: about 1.8 million points.
	maxSamples = 160 << 20
)

// weights are what a byte of a text costs, wherever it is, and what is made of the
// values that these bytes begin, outside of strings.
type weights struct {
	text, object, array, field, element, quote, line int
}

var (
	ofJSON = weights{text: 3, object: 256, array: 48, field: 64, element: 24, quote: 32}
	// ofYAML are those of who decodes into values of any kind, by way of a tree of
	// nodes; a line holds one at least.
	ofYAML = weights{text: 3, object: 2048, array: 512, field: 512, element: 512, quote: 256, line: 512}
	// ofCSV are those of who keeps every field.
	ofCSV = weights{text: 3, element: 24, line: 256}
)

// Budget is the memory that is left to read something with: an estimate, made while
// it is read.
type Budget struct{ limit, left int }

// NewBudget is one of so many bytes.
func NewBudget(bytes int) *Budget { return &Budget{limit: bytes, left: bytes} }

// Spend takes so many bytes, for what a reader keeps. It fails with ErrTooLarge where
// they are not left.
func (b *Budget) Spend(bytes int) error {
	b.left -= bytes
	return b.exceeded()
}

func (b *Budget) exceeded() error {
	if b.left >= 0 {
		return nil
	}
	return fmt.Errorf("%w: it takes more than the %d MiB that a reader has for it", ErrTooLarge, b.limit>>20)
}

// JSON passes a text on as far as the budget reaches, then fails with ErrTooLarge.
func (b *Budget) JSON(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofJSON}
}

// YAML does so for one that is decoded into values of any kind.
func (b *Budget) YAML(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofYAML}
}

// CSV does so for a table.
func (b *Budget) CSV(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofCSV}
}

// weighed is a text that is paid for while it is read.
type weighed struct {
	text              io.Reader
	budget            *Budget
	weights           weights
	inString, escaped bool
}

func (w *weighed) Read(into []byte) (int, error) {
	n, err := w.text.Read(into)
	for _, c := range into[:n] {
		w.budget.left -= w.weights.text + w.structure(c)
	}
	if err := w.budget.exceeded(); err != nil {
		return 0, err
	}
	return n, err
}

func (w *weighed) structure(c byte) int {
	switch {
	case c == '\n':
		// In YAML and CSV a quote may stand alone.
		w.inString, w.escaped = false, false
		return w.weights.line
	case w.escaped:
		w.escaped = false
	case w.inString:
		w.escaped, w.inString = c == '\\', c != '"'
	case c == '"':
		w.inString = true
		return w.weights.quote
	case c == '{':
		return w.weights.object
	case c == '[':
		return w.weights.array
	case c == ':':
		return w.weights.field
	case c == ',':
		return w.weights.element
	}
	return 0
}
