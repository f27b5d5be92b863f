// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"compress/gzip"
	"testing"
)

func zipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
