// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"compress/gzip"
	"testing"
)

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
