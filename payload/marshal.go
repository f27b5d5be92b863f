// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// pack encodes a value as compressed JSON. The title is for errors.
func pack(title string, value any) ([]byte, error) {
	var body bytes.Buffer
	zip, err := gzip.NewWriterLevel(&body, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing %s: %w", title, err)
	}
	text := json.NewEncoder(zip)
	text.SetEscapeHTML(false)
	if err := text.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", title, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compressing %s: %w", title, err)
	}
	return body.Bytes(), nil
}

// unpack decodes what pack encoded, within a budget. Its errors are ErrCorrupt.
func unpack(title string, body []byte, value any, within *budget) error {
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("unpacking %s: %w: %w", title, ErrCorrupt, err)
	}
	text, err := io.ReadAll(within.of(zip))
	if err != nil {
		return fmt.Errorf("unpacking %s: %w: %w", title, ErrCorrupt, err)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("decoding %s: %w: %w", title, ErrCorrupt, err)
	}
	return nil
}

// Marshal gives the compressed body, for storage.
func Marshal(p *Payload) ([]byte, error) { return pack("payload of "+p.Load, p) }

// Unmarshal reads what Marshal wrote. Its errors are ErrCorrupt.
func Unmarshal(body []byte) (*Payload, error) {
	p := &Payload{}
	if err := unpack("payload", body, p, newBudget(maxPayload)); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("decoding payload: %w", err)
	}
	p.Start, p.End = millis(p.Start), millis(p.End)
	return p, nil
}

// MarshalJSON writes the array that the package comment describes.
func (b Bucket) MarshalJSON() ([]byte, error) {
	text := strconv.AppendInt([]byte{'['}, b.Index, 10)
	for _, n := range []int64{b.Count, int64(b.Sum), int64(b.Min), int64(b.Max), b.Histogram.first()} {
		text = strconv.AppendInt(append(text, ','), n, 10)
	}
	text = b.Histogram.appendText(append(text, `,"`...))
	return append(text, `"]`...), nil
}

// UnmarshalJSON reads the array that MarshalJSON wrote.
func (b *Bucket) UnmarshalJSON(text []byte) error {
	var row []json.RawMessage
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) != 7 {
		return fmt.Errorf("a bucket of %d values", len(row))
	}
	var first int64
	var cells string
	for i, into := range []any{&b.Index, &b.Count, &b.Sum, &b.Min, &b.Max, &first, &cells} {
		if err := json.Unmarshal(row[i], into); err != nil {
			return err
		}
	}
	b.Histogram = &Histogram{}
	return b.Histogram.parseText(first, cells)
}

// MarshalJSON writes [index, sum].
func (b CounterBucket) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]float64{float64(b.Index), b.Sum})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *CounterBucket) UnmarshalJSON(text []byte) error {
	var row []json.Number
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) != 2 {
		return fmt.Errorf("a counter bucket of %d numbers", len(row))
	}
	var err error
	if b.Index, err = row[0].Int64(); err != nil {
		return err
	}
	b.Sum, err = row[1].Float64()
	return err
}
