// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
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

// unpack decodes what pack encoded, within a budget. Its errors are ErrCorrupt and
// ErrTooLarge.
func unpack(title string, body []byte, value any, within *Budget) error {
	return unpacked(title, body, within, func(text *json.Decoder) error { return text.Decode(value) })
}

// unpacked is like unpack, with a decoding function. It fails if anything follows the value.
func unpacked(title string, body []byte, within *Budget, decode func(*json.Decoder) error) error {
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("unpacking %s: %w: %w", title, ErrCorrupt, err)
	}
	text := json.NewDecoder(within.JSON(zip))
	if err = decode(text); err == nil {
		err = ended(text)
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return fmt.Errorf("unpacking %s: %w", title, err)
	case err != nil:
		return fmt.Errorf("decoding %s: %w: %w", title, ErrCorrupt, err)
	}
	return nil
}

// ended reads a text to its end, to verify gzip's checksum.
func ended(text *json.Decoder) error {
	_, err := text.Token()
	if err == nil {
		return errors.New("unexpected data after the end")
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// fields returns the decoders of a payload's fields. They decode lists element by element, so
// that only the text of one element is in memory.
func (p *Payload) fields() map[string]func(*json.Decoder) error {
	return map[string]func(*json.Decoder) error{
		"version":              into(&p.Version),
		"load":                 into(&p.Load),
		"run":                  into(&p.Run),
		"runner":               into(&p.Runner),
		"generator":            into(&p.Generator),
		"start":                into(&p.Start),
		"end":                  into(&p.End),
		"bucketSeconds":        into(&p.BucketSeconds),
		"requestBucketSeconds": into(&p.RequestBucketSeconds),
		"final":                into(&p.Final),
		"series":               each(&p.Series),
		"counters":             each(&p.Counters),
		"gauges":               each(&p.Gauges),
	}
}

func into(value any) func(*json.Decoder) error {
	return func(text *json.Decoder) error { return text.Decode(value) }
}

func each[T any](list *[]T) func(*json.Decoder) error {
	return func(text *json.Decoder) error {
		// null is an empty list.
		if open, err := text.Token(); err != nil || open == nil {
			return err
		} else if open != json.Delim('[') {
			return fmt.Errorf("%v instead of the start of a list", open)
		}
		for text.More() {
			var element T
			if err := text.Decode(&element); err != nil {
				return err
			}
			*list = append(*list, element)
		}
		_, err := text.Token()
		return err
	}
}

// decodeFields decodes an object, and skips unknown fields.
func decodeFields(text *json.Decoder, known map[string]func(*json.Decoder) error) error {
	open, err := text.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("%v instead of the start of an object", open)
	}
	for text.More() {
		name, err := text.Token()
		if err != nil {
			return err
		}
		decode := known[fmt.Sprint(name)]
		if decode == nil {
			decode = into(&json.RawMessage{})
		}
		if err := decode(text); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
	}
	_, err = text.Token()
	return err
}

// Marshal returns the compressed body, for storage.
func Marshal(p *Payload) ([]byte, error) { return pack("payload of "+p.Load, p) }

// Unmarshal decodes the output of Marshal. Its errors are ErrCorrupt and ErrTooLarge.
func Unmarshal(body []byte) (*Payload, error) {
	p := &Payload{}
	err := unpacked("payload", body, NewBudget(maxPayload), func(text *json.Decoder) error {
		return decodeFields(text, p.fields())
	})
	if err != nil {
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
		return fmt.Errorf("bucket with %d values, want 7", len(row))
	}
	var first int64
	var cells string
	for i, into := range []any{&b.Index, &b.Count, &b.Sum, &b.Min, &b.Max, &first, &cells} {
		if err := json.Unmarshal(row[i], into); err != nil {
			return err
		}
	}
	b.Histogram = &Histogram{}
	if err := b.Histogram.parseText(first, cells); err != nil {
		return err
	}
	b.Histogram.pack()
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
		return fmt.Errorf("counter bucket with %d numbers, want 2", len(row))
	}
	var err error
	if b.Index, err = row[0].Int64(); err != nil {
		return err
	}
	b.Sum, err = row[1].Float64()
	return err
}
