// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/payload"
)

var sampled = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// interval returns one minute of samples, every 15 s, of this number of pods.
func interval(minute, pods int) *payload.Samples {
	from := sampled.Add(time.Duration(minute) * time.Minute)
	recorder := payload.NewSampleRecorder("run-1", "run-1-collector-x", from)
	random := rand.New(rand.NewPCG(uint64(minute), 1))
	for round := range 4 {
		at := from.Add(time.Duration(round) * 15 * time.Second)
		recorder.Round(at, 15*time.Second)
		for pod := range pods {
			value := random.Float64()
			recorder.Record("module/mod-users", fmt.Sprintf("pod-%d/mod-users", pod), "cpu", "cores", at, value)
		}
		recorder.Record("postgres/primary", "", "connections/active", "1", at, float64(round))
	}
	return recorder.Samples
}

func logOf(tb testing.TB, parts ...*payload.Samples) string {
	tb.Helper()
	var log bytes.Buffer
	for _, part := range parts {
		noError(tb, payload.WriteSamples(&log, part))
		log.WriteString("a line of somebody else\n")
	}
	return log.String()
}

func readSamples(t *testing.T, log string) *payload.Samples {
	t.Helper()
	got, err := payload.ReadSamples(strings.NewReader(log))
	noError(t, err)
	return got
}

