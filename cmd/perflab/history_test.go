// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// releasesFile is the documentation's example of a history.
const releasesFile = "testdata/releases.yaml.gz"

// twoYears are synthetic releases: from the ninth on check-ins and check-outs
// take 7 % longer, with another image of the only module.
func twoYears() []report.Input {
	var all []report.Input
	for i := range 12 {
		truth := recorded.Truth{
			Seed: uint64(i + 1), Blocks: 6, Baseline: 412, Spread: 0.015, Users: 8, Image: "folioorg/mod-circulation:24.3.1",
			Arms: map[string]float64{"small": 1.04}, Began: time.Date(2025, time.January+time.Month(2*i), 3, 8, 0, 0, 0, time.UTC),
		}
		if i >= 8 {
			truth.Baseline, truth.Image = truth.Baseline*1.07, "folioorg/mod-circulation:24.4.0"
		}
		experiment, runs := truth.Draw()
		experiment.APIVersion, experiment.Kind = v1alpha1.GroupVersion.String(), "PerfExperiment"
		experiment.Namespace = "lab"
		experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("%d.%d", 2025+i/6, i%6+1)}
		experiment.Spec.Arms = []v1alpha1.Arm{{Name: recorded.Base, Baseline: true}, {Name: "small"}}
		experiment.Spec.Design.Blocks = int32(truth.Blocks)
		experiment.Spec.Analysis.Primary = []string{recorded.CheckIn, recorded.CheckOut}
		for j := range runs {
			runs[j].Namespace, runs[j].Spec.Experiment = experiment.Namespace, experiment.Name
			runs[j].Spec.System.Modules[0].Name = "mod-circulation"
			runs[j].Labels = map[string]string{v1alpha1.LabelExperiment: experiment.Name}
		}
		all = append(all, report.Input{Experiment: *experiment, Runs: runs})
	}
	return all
}

// writeReleases writes them compressed.
func writeReleases(t *testing.T) {
	t.Helper()
	var text, packed bytes.Buffer
	for _, input := range twoYears() {
		expect.NoError(t, report.Write(&text, input))
	}
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	expect.NoError(t, err)
	if _, err := writer.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	expect.NoError(t, writer.Close())
	expect.NoError(t, os.WriteFile(releasesFile, packed.Bytes(), 0o644))
}

func TestHistory(t *testing.T) {
	if *update {
		writeReleases(t)
	}
	got := perflab(t, "", "history", releasesFile)
	got.ends(0).shows(
		"Check-In average response time under cico in arm base", "Check-Out average response time under cico in arm small",
		"2025.1", "2026.6", "▁", "█", "Worse +", "rose by", "between 2026.2 and 2026.3: Worse.", "1 recorded difference:",
		"- modules[mod-circulation].image: folioorg/mod-circulation:24.3.1 → folioorg/mod-circulation:24.4.0",
		"The false-positive rate is 5 % in all 4 series together",
	)
	one := perflab(t, "", "history", releasesFile, "--arm", "small", "--metric", recorded.CheckIn, "-o", "markdown")
	if one.code != 0 || !strings.Contains(one.out, "| 2025.1 |") || strings.Contains(one.out, "Check-Out") || strings.Contains(one.out, "arm base") {
		t.Errorf("exit code %d: %s%s", one.code, one.out, one.problems)
	}
}

func TestHistoryFailsOnRegression(t *testing.T) {
	got := perflab(t, "", "history", releasesFile, "--fail-on", "regression")
	got.ends(exit.Regression).shows("rose by").warns(`in arm "base"`)
	// The old releases alone have no regression.
	folder := t.TempDir()
	for _, input := range twoYears()[:8] {
		var out bytes.Buffer
		expect.NoError(t, report.Write(&out, input))
		expect.NoError(t, os.WriteFile(filepath.Join(folder, input.Experiment.Name+".yaml"), out.Bytes(), 0o644))
	}
	if got := perflab(t, "", "history", folder, "--fail-on", "regression"); got.code != 0 || strings.Contains(got.out, "Worse") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

func TestHistoryAsJSON(t *testing.T) {
	got := perflab(t, "", "history", releasesFile, "-o", "json")
	var read struct {
		ErrorRatePercent float64
		Series           []struct {
			Points  []struct{ Values []float64 }
			Changes []struct {
				From, To, Verdict string
				Delta             *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(got.out), &read); err != nil || got.code != 0 {
		t.Fatalf("exit code %d, %v: %s", got.code, err, got.problems)
	}
	if len(read.Series) != 4 || read.ErrorRatePercent != 5 {
		t.Fatalf("%+v", read)
	}
	for _, series := range read.Series {
		if len(series.Points) != 12 || len(series.Points[0].Values) != 6 || len(series.Changes) != 1 || series.Changes[0].From != "2026.2" || series.Changes[0].Verdict != "Worse" {
			t.Errorf("%+v", series)
		}
	}
}

func TestHistoryRefuses(t *testing.T) {
	for want, arguments := range map[string][]string{
		"must be from 0.1 to 50 percent": {releasesFile, "--error-rate", "0"},
		`use "regression"`:               {releasesFile, "--fail-on", "worse"},
		"must be from 1 to 100":          {releasesFile, "--analyses", "0"},
		"write -o":                       {releasesFile, "-o", "pdf"},
		"no such file":                   {"absent.yaml"},
		"no history":                     {releasesFile, "--arm", "huge"},
		"no PerfExperiment found":        {exportedTextTo(t, "kind: List\napiVersion: v1\nitems: []\n")},
	} {
		got := perflab(t, "", append([]string{"history"}, arguments...)...)
		if got.code == 0 || !strings.Contains(got.problems, want) {
			t.Errorf("%v: exit code %d, %q, want %q", arguments, got.code, got.problems, want)
		}
	}
}

// -A includes experiments of other namespaces.
func TestHistoryOfAllNamespaces(t *testing.T) {
	empty := measured(t).other(t)
	empty.perflab(t, "", "history").ends(exit.Failed).warns("no experiment has a complete block")
	empty.must(t, "", "history", "-A").shows("geometric mean")
	for _, arguments := range [][]string{{"history", "-A", "lab/heap"}, {"history", "-A", "--archive", "file:///archive", "lab"}} {
		perflab(t, "", arguments...).ends(exit.Failed).warns("-A selects all experiments of the cluster")
	}
}
