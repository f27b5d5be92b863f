// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// BenchmarkSizes says what an archive of an experiment takes, and what compression would
// save of it: of what is text, and of raw results, which are compressed as they are.
// Its times mean nothing.
func BenchmarkSizes(b *testing.B) {
	input := recorded.WithEvidence(20)
	texts := [][]byte{encoded(b, input.Experiment), []byte(input.Manifest.Data["manifest.json"])}
	for i := range input.Runs {
		texts = append(texts, encoded(b, input.Runs[i]))
	}
	var page bytes.Buffer
	expect.NoError(b, report.Write(&page, input))
	var packed [][]byte
	for i := range input.Raw {
		for _, body := range input.Raw[i].BinaryData {
			packed = append(packed, body)
		}
	}
	for b.Loop() {
	}
	for name, bodies := range map[string][][]byte{"text": texts, "raw": packed, "export": {page.Bytes()}} {
		plain, small := 0, 0
		for _, body := range bodies {
			plain += len(body)
			small += compressed(b, body)
		}
		b.ReportMetric(float64(plain)/float64(len(input.Runs)), name+"-bytes/run")
		b.ReportMetric(float64(plain)/float64(max(small, 1)), name+"-ratio")
	}
}

func encoded(b *testing.B, value any) []byte {
	b.Helper()
	text, err := json.Marshal(value)
	expect.NoError(b, err)
	return text
}

func compressed(b *testing.B, body []byte) int {
	b.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write(body); err != nil {
		b.Fatal(err)
	}
	expect.NoError(b, writer.Close())
	return buffer.Len()
}
