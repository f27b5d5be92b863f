// SPDX-License-Identifier: Apache-2.0

package analysisplan_test

import (
	"fmt"
	"testing"

	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestDefaultPrimaryMetrics(t *testing.T) {
	cico := func(share *int32) v1alpha1.Load {
		return v1alpha1.Load{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8, CheckInPercent: share}}
	}
	create := v1alpha1.Load{Name: "create-5k", DataImport: &v1alpha1.DataImport{Records: 5000}}
	script := v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{}}
	var many []v1alpha1.Load
	for i := range 20 {
		many = append(many, v1alpha1.Load{Name: fmt.Sprintf("import-%d", i), DataImport: &v1alpha1.DataImport{Records: 1}})
	}
	cases := map[string]struct {
		loads []v1alpha1.Load
		want  []string
	}{
		"Users":            {[]v1alpha1.Load{cico(nil)}, []string{"cico/Check-In/average", "cico/Check-Out/average"}},
		"UsersAndImport":   {[]v1alpha1.Load{cico(nil), create}, []string{"cico/Check-In/average", "cico/Check-Out/average", "create-5k/duration"}},
		"CheckInsOnly":     {[]v1alpha1.Load{cico(ptr.To[int32](100))}, []string{"cico/Check-In/average"}},
		"CheckOutsOnly":    {[]v1alpha1.Load{cico(ptr.To[int32](0))}, []string{"cico/Check-Out/average"}},
		"Script":           {[]v1alpha1.Load{script}, nil},
		"ScriptAndImport":  {[]v1alpha1.Load{script, create}, []string{"create-5k/duration"}},
		"SameLoadTwice":    {[]v1alpha1.Load{create, create}, []string{"create-5k/duration"}},
		"MoreThanCanStand": {many, many16()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := analysisplan.DefaultPrimary([]v1alpha1.Scenario{{Name: "s", Loads: tc.loads}})
			expect.Equal(t, tc.want, got, "primary metrics")
		})
	}
}

func many16() []string {
	var metrics []string
	for i := range 16 {
		metrics = append(metrics, fmt.Sprintf("import-%d/duration", i))
	}
	return metrics
}

func TestDirections(t *testing.T) {
	spec := &v1alpha1.PerfExperimentSpec{}
	spec.Measurement.Prometheus = &v1alpha1.Prometheus{Metrics: []v1alpha1.CustomMetric{
		{Name: "hits", HigherIsBetter: true}, {Name: "samples"},
	}}
	asked := analysisplan.New(spec)
	for metric, higher := range map[string]bool{
		"cico/Check-In/average":                                false,
		"cico/Check-In/p95@during-create-5k":                   false,
		"cico/Check-In/samples":                                true,
		"cico/Check-In/samples@alone":                          true,
		"cico/Check-In/errors":                                 false,
		"create-5k/duration":                                   false,
		"create-5k/recordsPerSecond":                           true,
		"create-5k/failedRecords":                              false,
		"search/requestsPerSecond":                             true,
		"samples/Check-In/average":                             false,
		"module/mod-users/cpu/average":                         false,
		"postgres/primary/cacheHits":                           true,
		"postgres/primary/cacheHits/average":                   true,
		"postgres/primary/transactionsPerSecond/average@alone": true,
		"postgres/primary/connections/total":                   false,
		"system/cost/perHour":                                  false,
		"custom/hits/average":                                  true,
		"custom/hits/a@b/c/max":                                true,
		"custom/hits/average@alone":                            true,
		"custom/samples/average":                               false,
		"custom/lag/records/average":                           false,
	} {
		expect.Equal(t, verdict.NewDirection(higher, true), asked.Direction(metric, ""), "%s", metric)
	}
}

