// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"perflab.dev/perflab/payload"
)

func some(seed uint64, n int) *payload.Payload {
	return recorded("a", samples(rand.New(rand.NewPCG(seed, 2)), n, 10*time.Minute))
}

func written(tb testing.TB, p *payload.Payload) string {
	tb.Helper()
	var log bytes.Buffer
	noError(tb, payload.Write(&log, p))
	return log.String()
}

// equal compares two payloads and their statistics.
func equal(t *testing.T, got, want *payload.Payload) {
	t.Helper()
	if got == nil {
		t.Fatal("no payload")
	}
	a, errA := payload.Marshal(got)
	b, errB := payload.Marshal(want)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("got %s final=%v, want %s final=%v (or different buckets)", got.Run, got.Final, want.Run, want.Final)
	}
	for _, transaction := range want.Transactions() {
		if g, w := summary(t, got, transaction, ""), summary(t, want, transaction, ""); g != w {
			t.Errorf("%s = %+v, want %+v", transaction, g, w)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range []*payload.Payload{some(1, 5000), payload.New("l", "r", "a", start)} {
		got, err := payload.Read(strings.NewReader(written(t, want)))
		noError(t, err)
		equal(t, got, want)
		body, err := payload.Marshal(want)
		noError(t, err)
		stored, err := payload.Unmarshal(body)
		noError(t, err)
		equal(t, stored, want)
		if !reflect.DeepEqual(got.Counters, stored.Counters) {
			t.Error("counters differ")
		}
	}
}

func TestExtremeDurationsRoundTrip(t *testing.T) {
	want := payload.New("l", "r", "a", start)
	for _, d := range []time.Duration{-time.Second, 0, 1, time.Microsecond, 2047 * time.Microsecond, 2048 * time.Microsecond, time.Hour, 7 * 24 * time.Hour, 9 * 24 * time.Hour} {
		want.Record("Import", "ok", start, d)
	}
	got, err := payload.Read(strings.NewReader(written(t, want)))
	noError(t, err)
	equal(t, got, want)
	if s := summary(t, got, "Import", "ok"); s.Count != 9 || s.Min != 0 || s.Max != 9*24*time.Hour {
		t.Errorf("summary = %+v", s)
	}
}

func TestLinesAreShortAndAtomic(t *testing.T) {
	var w lineWriter
	noError(t, payload.Write(&w, some(1, 20000)))
	if len(w) < 10 {
		t.Fatalf("only %d lines", len(w))
	}
	for _, line := range w {
		if len(line) > 4096 || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
			t.Errorf("a write of %d bytes: %.60q…", len(line), line)
		}
	}
}

type lineWriter []string

func (w *lineWriter) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestWriteReportsErrors(t *testing.T) {
	_, w := io.Pipe()
	_ = w.CloseWithError(io.ErrClosedPipe)
	if err := payload.Write(w, some(1, 10)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error = %v", err)
	}
}

func TestReadSkipsOtherLines(t *testing.T) {
	want := some(1, 20000)
	var log strings.Builder
	log.WriteString("     execution: local\n\n" + strings.Repeat("long ", 100000) + "\n")
	for i, line := range strings.SplitAfter(written(t, want), "\n") {
		log.WriteString("time=\"2026\" level=warning msg=\"perflab-payload is not here\"\n")
		if line != "" && i%2 == 0 {
			log.WriteString("2026-11-20T21:50:40.123456789Z stdout F ")
		}
		log.WriteString(strings.Replace(line, "\n", "\r\n", 1))
	}
	log.WriteString("perflab-payload\nperflab-payload nonsense\nrunning (1m), 0/8 VUs")
	got, err := payload.Read(iotest.HalfReader(strings.NewReader(log.String())))
	noError(t, err)
	equal(t, got, want)
}

