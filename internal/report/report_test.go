// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// seed of the recorded experiment.
const seed = 20

// formats of the report.
var formats = map[string]func(*report.Report) ([]byte, error){
	"report.md":         func(r *report.Report) ([]byte, error) { return r.Markdown("charts"), nil },
	"report.html":       (*report.Report).HTML,
	"report.confluence": func(r *report.Report) ([]byte, error) { return r.Confluence(true) },
}

func reportOf(t *testing.T, input report.Input) *report.Report {
	t.Helper()
	result, err := report.New(input)
	expect.NoError(t, err)
	return result
}

func written(t *testing.T, r *report.Report, format string) string {
	t.Helper()
	page, err := formats[format](r)
	expect.NoError(t, err)
	return string(page)
}

func TestGoldenFiles(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Experiment.Status.Evidence = &v1alpha1.ExperimentEvidence{Manifest: "maxram-vs-xmx-evidence", SHA256: strings.Repeat("0123456789abcdef", 4)}
	r := reportOf(t, input)
	for name := range formats {
		golden(t, name, withoutScripts(written(t, r, name)))
	}
	_, past, _ := strings.Cut(markdownOf(t, withPast(t, 19)), "## This release")
	past, _, _ = strings.Cut(past, "\n## ")
	golden(t, "past.md", "## This release"+past+"\n")
}

// golden compares a page with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	expect.NoError(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

// withoutScripts removes the scripts of a page, which are the same in all pages and have their
// own tests.
func withoutScripts(page string) string {
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(page, "<script>…</script>")
	return regexp.MustCompile(`script-src .*?; img-src`).ReplaceAllString(page, "script-src …; img-src")
}

