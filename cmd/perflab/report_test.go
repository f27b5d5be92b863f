// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

var server = &apiserver.Server{Paths: []string{"config/crd"}}

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	apiserver.Main(m)
}

// exported is an export in a file.
func exported(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	expect.NoError(t, report.Write(&out, recorded.Experiment(1)))
	path := filepath.Join(t.TempDir(), "export.yaml")
	expect.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	return path
}

func TestReportFormats(t *testing.T) {
	path := exported(t)
	for format, want := range map[string]string{
		"md": "\nmaxram-vs-xmx: 3 arms", "markdown": "\nmaxram-vs-xmx: 3 arms", "html": "<!DOCTYPE html>",
		"confluence": `ac:name="toc"`, "csv": "block,arm,scenario,metric,unit,value\n1,",
		"levels": "run,block,arm,scenario,load,level,held,metric,unit,value\n",
	} {
		got := perflab(t, "", "report", "-f", path, "-o", format)
		got.ends(0).shows(want)
	}
	file := perflab(t, "", "report", "-f", path)
	if folder := perflab(t, "", "report", recorded.Name, "-f", filepath.Dir(path)); folder.result != file.result {
		t.Errorf("a folder: exit code %d: %s", folder.code, folder.problems)
	}
}

func TestReportWritesCharts(t *testing.T) {
	charts := filepath.Join(t.TempDir(), "charts")
	got := perflab(t, "", "report", "-f", exported(t), "-o", "md", "--charts", charts)
	got.ends(0)
	files, err := filepath.Glob(filepath.Join(charts, "*.svg"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d charts, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.Contains(got.out, "]("+filepath.ToSlash(file)+")") {
			t.Errorf("the page does not show %s", file)
		}
	}
}

// analyze reads a report's CSV.
func TestAnalyzeReadsReportCSV(t *testing.T) {
	rows := perflab(t, "", "report", "-f", exported(t), "-o", "csv")
	got := perflab(t, rows.out, "analyze", "--baseline", recorded.Baseline, "--twin", recorded.Twin, "--primary", "cico/.*/average$")
	got.ends(0).shows("cico/Check-In/average")
}

// Both experiments are on the page, and its deltas are consistent.
func TestReportAgainstAnotherExperiment(t *testing.T) {
	const before, after = "testdata/before.yaml", "testdata/after.yaml"
	page := perflab(t, "", "report", "-f", after, "--against", before)
	page.ends(0).shows(
		"Comparison with experiment maxram-vs-xmx", "are equivalent within the margin of 5", "Baselines of both experiments",
		"Arms, by delta from their own baseline", "example.org/mod-inventory:20.2.0",
	)
	if plain := perflab(t, "", "report", "-f", after); strings.Contains(plain.out, "Comparison with experiment") {
		t.Error("a report against nothing has the section")
	}
	path := filepath.Join(t.TempDir(), "report.md")
	expect.NoError(t, os.WriteFile(path, []byte(page.out), 0o600))
	rows := filepath.Join(t.TempDir(), "report.csv")
	expect.NoError(t, os.WriteFile(rows, []byte(perflab(t, "", "report", "-f", after, "-o", "csv").out), 0o600))
	perflab(t, "", "audit", "--fail", path, rows).ends(0)
	perflab(t, "", "report", "-f", after, "--against", "no-such.yaml").ends(exit.Failed).warns("no-such.yaml")
}

func TestReportProblems(t *testing.T) {
	path := exported(t)
	text, err := os.ReadFile(path)
	expect.NoError(t, err)
	two := string(text) + "---\napiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: other, namespace: lab}\n"
	for name, tc := range map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"NoSource":    {"", []string{"report"}, exit.Failed, "specify an experiment in the cluster"},
		"Format":      {"", []string{"report", "-f", path, "-o", "pdf"}, exit.Failed, `unknown output format "pdf": write -o html, -o md, -o confluence, -o csv or -o levels`},
		"Charts":      {"", []string{"report", "-f", path, "-o", "html", "--charts", "x"}, exit.Failed, "--charts requires -o md or -o confluence"},
		"MissingFile": {"", []string{"report", "-f", "no-such.yaml"}, exit.Failed, "no-such.yaml"},
		"NoObjects":   {"kind: List\napiVersion: v1\nitems: []\n", []string{"report", "-f", "-"}, exit.Invalid, "no PerfExperiment found: export one with perflab export NAME"},
		"OtherName":   {"", []string{"report", "other", "-f", path}, exit.Failed, "the files have lab/maxram-vs-xmx: name one of them"},
		"Several":     {two, []string{"report", "-f", "-"}, exit.Failed, "the files have lab/maxram-vs-xmx, lab/other: name one of them"},
		"TwoNames":    {"", []string{"report", "x", "y"}, exit.Failed, "at most 1 arg"},
		"NoCluster":   {"", []string{"export", "x", "--kubeconfig", "no-such-config"}, exit.Failed, "reading the kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			got := perflab(t, tc.in, tc.arguments...)
			if got.code != tc.code || !strings.Contains(got.problems, tc.want) || got.out != "" {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant\n%s", got.code, tc.code, got.problems, tc.want)
			}
		})
	}
}