func TestReadChooses(t *testing.T) {
	early, late, final := some(1, 3000), some(2, 6000), some(3, 9000)
	early.Final, late.Final, final.Final = false, false, true
	e, l, f := written(t, early), written(t, late), written(t, final)
	cut := func(s string) string { return s[:2*len(s)/3] + "\n" }
	tests := []struct {
		name string
		log  string
		want *payload.Payload
		err  error
	}{
		{"the last checkpoint", e + l, late, nil},
		{"a final one after checkpoints", e + l + f, final, nil},
		{"a final one before a checkpoint", e + f + l, final, nil},
		{"the checkpoint before a truncated final one", e + l + cut(f), late, nil},
		{"the checkpoint before a damaged final one", e + l + damaged(f), late, nil},
		{"a whole one after a truncated one", cut(e) + l, late, nil},
		{"a whole one whose twin is damaged", f + damaged(f), final, nil},
		{"only a truncated one", cut(f), nil, payload.ErrCorrupt},
		{"only a damaged one", damaged(f), nil, payload.ErrCorrupt},
		{"only a begin line", strings.SplitAfter(f, "\n")[0], nil, payload.ErrCorrupt},
		{"a beginning that rotation took away", f[strings.Index(f, "\n")+1:], nil, payload.ErrCorrupt},
		{"only an end", f[strings.LastIndex(strings.TrimSpace(f), "\n")+1:], nil, payload.ErrCorrupt},
		{"a whole one after the rest of another", e[len(e)/2:] + l, late, nil},
		{"parts in the wrong order", swapped(f), nil, payload.ErrCorrupt},
		{"another checksum", regexp.MustCompile(`sha256=....`).ReplaceAllString(f, "sha256=0000"), nil, payload.ErrCorrupt},
		{"a version to come", strings.ReplaceAll(f, "version=2", "version=3"), nil, payload.ErrCorrupt},
		{"nothing", "", nil, payload.ErrNone},
		{"only foreign lines", "hello\nworld\n", nil, payload.ErrNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := payload.Read(strings.NewReader(tt.log))
			if !errors.Is(err, tt.err) {
				t.Fatalf("error = %v, want %v", err, tt.err)
			}
			if tt.want != nil {
				equal(t, got, tt.want)
			}
		})
	}
}

func TestRotatedPayloadNeverCounts(t *testing.T) {
	checkpoint, final := some(1, 2000), some(2, 4000)
	checkpoint.Final = false
	c, f := written(t, checkpoint), written(t, final)
	progress := "perflab-progress {\"at\":\"2026-01-02T03:04:05Z\"}\n"
	log := progress + c + progress + f
	for at := 0; at < len(log); at += 1009 {
		got, err := payload.Read(strings.NewReader(log[at:]))
		if at <= len(log)-len(f) {
			if err != nil || !got.Final {
				t.Fatalf("cut at %d, before the final payload: %v", at, err)
			}
			equal(t, got, final)
			continue
		}
		if got != nil || !errors.Is(err, payload.ErrCorrupt) && !errors.Is(err, payload.ErrNone) {
			t.Fatalf("cut at %d, in the final payload: %+v, %v", at, got, err)
		}
		if strings.Contains(log[at:], "\nperflab-payload end") && !errors.Is(err, payload.ErrCorrupt) {
			t.Fatalf("cut at %d: error = %v, want ErrCorrupt", at, err)
		}
	}
}

// damaged changes one base64 digit in the middle of the log.
func damaged(log string) string {
	b := []byte(log)
	for i := len(b) / 2; ; i++ {
		if b[i] >= 'a' && b[i] < 'z' && b[i-1] != '\n' {
			b[i]++
			return string(b)
		}
	}
}

// swapped exchanges the second and the third line.
func swapped(log string) string {
	lines := strings.SplitAfter(log, "\n")
	lines[1], lines[2] = lines[2], lines[1]
	return strings.Join(lines, "")
}

func TestReadReportsTheReadersError(t *testing.T) {
	if _, err := payload.Read(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error = %v", err)
	}
}

