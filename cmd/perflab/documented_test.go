// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/cluster"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// asCommand makes the test binary behave as perflab.
const asCommand = "PERFLAB_AS_COMMAND"

// runElsewhere are commands that other tests run: make in continuous integration,
// helm in the packaging tests, a release's demo in hack/test-install.sh; and shell
// builtins.
var runElsewhere = regexp.MustCompile(`^(make|helm|rm|export) |^kubectl perflab .*demo\.|# needs the internet`)

// withoutOperators are commands that fail without operators and a kubelet, with
// their errors.
var withoutOperators = map[string]string{
	"perflab doctor": "missing",
}

// Documented commands work: each runs in a shell, with a real API server.
func TestDocumentedCommandsRun(t *testing.T) {
	own := &apiserver.Server{Paths: []string{"config/crd"}}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	typist := newTypist(t, own.Config(t))
	pages := documentation(t)
	first := []string{"../../docs/quick-start.md", "../../docs/published-reports.md"}
	// Nothing serves the webhooks that the commands install.
	const last = "../../docs/install.md"
	for _, page := range first {
		typist.page(page, pages[page])
	}
	typist.record()
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		if !slices.Contains(first, page) && page != last {
			typist.page(page, pages[page])
		}
	}
	typist.page(last, pages[last])
	if typist.ran < 30 {
		t.Errorf("only %d commands were found", typist.ran)
	}
}

// typist runs the commands of pages.
type typist struct {
	*testing.T
	client client.Client
	folder string
	ran    int
}

func newTypist(t *testing.T, config *rest.Config) *typist {
	t.Helper()
	made := apiserver.Client(t, config)
	for _, namespace := range []string{"folio", "argocd", "archive"} {
		expect.NoError(t, made.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	}
	folder := clone(t)
	kubeconfig := kubeconfigOf(config)
	kubeconfig.Contexts["x"].Namespace = recorded.Namespace
	path := filepath.Join(t.TempDir(), "kubeconfig")
	expect.NoError(t, clientcmd.WriteToFile(kubeconfig, path))
	t.Setenv("KUBECONFIG", path)
	t.Setenv(asCommand, "1")
	t.Setenv("PATH", strings.Join([]string{filepath.Join(folder, "bin"), os.Getenv("KUBEBUILDER_ASSETS"), os.Getenv("PATH")}, ":"))
	return &typist{T: t, client: made, folder: folder}
}

// clone is a folder like a clone of the repository for commands and their
// output; its bin/perflab is this binary.
func clone(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	// Reports are written to charts.
	expect.NoError(t, os.Mkdir(filepath.Join(folder, "charts"), 0o755))
	for _, name := range []string{"config", "cmd", "hack", "charts/perflab", "docs"} {
		expect.NoError(t, os.Symlink(apiserver.Root(name), filepath.Join(folder, name)))
	}
	program, err := os.Executable()
	expect.NoError(t, err)
	expect.NoError(t, os.Mkdir(filepath.Join(folder, "bin"), 0o755))
	for _, name := range []string{"perflab", "kubectl-perflab"} {
		expect.NoError(t, os.Symlink(program, filepath.Join(folder, "bin", name)))
	}
	return folder
}

// page runs all commands of a page.
func (t *typist) page(path, text string) {
	t.Helper()
	for _, line := range regexp.MustCompile(`(?m)^ *\$ (.*)$`).FindAllStringSubmatch(text, -1) {
		if !runElsewhere.MatchString(line[1]) {
			t.enter(path, line[1])
		}
	}
}

// enter runs one command.
func (t *typist) enter(page, line string) {
	t.Helper()
	command := strings.NewReplacer("EXPERIMENT", recorded.Name, " RUN ", " "+recorded.Experiment(1).Runs[0].Name+" ").Replace(line)
	perflab := strings.TrimPrefix(command, "kubectl ")
	if strings.HasPrefix(perflab, "perflab run ") {
		// This test can't run it.
		command += " --no-follow"
	}
	shell := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", command)
	shell.Dir = t.folder
	said, err := shell.CombinedOutput()
	t.ran++
	for prefix, want := range withoutOperators {
		if strings.HasPrefix(perflab, prefix) && err != nil && strings.Contains(string(said), want) {
			err = nil
		}
	}
	if err != nil {
		t.Errorf("%s: %s: %v\n%.1000s", page, line, err, said)
	}
	if strings.HasPrefix(command, "perflab run ") {
		t.finish()
	}
}

// finish completes running experiments in place of the operator.
func (t *typist) finish() {
	t.Helper()
	all := &v1alpha1.PerfExperimentList{}
	expect.NoError(t, t.client.List(t.Context(), all))
	for i := range all.Items {
		experiment := &all.Items[i]
		if experiment.Status.Phase == v1alpha1.ExperimentComplete {
			continue
		}
		experiment.Status = recorded.Experiment(1).Experiment.Status
		experiment.Status.Phase = v1alpha1.ExperimentComplete
		expect.NoError(t, t.client.Status().Update(t.Context(), experiment))
	}
}

// record stores the experiments that the pages mention.
func (t *typist) record() {
	t.Helper()
	input := recorded.Experiment(1)
	var owner []metav1.OwnerReference
	for _, name := range []string{"heap-settled", recorded.Name} {
		stored := input.Experiment.DeepCopy()
		stored.Name, stored.UID = name, ""
		expect.NoError(t, client.IgnoreNotFound(t.client.Delete(t.Context(), stored)))
		t.create(stored)
		owner = []metav1.OwnerReference{naming.Owner("PerfExperiment", stored)}
		stored.Status = input.Experiment.Status
		stored.Status.Comparisons = []v1alpha1.Comparison{{Primary: true, Metric: "create-5k/duration", Arm: recorded.Arm, Scale: "ratio", Delta: "-9.3"}}
		expect.NoError(t, t.client.Status().Update(t.Context(), stored))
	}
	for i := range input.Runs {
		run := input.Runs[i].DeepCopy()
		run.UID, run.OwnerReferences = "", owner
		t.create(run)
		run.Status = input.Runs[i].Status
		expect.NoError(t, t.client.Status().Update(t.Context(), run))
	}
	made, err := report.New(input)
	expect.NoError(t, err)
	page, err := made.Object()
	expect.NoError(t, err)
	t.create(page)
	t.keepDigests()
}

// keepDigests writes the digests in place of the operator.
func (t *typist) keepDigests() {
	t.Helper()
	stored, err := cluster.Fetch(t.Context(), t.client, recorded.Namespace, recorded.Name)
	expect.NoError(t, err)
	experiment := &stored.Experiment
	text, err := evidence.NextManifest("", experiment, stored.Runs, evidence.Stage{Blocks: 6, Ended: true}, "")
	expect.NoError(t, err)
	manifest := &corev1.ConfigMap{Data: map[string]string{evidence.Key: text}}
	manifest.Name, manifest.Namespace, manifest.Labels = naming.Evidence(recorded.Name), recorded.Namespace, naming.Labels(recorded.Name)
	t.create(manifest)
	experiment.Status.Evidence = &v1alpha1.ExperimentEvidence{Manifest: manifest.Name, SHA256: evidence.Sum([]byte(text))}
	expect.NoError(t, t.client.Status().Update(t.Context(), experiment))
}

func (t *typist) create(object client.Object) {
	t.Helper()
	object.SetResourceVersion("")
	expect.NoError(t, t.client.Create(t.Context(), object))
}
