// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/cmd/perflab/record"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// withEvidence is an experiment of one block with digests.
func withEvidence(t *testing.T) report.Input {
	t.Helper()
	input := recorded.WithEvidence(1)
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block > 1 })
	input.Raw = slices.DeleteFunc(input.Raw, func(raw corev1.ConfigMap) bool {
		return !slices.ContainsFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Name == raw.Labels[v1alpha1.LabelRun] })
	})
	input.Experiment.Status.Report = naming.Report(recorded.Name)
	keepDigests(t, &input)
	return input
}

// keepDigests writes the manifest of the recorded objects.
func keepDigests(t *testing.T, input *report.Input) {
	t.Helper()
	history, err := evidence.HistoryDigest(input.History)
	expect.NoError(t, err)
	text, err := evidence.NextManifest("", &input.Experiment, input.Runs, evidence.Stage{Blocks: 1, Ended: true}, history)
	expect.NoError(t, err)
	input.Manifest.Data[evidence.Key] = text
	input.Experiment.Status.Evidence.SHA256, input.Experiment.Status.Evidence.Report = evidence.Sum([]byte(text)), evidence.Sum(nil)
}

// withHistory adds the stored history.
func withHistory(t *testing.T, input report.Input) report.Input {
	t.Helper()
	this, err := releases.Measure(releases.ExperimentRuns{Experiment: &input.Experiment, Runs: input.Runs})
	expect.NoError(t, err)
	if input.History, err = regression.NewConfigMap(&input.Experiment, this, nil, nil); err != nil {
		t.Fatal(err)
	}
	return input
}

// stored applies the API server's defaults.
func stored(t *testing.T, at *place, input report.Input) report.Input {
	t.Helper()
	at.must(t, written(t, input), "import", "-f", "-")
	read, err := report.Read(strings.NewReader(at.must(t, "", "export", recorded.Name).out))
	expect.NoError(t, err)
	keepDigests(t, &read[0])
	return read[0]
}

func TestVerifyFile(t *testing.T) {
	input := withEvidence(t)
	file, digest := written(t, input), input.Experiment.Status.Evidence.SHA256
	got := perflab(t, file, "verify", "-", "--digest", digest)
	want := `
Experiment lab/maxram-vs-xmx, at the end of 1 complete block
  link         checked       outcome
  manifest     1 manifest    matches
  experiment   1 experiment  matches
  plan         1 plan        matches
  record       6 runs        match
  raw results  6 ConfigMaps  match
  samples      6 ConfigMaps  match
  answer       1 answer      matches
  note: the stored report was not verified

SHA-256 of the manifest: ` + digest + "\n"
	if got.code != 0 || got.out != want {
		t.Errorf("exit code %d, %s; it says\n%swant\n%s", got.code, got.problems, got.out, want)
	}
	path := filepath.Join(t.TempDir(), "record.yaml")
	expect.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	if again := perflab(t, "", "verify", path); again.code != 0 || again.out != want {
		t.Errorf("of the same file it says\n%s%s", again.out, again.problems)
	}
}

// The page on records shows the current output of perflab verify.
func TestDocumentationOfVerify(t *testing.T) {
	page, err := os.ReadFile("../../docs/records.md")
	expect.NoError(t, err)
	got := perflab(t, written(t, recorded.WithEvidence(20)), "verify", "-")
	shown, _, _ := strings.Cut(strings.TrimPrefix(got.out, "\n"), "\nSHA-256")
	if got.code != 0 || !strings.Contains(string(page), shown+"```") {
		t.Errorf("exit code %d: docs/records.md does not show\n%s", got.code, shown)
	}
}

func TestVerifyNamesBrokenLinks(t *testing.T) {
	input := withEvidence(t)
	input.Raw[2].BinaryData["samples"] = []byte("others")
	input.Runs[1].Status.Observations[0].Value = "0.1"
	changed, raw := `record: PerfRun "`+input.Runs[1].Name+`": expected `, `ConfigMap "`+input.Raw[2].Name+`" of run "`
	first := perflab(t, written(t, input), "verify", "-")
	if first.code != exit.DigestMismatch || strings.Count(first.out, ": expected ") != 1 || !strings.Contains(first.problems, "the digests do not match: ") {
		t.Errorf("exit code %d: %s\n%s", first.code, first.problems, first.out)
	}
	every := perflab(t, written(t, input), "verify", "-", "--all")
	every.ends(exit.DigestMismatch).shows(changed, raw, "1 of 6 do not match", "1 of 6 do not match")
	var document record.VerifiedJSON
	asJSON := perflab(t, written(t, input), "verify", "-", "--all", "-o", "json")
	expect.NoError(t, json.Unmarshal([]byte(asJSON.out), &document))
	if asJSON.code != exit.DigestMismatch || document.Holds || len(document.Broken) != 2 || document.SHA256 != input.Experiment.Status.Evidence.SHA256 || len(document.Links) != 7 {
		t.Errorf("exit code %d: %s", asJSON.code, asJSON.out)
	}
}