// The same objects give the same bytes, in any order.
func TestReportDoesNotDependOnTheOrderOfRuns(t *testing.T) {
	input := recorded.Experiment(seed)
	r := reportOf(t, input)
	slices.Reverse(input.Runs)
	slices.Reverse(input.Raw)
	other := reportOf(t, input)
	for name := range formats {
		if diff := cmp.Diff(written(t, r, name), written(t, other, name)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestExportComesBack(t *testing.T) {
	input := recorded.Experiment(seed)
	var out bytes.Buffer
	expect.NoError(t, report.Write(&out, input))
	inputs, err := report.Read(&out)
	if err != nil || len(inputs) != 1 || len(inputs[0].Runs) != len(input.Runs) || len(inputs[0].Raw) != len(input.Raw) {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	r, again := reportOf(t, input), reportOf(t, inputs[0])
	for name := range formats {
		if diff := cmp.Diff(written(t, r, name), written(t, again, name)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestRead(t *testing.T) {
	const list = `{"apiVersion": "v1", "kind": "List", "items": [
		{"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfRun", "metadata": {"name": "r", "namespace": "n"}, "spec": {"experiment": "a"}},
		{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
		{"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfExperiment", "metadata": {"name": "b", "namespace": "n"}},
		{"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfExperiment", "metadata": {"name": "a", "namespace": "n"}}]}`
	inputs, err := report.Read(strings.NewReader(list))
	if err != nil || len(inputs) != 2 || inputs[0].Experiment.Name != "a" || len(inputs[0].Runs) != 1 || len(inputs[1].Runs) != 0 {
		t.Errorf("%+v, %v", inputs, err)
	}
	const experiment = "apiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: a}\n"
	for name, tc := range map[string]struct{ in, want string }{
		"Nothing": {"", "no PerfExperiment found"},
		"Broken":  {"a: [", "document 1 can't be read"},
		"Twice":   {experiment + "---\n" + experiment, `duplicate PerfExperiment "a" in namespace ""`},
		"Type":    {experiment + "spec: {arms: 3}\n", `reading PerfExperiment "a"`},
	} {
		_, err := report.Read(strings.NewReader(tc.in))
		if !errors.Is(err, report.ErrInput) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestProblemsOfRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		break_ func(*report.Input)
		want   string
	}{
		"Twice": {func(input *report.Input) { input.Runs = append(input.Runs, input.Runs[0]) }, "has two valid runs"},
		"Raw":   {func(input *report.Input) { input.Raw[0].BinaryData = map[string][]byte{"cico": []byte("x")} }, "raw results of run"},
	} {
		input := recorded.Experiment(seed)
		tc.break_(&input)
		if _, err := report.New(input); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// A page with unreadable values is written and names them, whether they come from the status or
// the raw results.
func TestValuesThatCannotBeReadAreNamed(t *testing.T) {
	input := recorded.Experiment(seed)
	run := &input.Runs[0]
	run.Status.Observations[0].Value = "fast"
	kept, err := json.Marshal([]v1alpha1.Observation{{Metric: "cico/odd/p95", Value: "NaN"}})
	expect.NoError(t, err)
	other := &input.Runs[1]
	for i := range input.Raw {
		if raw := &input.Raw[i]; raw.Name == naming.RawResults(other.Name) {
			raw.BinaryData[naming.RawObservations] = kept
		}
	}
	page := belowCard(t, input)
	for _, want := range []string{`A value of run "` + run.Name + `" is omitted: `, `reading "fast" as a number`, `A value of run "` + other.Name + `" is omitted: metric "cico/odd/p95"`} {
		if strings.Count(page, want) != 1 {
			t.Errorf("the report says %q %d times, want once", want, strings.Count(page, want))
		}
	}
}

func TestCSVIsWhatAnalyzeReads(t *testing.T) {
	rows, err := reportOf(t, recorded.Experiment(seed)).CSV()
	expect.NoError(t, err)
	table, err := comparison.ReadCSV(bytes.NewReader(rows))
	expect.NoError(t, err)
	compared, err := table.Compare(comparison.Options{Baseline: recorded.Baseline, MarginPercent: 5, ConfidencePercent: 95})
	if err != nil || len(compared) == 0 {
		t.Errorf("%d comparisons, %v", len(compared), err)
	}
}

// A page refers to nothing outside, and its charts and tables have labels.
func TestHTMLStandsAlone(t *testing.T) {
	root, err := html.Parse(strings.NewReader(written(t, reportOf(t, recorded.Experiment(seed)), "report.html")))
	expect.NoError(t, err)
	counts := map[string]int{}
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		counts[node.Data]++
		if slices.Contains([]string{"link", "img", "iframe", "object", "embed", "base", "form"}, node.Data) || node.Data == "script" && has(node, "src") {
			t.Errorf("there is a <%s>", node.Data)
		}
		for _, attribute := range node.Attr {
			isLink := slices.Contains([]string{"href", "src", "xlink:href", "action"}, attribute.Key)
			if isLink && !strings.HasPrefix(attribute.Val, "#") || strings.Contains(attribute.Val, "url(") || strings.HasPrefix(attribute.Key, "on") {
				t.Errorf("<%s %s=%q> reaches out of the page", node.Data, attribute.Key, attribute.Val)
			}
		}
		if node.Data == "style" && regexp.MustCompile(`url\(|@import|https?:`).MatchString(node.FirstChild.Data) {
			t.Error("the style sheet reaches out of the page")
		}
		if node.Data == "svg" && !has(node, "aria-label") {
			t.Error("a chart without a text")
		}
		if node.Data == "th" && !has(node, "scope") {
			t.Error("a table's header without a scope")
		}
	}
	if counts["svg"] < 6 || counts["table"] < 12 || counts["caption"] != counts["table"] {
		t.Errorf("%v", counts)
	}
}

// isOurs reports whether a script is data, or allowed by the page's policy.
func isOurs(node *html.Node) bool {
	if node.FirstChild == nil {
		return false
	}
	text := node.FirstChild.Data
	return has(node, "type") && json.Valid([]byte(text)) || isAllowed(text)
}

// isAllowed reports whether the page's policy has the digest of a script.
func isAllowed(script string) bool {
	digest := sha256.Sum256([]byte(script))
	return strings.Contains(report.Policy(), base64.StdEncoding.EncodeToString(digest[:]))
}

func has(node *html.Node, key string) bool {
	return slices.ContainsFunc(node.Attr, func(attribute html.Attribute) bool { return attribute.Key == key && attribute.Val != "" })
}

func TestConfluenceAndChartsAreXML(t *testing.T) {
	r := reportOf(t, recorded.Experiment(seed))
	page := `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">` + written(t, r, "report.confluence") + "</page>"
	attached := wellFormed(t, "confluence", page)
	for name, picture := range r.Charts() {
		wellFormed(t, name, string(picture))
		if !slices.Contains(attached, name) {
			t.Errorf("the page does not show %s", name)
		}
	}
	if len(attached) != len(r.Charts()) {
		t.Errorf("%d charts are shown, %d are there", len(attached), len(r.Charts()))
	}
}

// wellFormed fails for a text that is not XML, and returns the files it refers to.
func wellFormed(t *testing.T, name, text string) (files []string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			line, _ := decoder.InputPos()
			t.Fatalf("%s, line %d: %v", name, line, err)
		}
		if start, is := token.(xml.StartElement); is && start.Name.Local == "attachment" {
			files = append(files, start.Attr[0].Value)
		}
	}
}

// Names are untrusted; they must not act as markup.
func TestNamesAreNoMarkup(t *testing.T) {
	const evil = `<img src=x onerror=alert(1)>|**b**` + "`" + `"&'</svg><script>` + "\x1b[31m\x01\u202e"
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Phase == v1alpha1.RunInvalid {
			run.Status.Message = evil
			continue
		}
		for j := range run.Status.Observations {
			observation := &run.Status.Observations[j]
			observation.Metric = strings.ReplaceAll(observation.Metric, "Check-In", evil)
		}
	}
	input.Experiment.Spec.Analysis.Primary = []string{"cico/" + evil + "/average"}
	input.Experiment.Spec.Scenarios[0].Loads[0].DataImport.JobProfile = evil
	r := reportOf(t, input)
	page := written(t, r, "report.html")
	root, err := html.Parse(strings.NewReader(page))
	expect.NoError(t, err)
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && (node.Data == "img" || node.Data == "script" && !isOurs(node)) {
			t.Errorf("a name became a <%s>", node.Data)
		}
	}
	wellFormed(t, "confluence", `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">`+written(t, r, "report.confluence")+"</page>")
	text, _, _ := strings.Cut(written(t, r, "report.md"), "\n```yaml\n")
	if strings.Contains(text, "<img") || strings.Contains(text, "<script") {
		t.Error("a name became HTML in Markdown")
	}
	for name, picture := range r.Charts() {
		wellFormed(t, name, string(picture))
	}
}

// Imported objects did not pass this cluster's validation: names of any characters stay distinct
// and harm neither the folder of the charts nor spreadsheets.
func TestForeignNamesDoNoHarm(t *testing.T) {
	const scenario, arm = "../../create\x00", "=cmd|' /C calc'!A1"
	text, err := json.Marshal(recorded.Experiment(seed))
	expect.NoError(t, err)
	var input report.Input
	expect.NoError(t, json.Unmarshal([]byte(foreign(t, string(text), map[string]string{"create-5k-under-cico": scenario, "xmx-twin": arm})), &input))
	r := reportOf(t, input)
	attached := wellFormed(t, "confluence", `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">`+written(t, r, "report.confluence")+"</page>")
	for name, picture := range r.Charts() {
		wellFormed(t, name, string(picture))
		if !regexp.MustCompile(`^[A-Za-z0-9-]+\.svg$`).MatchString(name) || !slices.Contains(attached, name) {
			t.Errorf("a chart is called %q, and the page shows %q", name, attached)
		}
	}
	before := reportOf(t, recorded.Experiment(seed))
	if got, want := len(r.Charts()), len(before.Charts()); got != want {
		t.Errorf("%d charts, want %d: two have one name", got, want)
	}
	for name := range formats {
		if page := written(t, r, name); strings.ContainsAny(page, "\x00\x1b") {
			t.Errorf("%s holds characters that steer", name)
		}
	}
	rows, err := r.CSV()
	expect.NoError(t, err)
	if bytes.Contains(rows, []byte("\n=")) || bytes.Contains(rows, []byte(",=")) || !bytes.Contains(rows, []byte(",'"+arm+",")) {
		t.Errorf("the CSV has formulas:\n%.500s", rows)
	}
	// The CSV is read back unchanged.
	table, err := comparison.ReadCSV(bytes.NewReader(rows))
	expect.NoError(t, err)
	if _, err := table.Compare(comparison.Options{Baseline: arm, MarginPercent: 5, ConfidencePercent: 95}); err != nil {
		t.Error(err)
	}
}

// foreign replaces names in JSON.
func foreign(t *testing.T, text string, names map[string]string) string {
	t.Helper()
	for before, after := range names {
		encoded, err := json.Marshal(after)
		expect.NoError(t, err)
		text = strings.ReplaceAll(text, before, strings.Trim(string(encoded), `"`))
	}
	return text
}

func TestSecretsAreLeftOut(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		spec, password, replicas := &input.Runs[i].Spec, "hunter2", int32(1)
		if spec.Arm == input.Experiment.Status.Arms[1].Name {
			password, replicas = "hunter3", 2719
		}
		spec.System.Modules = append(slices.Clone(spec.System.Modules), v1alpha1.Module{
			Name: "mod-authtoken", Replicas: &replicas, Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: password}},
		})
	}
	input.Experiment.Spec.Measurement.Prometheus = &v1alpha1.Prometheus{URL: "http://scraper:hunter4@prometheus:9090"}
	r := reportOf(t, input)
	for name := range formats {
		page := written(t, r, name)
		for _, secret := range []string{"folio_admin_pw", "hunter2", "hunter3", "hunter4"} {
			if strings.Contains(page, secret) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
		expect.Contains(t, page, []string{"env DB", "2719"})
	}
}

// Differences between arms come from their runs, which have all of them, or without runs from the
// status, which is bounded.
func TestWhatAnArmWithoutRunsSets(t *testing.T) {
	input := recorded.Experiment(seed)
	changed := &input.Experiment.Status.Arms[1]
	changed.Differences = []v1alpha1.Difference{{Setting: "postgres.parameters.work_mem", Baseline: "4MB", Arm: "8MB"}}
	changed.MoreDifferences = 7
	fromStatus := []string{"postgres.parameters.work", "and 7 more"}
	if page := written(t, reportOf(t, input), "report.md"); containsAny(page, fromStatus) {
		t.Error("the status is believed, and not the runs")
	}
	input.Runs = slices.DeleteFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Arm == changed.Name })
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, fromStatus, "the report")
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func TestUncalibratedExperimentGivesNoAdvice(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		for j := range input.Runs[i].Status.Observations {
			observation := &input.Runs[i].Status.Observations[j]
			if input.Runs[i].Spec.Arm == recorded.Twin && observation.Metric == "create-5k/duration" {
				observation.Value = "1" + observation.Value
			}
		}
	}
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{"The experiment is not calibrated", "The baseline differs from its A/A control", "all verdicts are withheld"})
	for _, unwanted := range []string{"Prefer ", "Raising design.blocks", "**Worse**"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("it says %q", unwanted)
		}
	}
}

