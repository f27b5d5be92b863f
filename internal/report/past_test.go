// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/audit"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// withPast is an experiment with that many earlier ones, and their history; the last four and the
// experiment itself take 10 % longer.
func withPast(t *testing.T, earlier int) report.Input {
	t.Helper()
	var before []regression.Earlier
	for n := range earlier + 1 {
		truth := recorded.Truth{
			Seed: uint64(n), Blocks: 6, Baseline: 400, Spread: 0.01, Users: 8, Image: "docker.io/folioorg/mod-circulation:24.3.1", Arms: map[string]float64{"small": 1.2},
			Began: time.Date(2025, time.January, 1, 8, 0, 0, 0, time.UTC).AddDate(0, n, 0),
		}
		if n >= earlier-4 && earlier > 10 {
			truth.Baseline, truth.Image = 440, "docker.io/folioorg/mod-circulation:24.4.0"
		}
		experiment, runs := truth.Draw()
		experiment.Namespace, experiment.Name, experiment.UID = "lab", fmt.Sprintf("release-%d", n+1), types.UID(fmt.Sprint(n))
		experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("%d.%d", 2025+n/12, n%12+1)}
		experiment.Spec.Analysis.Primary, experiment.Spec.Analysis.MarginPercent = []string{recorded.CheckIn, recorded.CheckOut}, 3
		for i := range runs {
			runs[i].Namespace, runs[i].Name, runs[i].Spec.Experiment = "lab", fmt.Sprintf("%s-%d", experiment.Name, i), experiment.Name
		}
		this, err := releases.Measure(releases.ExperimentRuns{Experiment: experiment, Runs: runs})
		expect.NoError(t, err)
		if n < earlier {
			before = append(before, regression.Earlier{Measurements: this})
			continue
		}
		history, changes, err := regression.Detect(this, before)
		expect.NoError(t, err)
		kept, err := regression.NewConfigMap(experiment, this, history, changes)
		expect.NoError(t, err)
		return report.Input{Experiment: *experiment, Runs: runs, History: kept}
	}
	panic("never")
}

func markdownOf(t *testing.T, input report.Input) string {
	t.Helper()
	made, err := report.New(input)
	expect.NoError(t, err)
	return string(made.Markdown("charts"))
}

func TestAgainstThePast(t *testing.T) {
	input := withPast(t, 19)
	page := markdownOf(t, input)
	expect.Contains(t, page, []string{
		"## This release against the last 10", "The false-positive rate is 5 % in all 4 series together, over 20 analyses",
		"**Worse**", "rose by", "between 2026.3 and 2026.4", `modules\[mod-users\].image changed`,
		"docker.io/folioorg/mod-circulation:24.3.1 → docker.io/folioorg/mod-circulation:24.4.0",
		"```console\nperflab bisect release-15 release-16 -n lab\n```", "2026.8 (this)", "Delta to this release, %",
	}, "the page")
	rows, err := audit.ReadMarkdown(strings.NewReader(page))
	expect.NoError(t, err)
	for _, finding := range audit.Check(rows) {
		if finding.Outcome.IsError() {
			t.Errorf("%+v", finding)
		}
	}
	made, err := report.New(input)
	expect.NoError(t, err)
	html, errPage := made.HTML()
	wiki, errWiki := made.Confluence(true)
	if errPage != nil || errWiki != nil {
		t.Fatal(errPage, errWiki)
	}
	for name, written := range map[string][]byte{"HTML": html, "Confluence": wiki} {
		if !strings.Contains(string(written), "This release against the last 10") || !strings.Contains(string(written), "2026.8 (this)") {
			t.Errorf("%s lacks the section", name)
		}
	}
	if to := os.Getenv("PERFLAB_PAGE"); to != "" {
		expect.NoError(t, os.WriteFile(to, html, 0o600))
	}
}

// An export contains the data of the section.
func TestThePastIsExported(t *testing.T) {
	input := withPast(t, 3)
	var written bytes.Buffer
	expect.NoError(t, report.Write(&written, input))
	read, err := report.Read(&written)
	if err != nil || len(read) != 1 {
		t.Fatalf("%d experiments, %v", len(read), err)
	}
	if want, got := markdownOf(t, input), markdownOf(t, read[0]); want != got || !strings.Contains(got, "## This release against the last 3") {
		t.Errorf("after an export the page is another:\n%s", got)
	}
	read[0].History = nil
	if page := markdownOf(t, read[0]); strings.Contains(page, "This release against") {
		t.Error("the section comes from elsewhere")
	}
}

