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

// What a byte of the text costs, wherever it is, and what is made of the values
// that these bytes begin, outside of strings.
const (
	textCost    = 3
	objectCost  = 256
	arrayCost   = 48
	fieldCost   = 64
	elementCost = 24
	stringCost  = 32
)

// budget is the memory that is left to read something with.
type budget struct{ limit, left int }

func newBudget(bytes int) *budget { return &budget{limit: bytes, left: bytes} }

// of passes a JSON text on, as far as the budget reaches.
func (b *budget) of(text io.Reader) io.Reader { return &weighed{text: text, budget: b} }

// weighed is a text that is paid for while it is read.
type weighed struct {
	text              io.Reader
	budget            *budget
	inString, escaped bool
}

func (w *weighed) Read(into []byte) (int, error) {
	n, err := w.text.Read(into)
	for _, c := range into[:n] {
		w.budget.left -= w.cost(c)
	}
	if w.budget.left < 0 {
		return 0, fmt.Errorf("%w: it takes more than the %d MiB that a reader has for it", ErrTooLarge, w.budget.limit>>20)
	}
	return n, err
}

func (w *weighed) cost(c byte) int {
	switch {
	case w.escaped:
		w.escaped = false
	case w.inString:
		w.escaped, w.inString = c == '\\', c != '"'
	case c == '"':
		w.inString = true
		return textCost + stringCost
	case c == '{':
		return textCost + objectCost
	case c == '[':
		return textCost + arrayCost
	case c == ':':
		return textCost + fieldCost
	case c == ',':
		return textCost + elementCost
	}
	return textCost
}