// The page reports a weakness of the design once.
func TestDoubtsAreToldOnce(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Design.Blocks = 2
	input.Experiment.Spec.Design.Order = v1alpha1.OrderFixed
	input.Experiment.Status.Warnings = []string{
		"2 blocks give results, but no verdict: raise design.blocks to 6, now or later",
		"in a fixed order of runs, any change over time looks like an effect of the arms: set design.order to Randomized to compare them",
		"what nothing else says",
	}
	input.Experiment.Status.DesignWarnings = input.Experiment.Status.Warnings[:2]
	page := belowCard(t, input)
	for _, want := range []string{"2 blocks are too few for a verdict", "The order of the runs was fixed", "What nothing else says."} {
		if strings.Count(page, want) != 1 {
			t.Errorf("the report does not say once that %q", want)
		}
	}
	for _, twice := range []string{"no verdict: raise", "n a fixed order of runs"} {
		if strings.Contains(page, twice) {
			t.Errorf("the report says %q as well", twice)
		}
	}
}

func TestStoredReportIsBounded(t *testing.T) {
	input := recorded.Experiment(seed)
	text, binary, leftOut, err := reportOf(t, input).Stored()
	if err != nil || len(leftOut) != 0 || len(text) != 1 || len(binary) != 3 {
		t.Fatalf("%d texts, %d files, %v left out, %v", len(text), len(binary), leftOut, err)
	}
	_, fewer, named, err := reportOf(t, input).Stored(report.KeyCSV)
	if err != nil || !slices.Equal(named, []string{report.KeyCSV}) || len(fewer) != 2 {
		t.Errorf("without the numbers: %d files, %v left out, %v", len(fewer), named, err)
	}
	again, _, _, err := reportOf(t, input).Stored()
	if err != nil || again[report.KeyMarkdown] != text[report.KeyMarkdown] {
		t.Errorf("it is another one the second time: %v", err)
	}
	// Incompressible values.
	for i := range input.Runs {
		run := &input.Runs[i]
		for j := range 900 {
			run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: fmt.Sprintf("custom/x%d", j), Value: fmt.Sprint((i*7919+j*104729)%1000003 + 1), Unit: "s"})
		}
	}
	text, binary, leftOut, err = reportOf(t, input).Stored()
	size := len(text[report.KeyMarkdown])
	for _, part := range binary {
		size += len(part)
	}
	if err != nil || size > report.StoredBytes {
		t.Errorf("%d bytes are stored, %v left out, %v", size, leftOut, err)
	}
	if binary[report.KeyHTML] == nil {
		t.Errorf("the page for people is left out before the numbers: %v", leftOut)
	}
}