// An imported custom metric has the declared direction or that of its unit; other metrics keep
// theirs.
func TestDirectionsOfImportedMetrics(t *testing.T) {
	spec := &v1alpha1.PerfExperimentSpec{Scenarios: []v1alpha1.Scenario{{Loads: []v1alpha1.Load{{Elsewhere: &v1alpha1.Elsewhere{Tool: "go test"}}}}}}
	spec.Analysis.HigherIsBetter, spec.Analysis.LowerIsBetter = []string{"custom/Serve/hits", "custom/cost"}, []string{"custom/Serve/skew", "custom/Serve/lost per s"}
	asked := analysisplan.New(spec)
	for of, want := range map[[2]string]verdict.Direction{
		{"s/Serve/average", "ms"}:                   verdict.LowerIsBetter,
		{"s/requestsPerSecond", "1/s"}:              verdict.HigherIsBetter,
		{"custom/Serve/hits", "hits"}:               verdict.HigherIsBetter,
		{"custom/Serve/hits/average", ""}:           verdict.HigherIsBetter,
		{"custom/cost/a", "ms"}:                     verdict.HigherIsBetter,
		{"custom/Serve/skew", "s"}:                  verdict.LowerIsBetter,
		{"custom/Serve/lost per s", "req/s"}:        verdict.LowerIsBetter,
		{"custom/Serve/req per s", "req/s"}:         verdict.HigherIsBetter,
		{"custom/Serve/B per op", "B/op"}:           verdict.LowerIsBetter,
		{"custom/Serve/GC", "gc"}:                   verdict.UnknownDirection,
		{"custom/up{job=shop}/average", ""}:         verdict.UnknownDirection,
		{"custom/errors", "errors/s"}:               verdict.UnknownDirection,
		{"module/mod-users/cpu/average", "cores"}:   verdict.LowerIsBetter,
		{"postgres/primary/cacheHits/average", "%"}: verdict.HigherIsBetter,
	} {
		expect.Equal(t, want, asked.Direction(of[0], of[1]), "%s in %q", of[0], of[1])
	}
}

func TestGuards(t *testing.T) {
	usual := analysisplan.New(&v1alpha1.PerfExperimentSpec{})
	for metric, guard := range map[string]bool{
		"cico/Check-In/p95":            true,
		"cico/Check-In/errors":         true,
		"search/errors":                true,
		"cico/Check-In/p95@alone":      false,
		"cico/Check-In/average":        false,
		"cico/Check-In/GET /users/p95": false,
		"module/mod-users/cpu/average": false,

		"postgres/primary/connections/total/average":       true,
		"postgres/replica-1/connections/total/average":     true,
		"postgres/primary/connections/total/average@alone": false,
		"postgres/primary/connections/total/max":           false,
		"postgres/primary/connections/total":               false,
	} {
		expect.Equal(t, guard, usual.IsGuard(metric), "%s: guard", metric)
	}
	spec := &v1alpha1.PerfExperimentSpec{}
	spec.Analysis.Guards = []string{"cico/Check-In/p99"}
	if own := analysisplan.New(spec); own.IsGuard("cico/Check-In/p95") || !own.IsGuard("cico/Check-In/p99") {
		t.Error("guards that are named do not replace the usual ones")
	}
}

func TestHashDependsOnQuestion(t *testing.T) {
	base := analysisplan.New(&v1alpha1.PerfExperimentSpec{}).Hash()
	if base != "81bd4b06783676a1" {
		t.Errorf("a question without any settings has the hash %s, and a version before had another: running experiments would be analyzed again", base)
	}
	spelled := &v1alpha1.PerfExperimentSpec{Analysis: v1alpha1.Analysis{MarginPercent: 5, ConfidencePercent: 95}}
	if analysisplan.New(spelled).Hash() != base {
		t.Error("writing the defaults out makes another question")
	}
	for name, change := range map[string]func(*v1alpha1.PerfExperimentSpec){
		"metrics":    func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.Primary = []string{"a/b"} },
		"guards":     func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.Guards = []string{"a/b"} },
		"pairs":      func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.Comparisons = v1alpha1.PairsAll },
		"margin":     func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.MarginPercent = 3 },
		"confidence": func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.ConfidencePercent = 90 },
		"target":     func(s *v1alpha1.PerfExperimentSpec) { s.Design.Target = &v1alpha1.PrecisionTarget{HalfWidthPercent: 2} },
		"interim analyses": func(s *v1alpha1.PerfExperimentSpec) {
			s.Design.Target = &v1alpha1.PrecisionTarget{Verdicts: true, MaxBlocks: 20}
		},
		"lower": func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.LowerIsBetter = []string{"custom/a"} },
		"direction": func(s *v1alpha1.PerfExperimentSpec) {
			s.Measurement.Prometheus = &v1alpha1.Prometheus{Metrics: []v1alpha1.CustomMetric{{Name: "hits", HigherIsBetter: true}}}
		},
	} {
		changed := &v1alpha1.PerfExperimentSpec{}
		change(changed)
		if analysisplan.New(changed).Hash() == base {
			t.Errorf("another %s: the hash did not change", name)
		}
	}
}