func TestUnmarshalRejects(t *testing.T) {
	body, err := payload.Marshal(some(1, 100))
	noError(t, err)
	bodies := map[string][]byte{
		"nothing":       nil,
		"not gzip":      []byte("hello"),
		"half":          body[:len(body)/2],
		"not JSON":      zipped(t, "hello"),
		"no version":    zipped(t, `{}`),
		"odd width":     zipped(t, `{"version":2,"bucketSeconds":3,"requestBucketSeconds":16}`),
		"wrong count":   zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,2,1,1,1,1,"$"]]}]}`),
		"cell too far":  zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,99999999,"$"]]}]}`),
		"overflow":      zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,1,"ZZZZZZZZZZZZZZZZ$"]]}]}`),
		"a gap too far": zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,13550,"~~~~$"]]}]}`),
		"no such cell":  zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,-1,"$"]]}]}`),
		"empty cell":    zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,1,"#$"]]}]}`),
		"no character":  zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"buckets":[[0,1,1,1,1,1,"$\\\\"]]}]}`),
		"requests long": zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"transaction":"t","request":"r","buckets":[[0,1,1,1,1,1,"$"],[32,1,1,1,1,1,"$"]]}]}`),
		"row twice":     zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"transaction":"t"},{"transaction":"t"}]}`),
		"out of order":  zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"counters":[{"name":"c","buckets":[[2,1],[1,1]]}]}`),
		"too long":      zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"counters":[{"name":"c","buckets":[[1,1],[9999,1]]}]}`),
		"a long name":   zipped(t, `{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"gauges":[{"name":"`+strings.Repeat("x", payload.MaxName+1)+`"}]}`),
	}
	for name, body := range bodies {
		if _, err := payload.Unmarshal(body); !errors.Is(err, payload.ErrCorrupt) {
			t.Errorf("%s: error = %v, want ErrCorrupt", name, err)
		}
	}
}

func TestUnmarshalRejectsTooLarge(t *testing.T) {
	_, err := payload.Unmarshal(zipped(t, `{"load":"`+strings.Repeat("x", 65<<20)+`"}`))
	if !errors.Is(err, payload.ErrTooLarge) || !strings.Contains(err.Error(), "120 MiB") {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
}

// A name of any length is recorded in a form that can be read.
func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("ä", payload.MaxName)
	p := payload.New("cico", "run-1", "1", start)
	p.Add(payload.Row{Scenario: long, Transaction: long, Request: long, Outcome: payload.OK}, start, time.Second)
	p.Count(long, start, 1)
	p.Set(long, 1)
	body, err := payload.Marshal(p)
	noError(t, err)
	read, err := payload.Unmarshal(body)
	noError(t, err)
	isCut := regexp.MustCompile("ä…[0-9a-f]{8}$")
	for _, name := range []string{read.Series[0].Transaction, read.Series[0].Request, read.Counters[0].Name, read.Gauges[0].Name} {
		if len(name) > payload.MaxName || !isCut.MatchString(name) {
			t.Errorf("%d bytes that end with %q, want at most %d", len(name), name[len(name)-12:], payload.MaxName)
		}
	}
	p.Add(payload.Row{Transaction: long + "a", Outcome: payload.OK}, start, time.Second)
	p.Add(payload.Row{Transaction: long + "b", Outcome: payload.OK}, start, time.Second)
	if names := p.Transactions(); len(names) != 2 {
		t.Errorf("%d of two names that begin alike are told apart", len(names))
	}
}

func FuzzRead(f *testing.F) {
	whole := written(f, some(1, 50))
	f.Add([]byte(whole))
	f.Add([]byte(whole + damaged(whole)))
	f.Add([]byte(whole[:len(whole)/2]))
	f.Add([]byte("perflab-payload begin id= version=2 parts=-1 bytes=-1 sha256=\nperflab-payload end id=\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		p, err := payload.Read(bytes.NewReader(log))
		if err != nil {
			if !errors.Is(err, payload.ErrNone) && !errors.Is(err, payload.ErrCorrupt) && !errors.Is(err, payload.ErrTooLarge) {
				t.Fatalf("error = %v", err)
			}
			return
		}
		if _, err := payload.Marshal(p); err != nil {
			t.Fatalf("read what cannot be written: %v", err)
		}
		for _, transaction := range p.Transactions() {
			if s, ok := p.Summary(transaction, ""); !ok || s.Max < s.P95 || s.P95 < s.P50 || s.P50 < s.Min {
				t.Fatalf("summary %+v", s)
			}
		}
	})
}

// FuzzUnmarshal tests decoding without the checksum, which FuzzRead hardly ever passes.
func FuzzUnmarshal(f *testing.F) {
	f.Add(`{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"series":[{"transaction":"t","outcome":"ok","buckets":[[0,2,3000,1000,2000,1,"$~]$"]]}]}`)
	f.Add(`{"version":2,"bucketSeconds":2,"requestBucketSeconds":16,"counters":[{"name":"c","buckets":[[-5,1.5],[7,1e300]]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := payload.Unmarshal(zipped(t, text))
		if err != nil {
			return
		}
		body, err := payload.Marshal(p)
		noError(t, err)
		again, err := payload.Unmarshal(body)
		if err != nil {
			t.Fatalf("does not read its own writing: %v", err)
		}
		equal(t, again, p)
		if cut := p.Between(p.Start, p.End); cut.End.Before(cut.Start) {
			t.Fatalf("window ends before it starts: %v..%v", cut.Start, cut.End)
		}
	})
}