// Observations in the raw results are shown as well.
func TestRawResultsAreShown(t *testing.T) {
	input := recorded.Experiment(seed)
	page := written(t, reportOf(t, input), "report.html")
	expect.Contains(t, page, []string{"CPU of mod-inventory, cores", "Statements with the most PostgreSQL time", "Not measured"})
	overflow, err := json.Marshal([]v1alpha1.Observation{{Metric: "cico/Renewal/average", Value: "321", Unit: "ms"}})
	expect.NoError(t, err)
	for i := range input.Raw {
		if strings.HasSuffix(input.Raw[i].Name, "-raw") && input.Raw[i].Labels[v1alpha1.LabelScenario] == recorded.ConcurrentScenario {
			input.Raw[i].BinaryData[naming.RawObservations] = overflow
		}
	}
	rows, err := reportOf(t, input).CSV()
	if err != nil || !strings.Contains(string(rows), "cico/Renewal/average,ms,321") {
		t.Errorf("observations that the status has no room for are not written: %v", err)
	}
}

// Traces can replace raw results, for callers that can't hold all of those in memory at once.
func TestTracesStandInForRawResults(t *testing.T) {
	whole, traced := recorded.Experiment(seed), recorded.Experiment(seed)
	traced.Traces = map[string]*report.Trace{}
	for i := range traced.Runs {
		run := &traced.Runs[i]
		var own []corev1.ConfigMap
		for _, raw := range traced.Raw {
			if raw.Labels[v1alpha1.LabelRun] == run.Name {
				own = append(own, raw)
			}
		}
		trace, err := report.TraceOf(run, own...)
		expect.NoError(t, err)
		traced.Traces[run.Name] = trace
	}
	traced.Raw = nil
	for name := range formats {
		if written(t, reportOf(t, whole), name) != written(t, reportOf(t, traced), name) {
			t.Errorf("%s is another one", name)
		}
	}
}