// An export has only the experiment and its objects; reports from the cluster
// and from the export are equal.
func TestExportAndReportFromCluster(t *testing.T) {
	home := measured(t)
	export := home.must(t, "", "export", recorded.Name)
	read, err := report.Read(strings.NewReader(export.out))
	if err != nil || len(read) != 1 || len(read[0].Runs) != 11 || len(read[0].Raw) != 20 {
		t.Fatalf("%+v, %v", read, err)
	}
	for _, unwanted := range []string{"managedFields", "resourceVersion", "someone-elses"} {
		if strings.Contains(export.out, unwanted) {
			t.Errorf("the export has %s", unwanted)
		}
	}
	direct := home.must(t, "", "report", recorded.Name, "-o", "html")
	again := perflab(t, export.out, "report", "-f", "-", "-o", "html")
	if direct.result != again.result {
		t.Errorf("the report of the cluster (%d bytes) is not that of the export (exit code %d, %d bytes, %s)",
			len(direct.out), again.code, len(again.out), again.problems)
	}
	missing := home.perflab(t, "", "report", "no-such")
	missing.ends(exit.Failed).warns(`PerfExperiment "no-such" not found in namespace "lab"`)
}

// storing stores the measured experiment once, for all tests.
var storing sync.Once

// measured is the namespace of the measured experiment.
func measured(t *testing.T) *place {
	t.Helper()
	config := server.Config(t)
	to := apiserver.Client(t, config)
	storing.Do(func() {
		input := recorded.Experiment(1)
		input.Runs, input.Raw = input.Runs[:11], input.Raw[:20]
		input.Experiment.Status.Report = recorded.Name + "-report"
		store(t, to, input)
	})
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	expect.NoError(t, clientcmd.WriteToFile(kubeconfigOf(config), kubeconfig))
	return &place{recorded.Namespace, kubeconfig, to}
}

// store creates the objects in the cluster, a run of another owner, and an
// unmeasured one.
func store(t *testing.T, to client.Client, input report.Input) {
	t.Helper()
	create := func(object client.Object) {
		t.Helper()
		object.SetUID("")
		expect.NoError(t, to.Create(t.Context(), object))
	}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: recorded.Namespace}})
	experiment, status := input.Experiment.DeepCopy(), input.Experiment.Status
	create(experiment)
	experiment.Status = status
	expect.NoError(t, to.Status().Update(t.Context(), experiment))
	for i := range input.Runs {
		run := input.Runs[i].DeepCopy()
		run.OwnerReferences = []metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)}
		create(run)
		run.Status = input.Runs[i].Status
		expect.NoError(t, to.Status().Update(t.Context(), run))
	}
	for i := range input.Raw {
		create(input.Raw[i].DeepCopy())
	}
	other := input.Runs[0].DeepCopy()
	other.Name, other.Spec.Experiment = "someone-elses", "someone-elses"
	other.Labels = map[string]string{v1alpha1.LabelExperiment: "someone-elses"}
	create(other)
	forged := input.Runs[0].DeepCopy()
	forged.Name = "forged"
	create(forged)
}

func kubeconfigOf(config *rest.Config) api.Config {
	return api.Config{
		Clusters:       map[string]*api.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"u": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
}