func TestVerifyProblems(t *testing.T) {
	input := withEvidence(t)
	later := withEvidence(t)
	text := strings.Replace(later.Manifest.Data[evidence.Key], evidence.Format, "perflab.dev/evidence/v9", 1)
	later.Manifest.Data[evidence.Key], later.Experiment.Status.Evidence.SHA256 = text, evidence.Sum([]byte(text))
	for name, tc := range map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"NoChain":     {written(t, recorded.Experiment(1)), nil, exit.NoChain, `experiment "lab/maxram-vs-xmx": it has no manifest of digests: none of its blocks is complete yet, or`},
		"OtherDigest": {written(t, input), []string{"--digest", strings.Repeat("0", 64)}, exit.DigestMismatch, "against the published digest: expected 0000"},
		"NoDigest":    {written(t, input), []string{"--digest", "4f0e"}, exit.Failed, `--digest "4f0e": write the 64 hexadecimal digits`},
		"Format":      {written(t, input), []string{"-o", "html"}, exit.Failed, "write -o table, -o markdown or -o json"},
		"Later":       {written(t, later), nil, exit.Invalid, "use a newer version"},
		"NoObjects":   {"kind: List\napiVersion: v1\nitems: []\n", nil, exit.Invalid, "no PerfExperiment found"},
		"Several":     {written(t, input) + "---\napiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: a, namespace: b}\n", nil, exit.Failed, "has 2 experiments"},
	} {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, tc.in, append([]string{"verify", "-"}, tc.arguments...)...)
			got.ends(tc.code).warns(tc.want)
		})
	}
}

// An imported experiment keeps its chain, through an API server and back.
func TestVerifyImport(t *testing.T) {
	home := measured(t)
	archive, input := home.other(t), stored(t, home.other(t), withHistory(t, withEvidence(t)))
	digest := input.Experiment.Status.Evidence.SHA256
	archive.must(t, written(t, input), "import", "-f", "-")
	got := archive.must(t, "", "verify", recorded.Name, "--digest", digest)
	if !strings.Contains(got.out, "record       6 runs        match\n") || !strings.Contains(got.out, "history      1 ConfigMap   matches\n") || !strings.Contains(got.out, "report       1 report      matches\n") || strings.Contains(got.out, "note:") {
		t.Errorf("it says\n%s", got.out)
	}
	again := perflab(t, archive.must(t, "", "export", recorded.Name).out, "verify", "-", "--digest", digest)
	again.ends(0)
	for _, forge := range map[string]struct {
		do   func(t *testing.T)
		want string
	}{
		"Run": {func(t *testing.T) {
			run := &v1alpha1.PerfRun{}
			archive.get(t, input.Runs[0].Name, run)
			run.Status.Observations[0].Value = "0.1"
			expect.NoError(t, archive.client.Status().Update(t.Context(), run))
		}, `record: PerfRun "` + input.Runs[0].Name + `"`},
		"History": {func(t *testing.T) {
			kept := &corev1.ConfigMap{}
			archive.get(t, naming.History(recorded.Name), kept)
			kept.Data["changes.json"] += " "
			expect.NoError(t, archive.client.Update(t.Context(), kept))
		}, `history: ConfigMap "maxram-vs-xmx-history"`},
		"Report": {func(t *testing.T) {
			page := &corev1.ConfigMap{}
			archive.get(t, naming.Report(recorded.Name), page)
			page.Data[report.KeyMarkdown] += "Better.\n"
			expect.NoError(t, archive.client.Update(t.Context(), page))
		}, `report: ConfigMap "maxram-vs-xmx-report"`},
	} {
		forge.do(t)
		archive.perflab(t, "", "verify", archive.namespace+"/"+recorded.Name, "--all").ends(exit.DigestMismatch).shows(forge.want)
	}
}

func (p *place) get(t *testing.T, name string, object client.Object) {
	t.Helper()
	expect.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, object))
}