func TestReportOfAnExperimentThatHasNotBegun(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Runs, input.Raw, input.Experiment.Status = nil, nil, v1alpha1.PerfExperimentStatus{}
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{"There is no valid run yet", "No run has started", "There are no comparisons", "CPU was not measured", "No run has recorded its infrastructure yet"})
	for name := range formats {
		written(t, reportOf(t, input), name)
	}
}

func TestReportOfOneArm(t *testing.T) {
	input := recorded.Experiment(seed)
	keep := func(run v1alpha1.PerfRun) bool { return run.Spec.Arm != recorded.Baseline }
	input.Runs = slices.DeleteFunc(input.Runs, keep)
	input.Experiment.Spec.Arms, input.Experiment.Status.Arms = input.Experiment.Spec.Arms[:1], input.Experiment.Status.Arms[:1]
	page := written(t, reportOf(t, input), "report.md")
	if !strings.Contains(page, "It has no other arm to compare with") || !strings.Contains(page, "Response times of cico") {
		t.Errorf("it says\n%s", page[:1500])
	}
}

// The page shows the load of the collector's node and the rule for it, if it was measured.
func TestTheCollectorsNode(t *testing.T) {
	const heading, rule = "### The collector's node", "of its CPUs may have been used by other workloads"
	input := recorded.Experiment(seed)
	if page := written(t, reportOf(t, input), "report.md"); strings.Contains(page, heading) || strings.Contains(page, rule) {
		t.Error("the report has a node that was not observed")
	}
	for i := range input.Runs {
		status := &input.Runs[i].Status
		if status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		status.Servers.Node = "worker-1"
		status.Observations = append(status.Observations,
			v1alpha1.Observation{Metric: "node/cpuPressure/average", Value: "12.5", Unit: "%"},
			v1alpha1.Observation{Metric: "node/cpuPressure/max", Value: "20", Unit: "%"},
			v1alpha1.Observation{Metric: "node/otherCpu/average", Value: "0.4", Unit: "cores"})
	}
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{heading, rule, "| `cpuPressure` | % | 12.5 | 20.0 |", "| `otherCpu` | cores | 0.4 |"}, "the page")
	if strings.Contains(page, "`node/") {
		t.Error("what others do on the node is told as an effect of an arm")
	}
}

