// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// minutes is a time after the start of a long run.
func minutes(n float64) time.Time { return at(0).Add(time.Duration(n * float64(time.Minute))) }

func window(name string, from, to float64) results.Window {
	return results.Window{Name: name, From: minutes(from), To: minutes(to)}
}

// sampledFor is an hour of samples of a module with two pods, every 15 s.
func sampledFor(cpu, memory func(minute float64) float64) *payload.SampleRecorder {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for minute := 0.0; minute <= 60; minute += 0.25 {
		at := minutes(minute)
		recorder.Round(at, 15*time.Second)
		for _, pod := range []string{"a/main", "b/main"} {
			recorder.Record("module/mod-users", pod, "cpu", "cores", at, cpu(minute))
			recorder.Record("module/mod-users", pod, "memory", "MiB", at, memory(minute))
		}
	}
	for _, pod := range []string{"a/main", "b/main"} {
		recorder.Samples.SetContainer(payload.Container{
			Component: "module/mod-users", Instance: pod, CPURequest: 0.5, CPULimit: 1, MemoryRequest: 1000,
		})
	}
	return recorder
}

func constant(value float64) func(float64) float64 { return func(float64) float64 { return value } }

func values(observations []v1alpha1.Observation) map[string]string {
	found := map[string]string{}
	for _, observation := range observations {
		found[observation.Metric] = strings.TrimSpace(observation.Value + " " + observation.Unit)
	}
	return found
}

func numbers(t *testing.T, observations []v1alpha1.Observation) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, observation := range observations {
		value, err := decimal.Parse(observation.Value)
		if err != nil {
			t.Fatal(err)
		}
		found[observation.Metric] = value
	}
	return found
}

func TestObserveServers(t *testing.T) {
	samples := sampledFor(func(minute float64) float64 {
		if minute > 30 {
			return 0.4
		}
		return 0.2
	}, constant(300)).Samples
	samples.Ends = []payload.ContainerEnd{
		{Component: "module/mod-users", Instance: "a/main", At: minutes(10), Reason: "OOMKilled", Count: 2},
		{Component: "module/mod-users", Instance: "a/main", At: minutes(20), Reason: "Error", Count: 1},
		{Component: "module/mod-users", Instance: "a/main", At: minutes(50), Reason: "Error", Count: 5},
	}
	got := values(append(results.ObserveServers(samples, window("", 0, 40)), results.ObserveServers(samples, window("after", 40, 60))...))
	for metric, want := range map[string]string{
		"module/mod-users/cpu/max":                    "0.8 cores",
		"module/mod-users/memory/average":             "600 MiB",
		"module/mod-users/memory/percentOfRequest":    "30 %",
		"module/mod-users/restarts":                   "3 1",
		"module/mod-users/oomKills":                   "2 1",
		"module/mod-users/cpu/average@after":          "0.8 cores",
		"module/mod-users/restarts@after":             "5 1",
		"module/mod-users/oomKills@after":             "0 1",
		"module/mod-users/cpu/percentOfRequest@after": "80 %",
	} {
		if got[metric] != want {
			t.Errorf("%s is %q, want %q", metric, got[metric], want)
		}
	}
	// The windows' edges may include a sample more or less.
	for metric, want := range map[string]float64{
		"module/mod-users/cpu/average": 0.5, "module/mod-users/cpu/percentOfRequest": 50, "module/mod-users/cpu/percentOfLimit": 25,
	} {
		number, _, _ := strings.Cut(got[metric], " ")
		if value, err := decimal.Parse(number); err != nil || math.Abs(value-want) > 0.01*want {
			t.Errorf("%s is %q, want about %g", metric, got[metric], want)
		}
	}
}

// A pod without samples for a while does not make its module look idle.
func TestSilentPodDoesNotLowerSum(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for minute := range 10 {
		recorder.Record("module/m", "a/main", "cpu", "cores", minutes(float64(minute)), 1)
		if minute < 3 || minute > 6 {
			recorder.Record("module/m", "b/main", "cpu", "cores", minutes(float64(minute)), 1)
		}
	}
	if got := values(results.ObserveServers(recorder.Samples, window("", 0, 10)))["module/m/cpu/average"]; got != "2 cores" {
		t.Errorf("the average is %s, want 2 cores", got)
	}
}

// A replacement pod counts from its start.
func TestReplacedPod(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for minute := range 10 {
		pod := "a/main"
		if minute >= 5 {
			pod = "b/main"
		}
		recorder.Record("module/m", pod, "cpu", "cores", minutes(float64(minute)), 1)
	}
	if got := values(results.ObserveServers(recorder.Samples, window("", 0, 10)))["module/m/cpu/average"]; got != "1 cores" {
		t.Errorf("the average is %s, want 1 cores", got)
	}
}

