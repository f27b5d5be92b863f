// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// cico has one ok check-in per second: 100 ms in the first ten seconds, 200 ms
// in the next ten, 300 ms in the last ten.
func cico(t *testing.T) *payload.Payload {
	t.Helper()
	p := payload.New("cico", "run", "1", start)
	for second := range 30 {
		took := time.Duration(second/10+1) * 100 * time.Millisecond
		p.Record("Check-In", "ok", at(second), took)
	}
	p.End, p.Final = at(30), true
	return p
}

func users(until string) v1alpha1.Load {
	return v1alpha1.Load{Name: "cico", Until: until, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 1}}
}

func loads(all ...v1alpha1.Load) []v1alpha1.Load { return all }

func measurements(all ...*payload.Payload) map[string]results.Measured {
	measured := map[string]results.Measured{}
	for _, p := range all {
		measured[p.Load] = results.FromHistograms(p)
	}
	return measured
}

func warmUp(d time.Duration) v1alpha1.Measurement {
	return v1alpha1.Measurement{WarmUp: &metav1.Duration{Duration: d}}
}

func value(t *testing.T, observations []v1alpha1.Observation, metric string) v1alpha1.Observation {
	t.Helper()
	for _, observation := range observations {
		if observation.Metric == metric {
			return observation
		}
	}
	t.Fatalf("no observation %q in %+v", metric, observations)
	return v1alpha1.Observation{}
}

func TestObserveUsersAfterWarmUp(t *testing.T) {
	measured := measurements(cico(t))
	observations := results.Observe(loads(users("")), measured, warmUp(10*time.Second))
	if got := value(t, observations, "cico/Check-In/average"); got.Value != "250" || got.Unit != "ms" || got.Samples != 20 {
		t.Errorf("average after 10 s of warm-up: %+v, want 250 ms over 20 samples", got)
	}
	if got := value(t, observations, "cico/Check-In/samples"); got.Value != "20" {
		t.Errorf("samples: %+v, want 20", got)
	}
	if got := value(t, observations, "cico/Check-In/errors"); got.Value != "0" {
		t.Errorf("errors: %+v, want 0", got)
	}
}

func TestObserveUsersWhileTheOtherLoadIsOn(t *testing.T) {
	other := payload.New("create", "run", "1", at(10))
	other.End, other.Final = at(20), true
	measured := measurements(cico(t), other)
	observations := results.Observe(loads(users("create")), measured, warmUp(5*time.Second))
	if got := value(t, observations, "cico/Check-In/average"); got.Value != "200" || got.Samples != 10 {
		t.Errorf("average during the import: %+v, want 200 ms over 10 samples", got)
	}
}

func TestResponseTimesLeaveFailuresOut(t *testing.T) {
	p := cico(t)
	for second := range 10 {
		p.Record("Check-In", "error", at(second), time.Millisecond)
	}
	observations := results.Observe(loads(users("")), measurements(p), v1alpha1.Measurement{})
	if got := value(t, observations, "cico/Check-In/average"); got.Value != "200" {
		t.Errorf("average: %+v, want 200 ms, that of what worked", got)
	}
	if got := value(t, observations, "cico/Check-In/errors"); got.Value != "25" {
		t.Errorf("errors: %+v, want 25 %%", got)
	}
}

func imported(t *testing.T, imports, failed, records, lost float64) *payload.Payload {
	t.Helper()
	p := payload.New("create", "run", "1", start)
	p.Record("Import", "ok", at(9), 10*time.Second)
	p.Record("Import job", "ok", at(9), 8*time.Second)
	p.Count("perflab_imports", at(9), imports)
	p.Count("perflab_imports_failed", at(9), failed)
	p.Count("perflab_records", at(9), records)
	p.Count("perflab_records_failed", at(9), lost)
	p.End, p.Final = at(10), true
	return p
}

func imports(count, records int32) v1alpha1.Load {
	return v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: records, Imports: count}}
}

func TestABatchHasNoWarmUp(t *testing.T) {
	observations := results.Observe(loads(imports(1, 400)), measurements(imported(t, 1, 0, 400, 0)), warmUp(time.Hour))
	if got := value(t, observations, "create/duration"); got.Value != "8" {
		t.Errorf("the import took %+v, want 8 s", got)
	}
}

func TestCheck(t *testing.T) {
	onlyCheckpoint := cico(t)
	onlyCheckpoint.Final = false
	dropping := cico(t)
	dropping.Count("dropped_iterations", at(15), 3)
	failing := cico(t)
	failing.Record("Check-In", "error", at(15), time.Millisecond)
	cases := map[string]struct {
		load   v1alpha1.Load
		p      *payload.Payload
		warmUp time.Duration
		reason string
		says   string
	}{
		"good users":      {load: users(""), p: cico(t)},
		"checkpoint only": {load: users(""), p: onlyCheckpoint, reason: v1alpha1.ReasonResultsMissing, says: "checkpoint"},
		"too many errors": {load: users(""), p: failing, reason: v1alpha1.ReasonTooManyErrors, says: "1 of 31"},
		"warm-up too long": {
			load: users(""), p: cico(t), warmUp: time.Minute,
			reason: v1alpha1.ReasonResultsMissing, says: "shorten the warm-up",
		},
		"less load than meant": {load: users(""), p: dropping, reason: v1alpha1.ReasonLoadNotHeld, says: "dropped 3 iterations"},
		"good import":          {load: imports(1, 400), p: imported(t, 1, 0, 400, 0)},
		"import missing":       {load: imports(2, 400), p: imported(t, 1, 0, 400, 0), reason: v1alpha1.ReasonImportIncomplete, says: "1 of 2 imports"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			fault := results.Check(test.load, measurements(test.p), warmUp(test.warmUp), v1alpha1.Validity{})
			if test.reason == "" {
				if fault != nil {
					t.Fatalf("got fault %+v, want none", *fault)
				}
				return
			}
			if fault == nil || fault.Reason != test.reason || !strings.Contains(fault.Message, test.says) {
				t.Errorf("got %+v, want reason %q and a message with %q", fault, test.reason, test.says)
			}
		})
	}
}