// Deltas follow from the printed numbers beside them.
func TestDeltasToThePast(t *testing.T) {
	page := markdownOf(t, withPast(t, 3))
	var this float64
	type told struct{ center, delta float64 }
	var rows []told
	for _, line := range strings.Split(page[strings.Index(page, "## This release against"):], "\n") {
		cells := strings.Split(strings.ReplaceAll(line, "−", "-"), " | ")
		var one told
		if len(cells) < 5 {
			continue
		}
		if _, err := fmt.Sscan(cells[2], &one.center); err != nil {
			continue
		}
		if strings.Contains(line, "(this)") {
			this = one.center
			break
		}
		if _, err := fmt.Sscan(cells[4], &one.delta); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, one)
	}
	if len(rows) != 3 || this == 0 {
		t.Fatalf("%d rows before this one\n%s", len(rows), page)
	}
	for _, row := range rows {
		if want := 100 * (this/row.center - 1); row.delta-want > 0.0501 || want-row.delta > 0.0501 {
			t.Errorf("%v against %v is told as %v %%", this, row.center, row.delta)
		}
	}
}

func TestWithoutAPast(t *testing.T) {
	for name, earlier := range map[string]int{"the first": 0, "the second": 1} {
		if page := markdownOf(t, withPast(t, earlier)); strings.Contains(page, "This release against") {
			t.Errorf("%s has a past", name)
		}
	}
	// Stored history may come from an untrusted file.
	for _, text := range []string{
		"", `{"version":"perflab.dev/history/v1","series":[{"arm":"nobody","points":[{},{},{}]}]}`,
		`{"version":"perflab.dev/history/v1","series":[{"arm":"base","points":[{"experiment":"x"},{},{"experiment":"y"}]}]}`,
	} {
		input := withPast(t, 3)
		input.History.Data[regression.KeyHistory] = text
		made, err := report.New(input)
		if text == "" && err == nil || text != "" && err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil {
			continue
		}
		if page := made.Markdown(""); strings.Contains(string(page), "This release against") {
			t.Errorf("%q: %s", text, page)
		}
	}
}

// historyWith has 14 releases; the last ones take 10 % longer.
func historyWith(t *testing.T, slower int) *releases.History {
	t.Helper()
	var all []releases.Measurements
	for i := range 14 {
		truth := recorded.Truth{
			Seed: uint64(i), Blocks: 6, Baseline: 400, Spread: 0.01, Users: 8, Image: "users:1", Arms: map[string]float64{"<small>": 1.3},
			Began: time.Date(2026, time.January, 1+14*i, 8, 0, 0, 0, time.UTC),
		}
		if i >= 14-slower {
			truth.Baseline, truth.Image = 440, "users:2"
		}
		experiment, runs := truth.Draw()
		experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("2026.%d", i+1)}
		experiment.Spec.Analysis.Primary = []string{recorded.CheckIn}
		one, err := releases.Measure(releases.ExperimentRuns{Experiment: experiment, Runs: runs})
		expect.NoError(t, err)
		all = append(all, one)
	}
	history, err := releases.NewHistory(all, releases.Options{})
	expect.NoError(t, err)
	return history
}

func TestOfReleases(t *testing.T) {
	page, err := report.OfReleases(historyWith(t, 6)).HTML()
	expect.NoError(t, err)
	expect.Contains(t, string(page), []string{
		"2 changes were found; in 2 of 2 series, the latest change is a regression.", "Check-In average response time under cico",
		"&lt;small&gt;", `<span class="verdict worse">Worse</span>`, "between 2026.8 and 2026.9", "modules[mod-users].image: users:1 → users:2",
		"stroke-dasharray", "in all 2 series together", "2026.14",
	})
	if strings.Contains(string(page), "<small>") {
		t.Error("an arm's name is an element of the page")
	}
}

func TestOfReleasesWithoutChange(t *testing.T) {
	page, err := report.OfReleases(historyWith(t, 0)).HTML()
	expect.NoError(t, err)
	if text := string(page); !strings.Contains(text, "No change was found.") || strings.Contains(text, `id="changes"`) {
		t.Error("a history without change tells of one")
	}
}