// The checksum is that of the returned payload, as in its begin line.
func TestReadSumMatchesReturnedPayload(t *testing.T) {
	var log bytes.Buffer
	checkpoint := payload.New("cico", "run", "tr-1", time.Unix(0, 0))
	noError(t, payload.Write(&log, checkpoint))
	final := checkpoint.Clone()
	final.Final, final.Generator = true, "k6 v2.2.0"
	noError(t, payload.Write(&log, final))
	begins := regexp.MustCompile(`sha256=([0-9a-f]{64})`).FindAllStringSubmatch(log.String(), -1)
	read, sum, err := payload.ReadSum(&log)
	if err != nil || len(begins) != 2 || sum != begins[1][1] || sum == begins[0][1] || read.Generator != final.Generator {
		t.Errorf("%q of %q, %v: want the second of %q", sum, read.Generator, err, begins)
	}
}

// The bodies of a collector add up, so the checksum covers all of them.
func TestReadSamplesSumCoversAllBodies(t *testing.T) {
	var log bytes.Buffer
	whole := sha256.New()
	for minute := range 2 {
		from := time.Unix(int64(60*minute), 0).UTC()
		part := &payload.Samples{Version: payload.SamplesVersion, Run: "run", Collector: "pod", Start: from, End: from.Add(time.Minute)}
		body, err := payload.MarshalSamples(part)
		noError(t, err)
		_, _ = whole.Write(body)
		noError(t, payload.WriteSamples(&log, part))
	}
	if _, sum, err := payload.NewSamplesReader().ReadSum(&log); err != nil || sum != hex.EncodeToString(whole.Sum(nil)) {
		t.Errorf("%q, %v: want %x", sum, err, whole.Sum(nil))
	}
}

// Retained text counts against the budget like the text itself.
func TestSpendFailsWhenNothingIsLeft(t *testing.T) {
	budget := payload.NewBudget(100)
	if err := budget.Spend(100); err != nil {
		t.Error(err)
	}
	if err := budget.Spend(1); !errors.Is(err, payload.ErrTooLarge) {
		t.Errorf("the error is %v, want ErrTooLarge", err)
	}
}

func zipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	noError(tb, w.Close())
	return out.Bytes()
}
