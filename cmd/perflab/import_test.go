// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/record"

	corev1 "k8s.io/api/core/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// Reports and exports of an imported experiment are those of the original.
func TestImportKeepsExport(t *testing.T) {
	home := measured(t)
	archive := home.other(t)
	export := home.must(t, "", "export", recorded.Name)
	told := archive.must(t, export.out, "import", "-f", "-")
	if want := `PerfExperiment "maxram-vs-xmx" of lab/maxram-vs-xmx imported into namespace "` + archive.namespace + `": 11 runs, 20 ConfigMaps with raw results` + "\n"; told.out != want {
		t.Errorf("it says\n%swant\n%s", told.out, want)
	}
	again := archive.must(t, "", "export", recorded.Name)
	if difference := cmp.Diff(bare(t, export.out), bare(t, again.out)); difference != "" {
		t.Errorf("the export of what was imported is another (-home +archive):\n%s", difference)
	}
	for _, format := range []string{"html", "csv"} {
		at, there := home.must(t, "", "report", recorded.Name, "-o", format), archive.must(t, "", "report", recorded.Name, "-o", format)
		if at.result != there.result {
			t.Errorf("%s: the report is another:\n%s", format, cmp.Diff(at.out, there.out))
		}
		if from := perflab(t, again.out, "report", "-f", "-", "-o", format); from.result != at.result {
			t.Errorf("%s: the report of the second export is another:\n%s", format, cmp.Diff(at.out, from.out))
		}
	}
	page := home.must(t, "", "report", recorded.Name, "-o", "html").out
	if stored := archive.storedPage(t); stored != page {
		t.Errorf("the stored report is another:\n%s", cmp.Diff(page, stored))
	}
	status := archive.must(t, "", "status", recorded.Name)
	if !strings.HasPrefix(status.out, "maxram-vs-xmx: Complete, imported from lab/maxram-vs-xmx\n") {
		t.Errorf("the status is\n%s", status.out)
	}
	archive.checkOwners(t)
}

// An import of an import refers to the original.
func TestImportOfImport(t *testing.T) {
	home := measured(t)
	archive, further := home.other(t), home.other(t)
	archive.must(t, home.must(t, "", "export", recorded.Name).out, "import", "-f", "-")
	further.must(t, archive.must(t, "", "export", recorded.Name).out, "import", "-f", "-", recorded.Name)
	if at, there := home.must(t, "", "report", recorded.Name), further.must(t, "", "report", recorded.Name); at.result != there.result {
		t.Errorf("the report is another:\n%s", cmp.Diff(at.out, there.out))
	}
	words := strings.Fields(further.experiment(t).Annotations[v1alpha1.AnnotationImported])
	if len(words) != 3 || words[0] != "lab/"+recorded.Name || words[1] != string(home.experiment(t).UID) {
		t.Errorf("it is annotated with %q", words)
	}
}

func TestImportOfUnfinishedExperiment(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:2], append(input.Raw[:1], corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "somebodys", Namespace: recorded.Namespace, Labels: input.Runs[0].Labels,
	}})
	input.Runs[1].Status.Phase = v1alpha1.RunLoading
	input.Experiment.Status.Phase = v1alpha1.ExperimentRunning
	input.Experiment.Status.WaitingFor = "Loading: cico"
	input.Experiment.Status.Current = &v1alpha1.CurrentRun{Run: input.Runs[1].Name, Message: "cico"}
	input.Experiment.Generation, input.Experiment.Status.ObservedGeneration = 4, 4
	input.Runs[0].Generation, input.Runs[0].Status.ObservedGeneration = 1, 1
	told := archive.must(t, written(t, input), "import", "-f", "-")
	expect.Contains(t, told.out, []string{"2 runs, 1 ConfigMap with raw results\n", "\n  1 run unfinished at the export: imported runs do not continue\n", "\n  ConfigMap \"somebodys\" omitted: no run refers to it\n"})
	experiment := archive.experiment(t)
	if experiment.Status.ObservedGeneration != experiment.Generation {
		t.Errorf("the status tells of generation %d, and it is %d", experiment.Status.ObservedGeneration, experiment.Generation)
	}
	if status := experiment.Status; status.WaitingFor != "" || status.Current != nil {
		t.Errorf("it waits for %q, with the run %+v", status.WaitingFor, status.Current)
	}
	if shown := archive.must(t, "", "status", recorded.Name); strings.Contains(shown.out, "left\n") ||
		!strings.Contains(shown.out, ": Running when exported from lab/"+recorded.Name+"; not running here\n") {
		t.Errorf("the status is\n%s", shown.out)
	}
	watched := archive.perflab(t, "", "status", recorded.Name, "--watch")
	watched.ends(exit.Failed).warns("it was imported unfinished and does not continue")
}

