// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// maxBody bounds what Unmarshal unpacks, in bytes: far above any payload, far
// below what would hurt the reader.
const maxBody = 64 << 20

// Marshal gives the compressed body, for storage.
func Marshal(p *Payload) ([]byte, error) {
	var body bytes.Buffer
	zip, err := gzip.NewWriterLevel(&body, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing payload: %w", err)
	}
	if err := json.NewEncoder(zip).Encode(p); err != nil {
		return nil, fmt.Errorf("encoding payload of %s: %w", p.Load, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compressing payload of %s: %w", p.Load, err)
	}
	return body.Bytes(), nil
}

// Unmarshal reads what Marshal wrote. Its errors are ErrCorrupt.
func Unmarshal(body []byte) (*Payload, error) {
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpacking payload: %w: %w", ErrCorrupt, err)
	}
	text, err := io.ReadAll(io.LimitReader(zip, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking payload: %w: %w", ErrCorrupt, err)
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("unpacking payload: %w: more than %d bytes", ErrCorrupt, maxBody)
	}
	p := &Payload{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("decoding payload: %w: %w", ErrCorrupt, err)
	}
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("decoding payload: %w", err)
	}
	p.Start, p.End = millis(p.Start), millis(p.End)
	return p, nil
}

// MarshalJSON writes the array that the package comment describes.
func (b Bucket) MarshalJSON() ([]byte, error) {
	row := []int64{b.Index, b.Count, int64(b.Sum), int64(b.Min), int64(b.Max)}
	last := int64(0)
	b.Histogram.ForEachBucket(func(value, count int64) bool {
		cell := cellOf(value)
		row = append(row, cell-last, count)
		last = cell
		return true
	})
	return json.Marshal(row)
}

// UnmarshalJSON reads the array that MarshalJSON wrote.
func (b *Bucket) UnmarshalJSON(text []byte) error {
	var row []int64
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) < 5 || len(row)%2 == 0 {
		return fmt.Errorf("a bucket of %d numbers", len(row))
	}
	*b = Bucket{
		Index: row[0], Count: row[1], Sum: time.Duration(row[2]),
		Min: time.Duration(row[3]), Max: time.Duration(row[4]),
		Histogram: newHistogram(),
	}
	cell := int64(0)
	for i := 5; i < len(row); i += 2 {
		step, count := row[i], row[i+1]
		if step < 0 || step > cellOf(highest) || count <= 0 {
			return fmt.Errorf("histogram step %d with count %d", step, count)
		}
		if cell += step; cell > cellOf(highest) {
			return fmt.Errorf("histogram cell %d out of range", cell)
		}
		if err := b.Histogram.RecordValues(valueOf(cell), count); err != nil {
			return err
		}
	}
	return nil
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