// Samples become rarer as a run gets long; each counts for the time it covers.
func TestAverageIsWeightedByTime(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for minute := range 10 {
		recorder.Record("kafka", "", "recordsIn", "1/s", minutes(float64(minute+1)), 0)
	}
	recorder.Record("kafka", "", "recordsIn", "1/s", minutes(20), 100)
	got := values(results.ObserveServers(recorder.Samples, window("", 0, 20)))
	if got["kafka/recordsIn/average"] != "50 1/s" || got["kafka/recordsIn/max"] != "100 1/s" {
		t.Errorf("average %s and max %s, want 50 and 100", got["kafka/recordsIn/average"], got["kafka/recordsIn/max"])
	}
}

// The maximum is at least the average, also where rounding errors of equal
// numbers would have it otherwise, with random values, times and windows.
func TestMaxIsNeverBelowAverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
		minute, same := 0.0, random.Float64()*1000
		for range 1 + random.IntN(40) {
			value := same
			if random.IntN(2) == 0 {
				value = random.NormFloat64()
			}
			minute += random.Float64()
			recorder.Record("custom/x", "", "", "", minutes(minute), value)
		}
		parsed := numbers(t, results.ObserveServers(recorder.Samples, window("", random.Float64()*10, 20)))
		if parsed["custom/x/max"] < parsed["custom/x/average"] {
			t.Fatalf("max %g is below average %g", parsed["custom/x/max"], parsed["custom/x/average"])
		}
	}
}

func TestConsumerGroupsWithLargestLag(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for group := range 30 {
		recorder.Record("kafka/consumerLag", fmt.Sprintf("group-%02d", group), "", "1", minutes(1), float64(group))
	}
	got := values(results.ObserveServers(recorder.Samples, window("", 0, 2)))
	if len(got) != 20 || got["kafka/consumerLag/group-29/max"] != "29 1" || got["kafka/consumerLag/group-19/max"] != "" {
		t.Errorf("the groups are %v, want the ten that were most behind", got)
	}
}

