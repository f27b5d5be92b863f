// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"io"
)

// Logs are untrusted, and a few bytes may decompress to many. Readers estimate the memory of the
// decoded data during decompression, and stop when a budget is exceeded.
const (
	// maxPayload is the limit of a decoded payload, in bytes. The largest recorded one,
	// with MaxSeries rows in MaxBuckets buckets each, takes 110 MiB.
	maxPayload = 120 << 20
	// maxSamples is the limit of all samples of a log: about 1.8 million points.
	maxSamples = 160 << 20
)

// weights are the costs of a byte, and of the value that a byte starts outside of strings.
type weights struct {
	text, object, array, field, element, quote, line int
}

var (
	ofJSON = weights{text: 3, object: 256, array: 48, field: 64, element: 24, quote: 32}
	// ofYAML are the weights for decoding into any, with a tree of nodes. Each line has at least
	// one node.
	ofYAML = weights{text: 3, object: 2048, array: 512, field: 512, element: 512, quote: 256, line: 512}
	// ofCSV are the weights for keeping every field.
	ofCSV = weights{text: 3, element: 24, line: 256}
)

// Budget is an estimate of the remaining memory for reading.
type Budget struct{ limit, left int }

// NewBudget returns a budget of this many bytes.
func NewBudget(bytes int) *Budget { return &Budget{limit: bytes, left: bytes} }

// Spend subtracts this many bytes for retained data. It fails with ErrTooLarge if fewer are left.
func (b *Budget) Spend(bytes int) error {
	b.left -= bytes
	return b.exceeded()
}

func (b *Budget) exceeded() error {
	if b.left >= 0 {
		return nil
	}
	return fmt.Errorf("%w: it exceeds the memory limit of the reader, %d MiB", ErrTooLarge, b.limit>>20)
}

// JSON returns a reader of a JSON text, which fails with ErrTooLarge when the budget is exceeded.
func (b *Budget) JSON(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofJSON}
}

// YAML returns the same for YAML that is decoded into any.
func (b *Budget) YAML(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofYAML}
}

// CSV returns the same for a table.
func (b *Budget) CSV(text io.Reader) io.Reader {
	return &weighed{text: text, budget: b, weights: ofCSV}
}

// weighed is a reader that spends the budget on the text that it reads.
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
		// In YAML and CSV, a quote may be unpaired.
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