func TestImportProblems(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:1], nil
	file := written(t, input)
	other := "---\napiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: %s, namespace: %s}\n"
	twice := file + strings.NewReplacer("%s, n", recorded.Name+", n", ": %s}", ": office}").Replace(other)
	broken := recorded.Experiment(1)
	broken.Runs, broken.Raw = broken.Runs[:1], broken.Raw[:1]
	broken.Raw[0].BinaryData = map[string][]byte{"cico": []byte("no results")}
	archive.must(t, file, "import", "-f", "-")
	for name, tc := range map[string]struct {
		in        string
		arguments []string
		code      int
		want      string
	}{
		"NoFile":      {"", nil, exit.Failed, `required flag(s) "file" not set`},
		"NoObjects":   {"kind: List\napiVersion: v1\nitems: []\n", []string{"-f", "-"}, exit.Invalid, "no PerfExperiment found"},
		"OtherName":   {file, []string{"-f", "-", "other"}, exit.Failed, `no experiment "other" in the files, only lab/maxram-vs-xmx`},
		"Twice":       {twice, []string{"-f", "-"}, exit.Failed, `the files have "maxram-vs-xmx" in the namespaces "lab" and "office": import them one by one, each into a separate namespace with -n`},
		"Broken":      {written(t, broken), []string{"-f", "-"}, exit.Invalid, "raw results of run"},
		"Taken":       {file, []string{"-f", "-"}, exit.Failed, `PerfExperiment "maxram-vs-xmx" already exists in namespace "` + archive.namespace + `": delete it (kubectl delete perfexperiment maxram-vs-xmx -n ` + archive.namespace + `), or choose another namespace with -n`},
		"NoNamespace": {file, []string{"-f", "-", "-n", "no-such"}, exit.Failed, `namespaces "no-such" not found; the import was rolled back`},
	} {
		t.Run(name, func(t *testing.T) {
			got := archive.perflab(t, tc.in, append([]string{"import"}, tc.arguments...)...)
			if got.code != tc.code || !strings.Contains(got.problems, tc.want) || got.out != "" {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant\n%s", got.code, tc.code, got.problems, tc.want)
			}
		})
	}
}

// Only the named experiments are imported; none, if one can't be.
func TestImportOfSeveral(t *testing.T) {
	archive := measured(t).other(t)
	var file strings.Builder
	for _, name := range []string{"a", "b", "c"} {
		input := recorded.Experiment(1)
		input.Experiment.Name, input.Runs, input.Raw = name, nil, nil
		file.WriteString(written(t, input))
	}
	archive.must(t, file.String(), "import", "-f", "-", "b", "a")
	if got := archive.names(t); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("there are %q", got)
	}
	if again := archive.perflab(t, file.String(), "import", "-f", "-", "c", "a"); again.code != exit.Failed || again.out != "" {
		t.Errorf("exit code %d: %s", again.code, again.out)
	}
	archive.must(t, file.String(), "import", "-f", "-", "c")
}