func TestLongestGap(t *testing.T) {
	whole := window("", 10, 50)
	without := func(from, to float64) *payload.Samples {
		samples := sampledFor(constant(1), constant(1)).Samples
		var rounds payload.Points
		for _, round := range samples.Rounds {
			if round.At.Before(minutes(from)) || round.At.After(minutes(to)) {
				rounds = append(rounds, round)
			}
		}
		samples.Rounds = rounds
		return samples
	}
	failing := sampledFor(constant(1), constant(1)).Samples
	for minute := 20.0; minute < 22; minute += 0.25 {
		failing.Fail("postgres", "connection refused", minutes(minute))
	}
	both := without(40, 41.9)
	for minute := 12.0; minute < 38; minute += 0.25 {
		both.Fail("postgres", "connection refused", minutes(minute))
	}
	for name, test := range map[string]struct {
		samples *payload.Samples
		want    results.Gap
	}{
		"of a source and of all": {both, results.Gap{Length: 135 * time.Second, Interval: 15 * time.Second, Source: "collector"}},
		"none":                   {without(90, 99), results.Gap{Length: 15 * time.Second, Interval: 15 * time.Second, Source: "collector"}},
		"within":                 {without(20, 21.9), results.Gap{Length: 135 * time.Second, Interval: 15 * time.Second, Source: "collector"}},
		"at the begin":           {without(0, 12.9), results.Gap{Length: 3 * time.Minute, Interval: 15 * time.Second, Source: "collector"}},
		"at the end":             {without(45.1, 60), results.Gap{Length: 5 * time.Minute, Interval: 15 * time.Second, Source: "collector"}},
		"outside":                {without(0, 9.9), results.Gap{Length: 15 * time.Second, Interval: 15 * time.Second, Source: "collector"}},
		"of one source":          {failing, results.Gap{Length: 135 * time.Second, Interval: 15 * time.Second, Source: "postgres", Message: "connection refused"}},
		"no samples at all":      {nil, results.Gap{Length: 40 * time.Minute, Interval: 20 * time.Second, Source: "collector"}},
		"before the window":      {without(5, 99), results.Gap{Length: 40 * time.Minute, Interval: 15 * time.Second, Source: "collector"}},
	} {
		if got := results.LongestGap(test.samples, whole, 20*time.Second); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	both.Rounds = slices.DeleteFunc(both.Rounds, func(round payload.Point) bool {
		return round.At.Before(minutes(13)) || round.At.After(minutes(48))
	})
	want := []results.Window{{From: minutes(10), To: minutes(13)}, {From: minutes(39.75), To: minutes(42)}, {From: minutes(48), To: minutes(50)}}
	if diff := cmp.Diff(want, results.SilentPeriods(both, whole)); diff != "" {
		t.Errorf("silent: -want +got\n%s", diff)
	}
	if got := results.SilentPeriods(nil, whole); !slices.Equal(got, []results.Window{whole}) {
		t.Errorf("without samples %v is silent, want all of it", got)
	}
	if got := results.LongestGap(without(20, 21.9), whole, 0).Intervals(); got != 9 {
		t.Errorf("the gap is %g intervals long, want 9", got)
	}
}

func TestSaturated(t *testing.T) {
	of := func(metric, value string) v1alpha1.Observation {
		return v1alpha1.Observation{Metric: metric, Value: value, Unit: "%"}
	}
	got := results.Saturated([]v1alpha1.Observation{
		of("postgres/primary/cpu/percentOfRequest", "180"), of("postgres/primary/cpu/percentOfLimit", "91.5"),
		of("postgres/replica-1/cpu/percentOfRequest", "95"),
		of("kafka/broker-0/cpu/percentOfRequest", "200"), of("kafka/broker-0/cpu/percentOfLimit", "50"),
		of("module/mod-users/cpu/percentOfLimit", "99"),
		of("kafka/broker-1/cpuUsed/average", "93"), of("kafka/broker-1/cpuUsed/max", "99"),
		of("kafka/broker-2/cpuUsed/average", "89"), of("kafka/broker-2/cpuUsed/max", "99"),
	}, 90)
	want := []string{
		"kafka/broker-1 used 93 % of its CPUs, above 90 %",
		"postgres/primary used 91.5 % of its CPU limit, above 90 %",
		"postgres/replica-1 used 95 % of its CPU request, above 90 %",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A value that may be from before a window does not count in it, and a window has no figure unless
// two values of different periods cover half of it.
func TestSparseSamples(t *testing.T) {
	every := func(step, reach, until float64) *payload.Samples {
		recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
		series := payload.SampleSeries{Component: "postgres/primary", Resource: "cpuUsed", Unit: "%", Reach: 60 * reach}
		for minute := -10.0; minute <= until; minute += step {
			value := 50.0
			if minute < 1 {
				// Values from before the run differ.
				value = 10
			}
			series.Points = append(series.Points, payload.Point{At: minutes(minute), Value: value})
		}
		recorder.Add(series)
		return recorder.Samples
	}
	cases := map[string]struct {
		reason   string
		samples  *payload.Samples
		from, to float64
		want     string
	}{
		"all of a run":        {"each whole minute counts", every(1, 1, 60), 0, 30, "50 %"},
		"half a minute late":  {"the minute in which the window begins does not", every(1, 1, 60), 0.5, 30.5, "50 %"},
		"two minutes":         {"both are in it", every(1, 1, 60), 10, 12, "50 %"},
		"two, not whole":      {"but one is", every(1, 1, 60), 10.5, 12.5, ""},
		"late by a half":      {"half of it is known", every(1, 1, 15), 0, 30, "50 %"},
		"late by more":        {"less than half of it is known", every(1, 1, 14), 0, 30, ""},
		"no times":            {"what may be of before is left out", every(0.25, 15, 60), 0, 40, "50 %"},
		"no times, too short": {"the values may all be of one stretch", every(0.25, 15, 60), 0, 29.5, ""},
		"five minutes":        {"of which six are in it", every(5, 5, 60), 0, 30, "50 %"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := window("", tc.from, tc.to)
			if got := values(results.ObserveServers(tc.samples, asked))["postgres/primary/cpuUsed/average"]; got != tc.want {
				t.Errorf("the average is %q, want %q: %s", got, tc.want, tc.reason)
			}
			if said := results.Sparse(tc.samples, asked); (len(said) > 0) != (tc.want == "") {
				t.Errorf("it says %q", said)
			}
		})
	}
	said := results.Sparse(every(1, 1, 60), window("", 10.5, 12.5))
	const want = "1 figure of postgres/primary has too few values in the measured window: the window must be at least 2 minutes long, and half of its values available at its end"
	if len(said) != 1 || said[0] != want {
		t.Errorf("it says %q, want %q", said, want)
	}
}

func TestTopStatements(t *testing.T) {
	samples := payload.NewSamples("run", "pod", minutes(0))
	for minute := range 4 {
		samples.Statements = append(samples.Statements, payload.StatementPeriod{
			Component: "postgres/primary", From: minutes(float64(minute)), To: minutes(float64(minute + 1)), Milliseconds: 1000,
			Top: []payload.StatementTime{
				{ID: "1", Calls: 10, Rows: 10, Milliseconds: 400},
				{ID: "2", Calls: 1, Milliseconds: float64(300 + 300*minute)},
				{ID: "own", Calls: 1, Milliseconds: 5000},
			},
		})
	}
	samples.SetText("1", "SELECT "+strings.Repeat("ä", 400))
	samples.SetText("2", "UPDATE items SET title = $1")
	samples.SetText("own", "SELECT pg_catalog.pg_database_size($1)")
	// The middles of the second and third minute lie in the window.
	got := results.TopStatements(samples, window("", 1.2, 3), 10)
	if len(got) != 2 || got[0].Text != "UPDATE items SET title = $1" || got[0].TotalSeconds != "1.5" || got[0].MeanMilliseconds != "750" || got[0].Percent != "75" {
		t.Fatalf("the statements are %+v", got)
	}
	if got[1].Calls != 20 || got[1].TotalSeconds != "0.8" || len(got[1].Text) > 500 || !strings.HasSuffix(got[1].Text, "ä…") {
		t.Errorf("the second is %+v", got[1])
	}
	if one := results.TopStatements(samples, window("", 1.2, 3), 1); len(one) != 1 {
		t.Errorf("%d statements, want 1", len(one))
	}
}