func TestSamplesRoundTrip(t *testing.T) {
	want := interval(0, 3)
	want.Final = true
	want.SetContainer(payload.Container{Component: "module/mod-users", Instance: "pod-0/mod-users", CPURequest: 0.5, MemoryLimit: 512})
	want.Ends = []payload.ContainerEnd{{Component: "module/mod-users", Instance: "pod-0/mod-users", At: sampled, Reason: "OOMKilled", ExitCode: 137, Count: 1}}
	want.Fail("kafka", "connection refused", sampled)
	want.SetText("42", "SELECT $1")
	want.Statements = []payload.StatementPeriod{{
		Component: "postgres/primary", From: sampled, To: sampled.Add(time.Minute), Milliseconds: 120,
		Top: []payload.StatementTime{{ID: "42", Calls: 3, Milliseconds: 100, Rows: 3}},
	}}
	want.SetNode(payload.Node{Name: "worker-1", CPUs: 2, Neighbours: []string{"build"}})
	want.Note("no heap")
	got := readSamples(t, logOf(t, want))
	for i := range want.Series {
		for j := range want.Series[i].Points {
			point := &want.Series[i].Points[j]
			if value := got.Series[i].Points[j].Value; math.Abs(value-point.Value) > 1e-4*math.Abs(point.Value) {
				t.Errorf("a value of %g came back as %g", point.Value, value)
			}
			point.Value = got.Series[i].Points[j].Value
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A log holds each sample once. Samples add up in any order, and repeated samples count once.
func TestReadMergesSamples(t *testing.T) {
	parts := []*payload.Samples{interval(0, 1), interval(1, 1), interval(2, 1)}
	parts[2].Final = true
	got := readSamples(t, logOf(t, parts[2], parts[0], parts[1], parts[1]))
	if len(got.Rounds) != 12 || len(got.Series) != 2 || !got.Final {
		t.Fatalf("%d rounds and %d series, final %t; want 12, 2 and true", len(got.Rounds), len(got.Series), got.Final)
	}
	points := got.Series[0].Points
	for i := 1; i < len(points); i++ {
		if !points[i].At.After(points[i-1].At) {
			t.Errorf("point %d at %s follows one at %s", i, points[i].At, points[i-1].At)
		}
	}
	if len(points) != 12 || !got.Start.Equal(parts[0].Start) || !got.End.Equal(parts[2].End) {
		t.Errorf("%d points from %s to %s, want 12 from %s to %s", len(points), got.Start, got.End, parts[0].Start, parts[2].End)
	}
}

func TestKilledCollectorLosesOnlyUnwrittenSamples(t *testing.T) {
	log := logOf(t, interval(0, 40), interval(1, 40))
	cut := log[:len(log)-len("a line of somebody else\n")-40]
	got := readSamples(t, cut)
	if len(got.Rounds) != 4 || got.Final {
		t.Errorf("%d rounds, final %t; want the first minute's 4, not final", len(got.Rounds), got.Final)
	}
}

func TestDamagedSamplesAreSkipped(t *testing.T) {
	first, second := logOf(t, interval(0, 40)), logOf(t, interval(1, 40))
	middle := len(first) / 2
	damaged := first[:middle] + "####" + first[middle+4:]
	if got := readSamples(t, damaged+second); len(got.Rounds) != 4 {
		t.Errorf("%d rounds, want the whole stretch's 4", len(got.Rounds))
	}
	if _, err := payload.ReadSamples(strings.NewReader(damaged)); !errors.Is(err, payload.ErrCorrupt) {
		t.Errorf("a log of nothing but damage: %v, want ErrCorrupt", err)
	}
	if _, err := payload.ReadSamples(strings.NewReader("nothing\n")); !errors.Is(err, payload.ErrNone) {
		t.Errorf("a log of others: %v, want ErrNone", err)
	}
}

func TestSamplesOfDifferentRunsDoNotAddUp(t *testing.T) {
	other := interval(1, 1)
	other.Run = "run-2"
	if _, err := payload.MergeSamples(interval(0, 1), other); !errors.Is(err, payload.ErrMismatch) {
		t.Errorf("got %v, want ErrMismatch", err)
	}
}

func TestNaNIsNotRecorded(t *testing.T) {
	recorder := payload.NewSampleRecorder("run-1", "c", sampled)
	recorder.Record("kafka", "", "recordsIn", "1/s", sampled, math.NaN())
	recorder.Record("kafka", "", "recordsIn", "1/s", sampled, math.Inf(1))
	if len(recorder.Samples.Series) != 0 {
		t.Errorf("recorded %v", recorder.Samples.Series)
	}
}

// The samples of a large system over four hours fit into a ConfigMap, and thinning keeps the
// mean.
func TestSamplesFitIntoAConfigMap(t *testing.T) {
	var parts []*payload.Samples
	for minute := range 240 {
		parts = append(parts, interval(minute, 300))
	}
	all, err := payload.MergeSamples(parts...)
	noError(t, err)
	const limit = 400 << 10
	fitted, err := payload.FitSamples(all, limit)
	noError(t, err)
	body, err := payload.MarshalSamples(fitted)
	if err != nil || len(body) > limit {
		t.Fatalf("%d bytes (%v), want at most %d", len(body), err, limit)
	}
	before, after := meanOf(all.Series[0].Points), meanOf(fitted.Series[0].Points)
	if len(fitted.Series[0].Points) >= len(all.Series[0].Points) || math.Abs(before-after) > 1e-3 {
		t.Errorf("%d points with mean %g became %d with mean %g", len(all.Series[0].Points), before, len(fitted.Series[0].Points), after)
	}
	if _, err := payload.FitSamples(all, 100); err == nil {
		t.Error("300 series fit into 100 bytes")
	}
}

func meanOf(points payload.Points) float64 {
	sum := 0.0
	for _, point := range points {
		sum += point.Value
	}
	return sum / float64(len(points))
}

func FuzzReadSamples(f *testing.F) {
	f.Add(logOf(f, interval(0, 2)))
	f.Add("perflab-samples begin id=0 version=1 parts=1 bytes=-1 sha256=0\n")
	f.Fuzz(func(t *testing.T, log string) {
		got, err := payload.ReadSamples(strings.NewReader(log))
		if err == nil && got.End.Before(got.Start) {
			t.Error("samples end before they start")
		}
	})
}

// FuzzUnmarshalSamples tests decoding without the checksum, which FuzzReadSamples hardly ever
// passes. Decoded samples can be encoded.
func FuzzUnmarshalSamples(f *testing.F) {
	for _, text := range []string{
		`{"version":1,"rounds":[1700000000000,15,15000,15],"series":[{"component":"kafka","resource":"disk","points":[1700000000000,1.797e308,15000,-1.797e308]}]}`,
		`{"version":1,"start":"9999-12-31T23:59:59-01:00","end":"9999-12-31T23:59:59-02:00"}`,
		`{"version":1,"ends":[{"at":"0000-01-01T00:00:00+01:00"}],"notes":["` + strings.Repeat("n", 4000) + `"]}`,
		`{"version":1,"failures":[{"source":"kafka","at":[200000000000000,200000000000000]}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		samples, err := payload.UnmarshalSamples(zipped(t, text))
		if err != nil {
			return
		}
		merged, err := payload.MergeSamples(samples)
		noError(t, err)
		_, err = payload.MarshalSamples(merged)
		noError(t, err)
		_, _ = payload.FitSamples(merged, 100) // Few fit.
		for _, note := range merged.Notes {
			if len(note) > 1000 {
				t.Errorf("a note of %d bytes", len(note))
			}
		}
	})
}

// Rounding and adding up the largest numbers does not overflow.
func TestLargestNumbersRoundTrip(t *testing.T) {
	want := interval(0, 1)
	points := &want.Series[0].Points
	for i := range *points {
		(*points)[i].Value = math.MaxFloat64
	}
	fitted, err := payload.FitSamples(readSamples(t, logOf(t, want)), 400)
	noError(t, err)
	for _, point := range fitted.Series[0].Points {
		if point.Value != math.MaxFloat64 {
			t.Errorf("a value is %g", point.Value)
		}
	}
	(*points)[0].Value = math.Inf(1)
	if _, err := payload.MarshalSamples(want); err == nil {
		t.Error("what is no number was written")
	}
}

// Only a wrong clock shows such a time, and the time cannot be encoded.
func TestInvalidTimesAreRejected(t *testing.T) {
	for name, text := range map[string]string{
		"start":     `"start":"9999-12-31T23:59:59-01:00","end":"9999-12-31T23:59:59-02:00"`,
		"an end":    `"ends":[{"at":"9999-12-31T23:59:59-01:00"}]`,
		"a period":  `"statements":[{"from":"0000-01-01T00:00:00+01:00"}]`,
		"a point":   `"rounds":[260000000000000,1]`,
		"many":      `"rounds":[200000000000000,1,200000000000000,1]`,
		"a failure": `"failures":[{"source":"kafka","at":[-70000000000000]}]`,
	} {
		if _, err := payload.UnmarshalSamples(zipped(t, `{"version":1,`+text+`}`)); !errors.Is(err, payload.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
	for _, text := range []string{`{"version":2,"bucketSeconds":1,"requestBucketSeconds":16,"end":"9999-12-31T23:59:59-01:00"}`} {
		if _, err := payload.Unmarshal(zipped(t, text)); !errors.Is(err, payload.ErrCorrupt) {
			t.Errorf("a payload: %v, want ErrCorrupt", err)
		}
	}
}

// The data about a node comes from several sources and several bodies.
func TestNeighboursAreMerged(t *testing.T) {
	first, second := interval(0, 1), interval(1, 1)
	first.SetNode(payload.Node{Name: "worker-1", CPUs: 2})
	first.SetNode(payload.Node{Name: "worker-1", Neighbours: []string{"b"}})
	second.SetNode(payload.Node{Name: "worker-1", Neighbours: []string{"b", "a"}})
	second.SetNode(payload.Node{Name: "worker-0", CPUs: 4})
	want := []payload.Node{{Name: "worker-0", CPUs: 4}, {Name: "worker-1", CPUs: 2, Neighbours: []string{"a", "b"}}}
	if got := readSamples(t, logOf(t, first, second)).Nodes; !reflect.DeepEqual(got, want) {
		t.Errorf("the nodes are %+v, want %+v", got, want)
	}
	for i := range 100 {
		first.SetNode(payload.Node{Name: "worker-1", Neighbours: []string{fmt.Sprint(i)}})
	}
	if got := len(first.Nodes[0].Neighbours); got != 16 {
		t.Errorf("%d neighbours are kept, want 16", got)
	}
}