// A failed import leaves nothing behind, and the second attempt waits for the
// garbage collector.
func TestImportRollsBack(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:2], input.Raw[:2]
	good := written(t, input)
	input.Runs[1].Labels["team"] = "no label!"
	failed := archive.perflab(t, written(t, input), "import", "-f", "-")
	if failed.code != exit.Failed || !strings.Contains(failed.problems, "metadata.labels") || !strings.HasSuffix(failed.problems, "; the import was rolled back\n") {
		t.Errorf("exit code %d: %s", failed.code, failed.problems)
	}
	if left := archive.names(t); len(left) != 0 {
		t.Fatalf("there are left: %q", left)
	}
	// Act as the garbage collector, which envtest lacks.
	time.AfterFunc(1500*time.Millisecond, func() {
		own := client.InNamespace(archive.namespace)
		if err := errors.Join(archive.client.DeleteAllOf(context.Background(), &v1alpha1.PerfRun{}, own), archive.client.DeleteAllOf(context.Background(), &corev1.ConfigMap{}, own)); err != nil {
			t.Error(err)
		}
	})
	archive.must(t, good, "import", "-f", "-")
}

func TestImportRollsBackAfterInterruption(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:2], input.Raw[:2]
	cut := errors.New("the line was cut")
	for name, tc := range map[string]struct {
		// deaf means that the cluster is unreachable for the rollback, too.
		deaf, interrupted bool
		left              int
		want              string
	}{
		"for a moment": {want: "creating ConfigMap \"" + input.Raw[0].Name + "\": the line was cut; the import was rolled back"},
		"for good": {deaf: true, left: 1, want: "the line was cut; the rollback in namespace \"" + archive.namespace +
			"\" failed (deleting PerfExperiment \"maxram-vs-xmx\": the line was cut): kubectl delete perfexperiment maxram-vs-xmx -n " + archive.namespace},
		"by the person": {interrupted: true, want: "context canceled; the import was rolled back"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			to := interceptor.NewClient(archive.client, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					_, isRaw := object.(*corev1.ConfigMap)
					switch {
					case isRaw && tc.interrupted:
						interrupt()
						return c.Create(ctx, object, options...)
					case isRaw:
						return cut
					}
					return c.Create(ctx, object, options...)
				},
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					if tc.deaf {
						return cut
					}
					return c.Delete(ctx, object, options...)
				},
			})
			made, err := record.NewImported(input, archive.namespace, time.Now())
			expect.NoError(t, err)
			err = (&record.Importer{To: to, Timeout: time.Second}).Write(ctx, made)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it says\n%v\nwant\n%s", err, tc.want)
			}
			if left := archive.names(t); len(left) != tc.left {
				t.Errorf("there are left: %q", left)
			}
			archive.clear(t)
		})
	}
}

// A run of another experiment is not changed, and the import fails.
func TestImportOverLeftovers(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:1], nil
	left := input.Runs[0].DeepCopy()
	left.Namespace = archive.namespace
	expect.NoError(t, archive.client.Create(t.Context(), left))
	made, err := record.NewImported(input, archive.namespace, time.Now())
	expect.NoError(t, err)
	err = (&record.Importer{To: archive.client, Timeout: time.Second}).Write(t.Context(), made)
	if !errors.Is(err, record.ErrLeftover) || !strings.Contains(err.Error(), `creating PerfRun "`+left.Name+`"`) {
		t.Errorf("it says %v", err)
	}
}

func TestCompletionOfExperiments(t *testing.T) {
	home := measured(t)
	for _, command := range []string{"status", "report", "export", "logs"} {
		if got := home.must(t, "", "__complete", command, ""); got.out != recorded.Name+"\n:4\n" {
			t.Errorf("%s: %q", command, got.out)
		}
		if got := home.must(t, "", "__complete", command, recorded.Name, ""); got.out != ":4\n" {
			t.Errorf("%s with a name: %q", command, got.out)
		}
		if got := perflab(t, "", "__complete", command, "--kubeconfig", "no-such-config", ""); got.code != 0 || got.out != ":4\n" {
			t.Errorf("%s without a cluster: exit code %d, %q", command, got.code, got.out)
		}
	}
}

// place is a namespace of the API server, used through the command line.
type place struct {
	namespace, kubeconfig string
	client                client.WithWatch
}

// other creates a namespace.
func (p *place) other(t *testing.T) *place {
	t.Helper()
	return &place{apiserver.Namespace(t, p.client), p.kubeconfig, p.client}
}