// The page shows how the replicas of a module share its load.
func TestHowPodsShareTheLoad(t *testing.T) {
	input := recorded.Experiment(seed)
	for i := range input.Runs {
		run := &input.Runs[i]
		if run.Status.Phase == v1alpha1.RunSucceeded && run.Spec.Arm == recorded.Arm {
			run.Status.Servers.Pods = []v1alpha1.PodUse{
				{Name: "module/mod-users/pod-1", Pod: "a", CPU: "0.3"}, {Name: "module/mod-users/pod-2", Pod: "b", CPU: "0.1"},
			}
		}
	}
	page := written(t, reportOf(t, input), "report.md")
	expect.Contains(t, page, []string{"<summary>The busiest pod&#39;s share of its module&#39;s CPU under ", "| `mod-users` | 75\u00a0%, 2 pods |"}, "the page")
}

// Many runs advise a warm-up; the page does once, based on valid runs.
func TestAWarmUpIsAdvisedOnce(t *testing.T) {
	input := recorded.Experiment(seed)
	advice := func(run int, warmUp time.Duration) {
		input.Runs[run].Status.AdvisedWarmUp = &metav1.Duration{Duration: warmUp}
	}
	valid, invalid := 0, slices.IndexFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunInvalid })
	for i := range input.Runs {
		if input.Runs[i].Status.Phase == v1alpha1.RunSucceeded && valid < 2 {
			advice(i, []time.Duration{150 * time.Second, 2 * time.Minute}[valid])
			valid++
		}
	}
	advice(invalid, time.Hour)
	page := belowCard(t, input)
	const want = "In 2 runs, response times were still falling after the warm-up, so averages and percentiles include part of it. A measurement.warmUp of 2m30s would"
	if strings.Count(page, "were still falling after the warm-up") != 1 || !strings.Contains(page, want) {
		t.Errorf("the page lacks %q, or has it more than once", want)
	}
}