func (p *place) perflab(t *testing.T, in string, arguments ...string) answer {
	t.Helper()
	own := []string{"--kubeconfig", p.kubeconfig}
	if !slices.Contains(arguments, "-n") {
		own = append(own, "-n", p.namespace)
	}
	at := 1
	if strings.HasPrefix(arguments[0], "__") {
		at = 2
	}
	return perflab(t, in, slices.Insert(arguments, at, own...)...)
}

func (p *place) must(t *testing.T, in string, arguments ...string) answer {
	t.Helper()
	got := p.perflab(t, in, arguments...)
	got.ends(0)
	// The summary of the completion.
	got.problems = ""
	return got
}

func (p *place) names(t *testing.T) []string {
	t.Helper()
	list := &v1alpha1.PerfExperimentList{}
	expect.NoError(t, p.client.List(t.Context(), list, client.InNamespace(p.namespace)))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func (p *place) experiment(t *testing.T) *v1alpha1.PerfExperiment {
	t.Helper()
	found := &v1alpha1.PerfExperiment{}
	expect.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: recorded.Name}, found))
	return found
}

// clear deletes everything, like the garbage collector.
func (p *place) clear(t *testing.T) {
	t.Helper()
	for _, kind := range []client.Object{&v1alpha1.PerfExperiment{}, &v1alpha1.PerfRun{}, &corev1.ConfigMap{}} {
		if err := p.client.DeleteAllOf(t.Context(), kind, client.InNamespace(p.namespace)); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
}

// storedPage is the HTML of the report's ConfigMap.
func (p *place) storedPage(t *testing.T) string {
	t.Helper()
	stored := &corev1.ConfigMap{}
	expect.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: p.experiment(t).Status.Report}, stored))
	reader, err := gzip.NewReader(bytes.NewReader(stored.BinaryData[report.KeyHTML]))
	expect.NoError(t, err)
	page, err := io.ReadAll(reader)
	expect.NoError(t, err)
	return string(page)
}

// checkOwners verifies that deleting the experiment deletes all of it.
func (p *place) checkOwners(t *testing.T) {
	t.Helper()
	experiment := p.experiment(t)
	if len(experiment.OwnerReferences) != 0 || len(experiment.Finalizers) != 0 {
		t.Errorf("the experiment belongs to %v, and is held by %v", experiment.OwnerReferences, experiment.Finalizers)
	}
	runs, maps := &v1alpha1.PerfRunList{}, &corev1.ConfigMapList{}
	expect.NoError(t, errors.Join(p.client.List(t.Context(), runs, client.InNamespace(p.namespace)), p.client.List(t.Context(), maps, client.InNamespace(p.namespace))))
	owners := map[string]metav1.Object{experiment.Name: experiment}
	for i := range runs.Items {
		run := &runs.Items[i]
		owners[run.Name] = run
		if !metav1.IsControlledBy(run, experiment) || run.Annotations[v1alpha1.AnnotationImported] != experiment.Annotations[v1alpha1.AnnotationImported] {
			t.Errorf("run %s belongs to %v, with annotations %v", run.Name, run.OwnerReferences, run.Annotations)
		}
	}
	for i := range maps.Items {
		owned := &maps.Items[i]
		owner := owners[owned.Labels[v1alpha1.LabelRun]]
		if owned.Name == experiment.Status.Report {
			owner = experiment
		}
		if owner == nil || !metav1.IsControlledBy(owned, owner) {
			t.Errorf("ConfigMap %s belongs to %v", owned.Name, owned.OwnerReferences)
		}
	}
	if len(maps.Items) != 21 {
		t.Errorf("there are %d ConfigMaps, want 20 and the report", len(maps.Items))
	}
}

// bare returns the objects of a stream without the parts that depend on the
// place.
func bare(t *testing.T, stream string) []map[string]any {
	t.Helper()
	objects, err := schema.Documents(strings.NewReader(stream))
	expect.NoError(t, err)
	var contents []map[string]any
	for _, object := range objects {
		for _, field := range []string{"uid", "creationTimestamp", "namespace", "annotations"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		contents = append(contents, object.Object)
	}
	return contents
}

func written(t *testing.T, input report.Input) string {
	t.Helper()
	var out bytes.Buffer
	expect.NoError(t, report.Write(&out, input))
	return out.String()
}