// Differences of CPU speed between runs of one arm are reported; an arm that always slows the
// node's CPU is not.
func TestAMachineThatIsNotEquallyFastIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		speed func(run *v1alpha1.PerfRun) float64
		looks int64
		want  string
	}{
		"steady": {func(*v1alpha1.PerfRun) float64 { return 150 }, 8, ""},
		"slowed by one": {func(run *v1alpha1.PerfRun) float64 {
			return map[bool]float64{true: 100, false: 150}[run.Spec.Arm == recorded.Arm]
		}, 8, ""},
		"hardly seen": {func(run *v1alpha1.PerfRun) float64 { return 150 - 10*float64(run.Spec.Block) }, 1, ""},
		"uneven": {
			func(run *v1alpha1.PerfRun) float64 { return 150 - 10*float64(run.Spec.Block) }, 8,
			"The speed of the node's CPU varied: the same work took up to 1.56 times as long in one run of ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			input := recorded.Experiment(seed)
			for i := range input.Runs {
				run := &input.Runs[i]
				run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: "node/cpuSpeed/average", Value: fmt.Sprint(test.speed(run)), Unit: "1", Samples: test.looks})
			}
			page := written(t, reportOf(t, input), "report.md")
			if told := strings.Count(page, "The speed of the node's CPU varied"); (told > 0) != (test.want != "") || !strings.Contains(page, test.want) {
				t.Errorf("it is told %d times, want %q", told, test.want)
			}
		})
	}
}

// A reader's font may be wider than the measured one: text at the right edge ends there.
func TestTextsAtTheRightEdgeEndThere(t *testing.T) {
	ending := 0
	for name, chart := range reportOf(t, recorded.Experiment(seed)).Charts() {
		ending += bytes.Count(chart, []byte(`text-anchor="end"`))
		if bytes.Contains(bytes.ToLower(chart), []byte("#a53d0")) {
			t.Errorf("chart %s has a mark that is for PerfLab alone", name)
		}
	}
	if ending == 0 {
		t.Error("no text ends at the edge")
	}
}

// Earlier versions recorded some facts only as sentences: their reports are the same.
func TestReportsOfEarlierVersions(t *testing.T) {
	const (
		few    = "2 blocks give numbers, but no verdict: raise design.blocks to 6, also later"
		cold   = "the system was still warming up; set measurement.warmUp to 2m30s, and let the load last longer by as much"
		unlike = `not built as run "a" of the same arm was: PerfLab makes something else of Kafka (version v0.4.0 then, v0.5.0 now)`
		failed = `load "cico": 9 of 60 transactions failed`
	)
	today := recorded.Experiment(seed)
	at := slices.IndexFunc(today.Runs, func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunSucceeded })
	run := &today.Runs[at]
	today.Experiment.Status.Warnings = []string{few, "what nothing else says"}
	run.Status.Warnings = []string{"postgres was busy", cold, unlike, "left out during create-5k: " + failed}
	earlier := today
	earlier.Experiment, earlier.Runs = *today.Experiment.DeepCopy(), slices.Clone(today.Runs)
	earlier.Runs[at] = *run.DeepCopy()
	today.Experiment.Status.DesignWarnings = []string{few}
	run.Status.LeftOut = []v1alpha1.LeftOut{{Load: "cico", Window: "during-create-5k", Message: failed}}
	run.Status.AdvisedWarmUp = &metav1.Duration{Duration: 150 * time.Second}
	changed := v1alpha1.RunEvidence{}
	if run.Status.Evidence != nil {
		changed = *run.Status.Evidence
	}
	changed.RenderedChange = &v1alpha1.RenderedChange{Since: "a", Of: []string{"Kafka"}, Message: unlike}
	run.Status.Evidence = &changed
	want := written(t, reportOf(t, today), "report.md")
	expect.Contains(t, want, []string{"A measurement.warmUp of 2m30s", "was not built as run", "During create-5k: " + failed, "What nothing else says."}, "the report")
	if strings.Contains(want, "raise design.blocks") {
		t.Error("the report advises another design")
	}
	expect.Equal(t, want, written(t, reportOf(t, earlier), "report.md"), "the report of an earlier version")
}
