// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// memory returns a fake cluster, which stores objects in memory.
func memory(t *testing.T) *cluster {
	t.Helper()
	admin, err := inMemory()
	expect.NoError(t, err)
	return &cluster{admin: admin, keep: func(ctx context.Context, object client.Object) error {
		object.SetResourceVersion("")
		return admin.Create(ctx, object)
	}}
}

func filled(t *testing.T, declare func() (*declaration, error), runs int) (*filler, []v1alpha1.PerfRun) {
	t.Helper()
	declared, err := declare()
	expect.NoError(t, err)
	expect.NoError(t, declared.plan(runs))
	c := memory(t)
	f, err := newFiller(t.Context(), c, declared)
	expect.NoError(t, err)
	expect.NoError(t, f.fill(t.Context(), lab, 1))
	found := &v1alpha1.PerfRunList{}
	expect.NoError(t, c.admin.List(t.Context(), found, client.InNamespace(lab)))
	return f, found.Items
}

func jsonSize(t *testing.T, object any) int {
	t.Helper()
	text, err := json.Marshal(object)
	expect.NoError(t, err)
	return len(text)
}

// recordedSizes returns the size of a real run of the demo, and its number of observations.
func recordedSizes(t *testing.T) (bytes, observations int) {
	t.Helper()
	file, err := os.Open(apiserver.Root("docs", "examples", "injected-effect.yaml.gz"))
	expect.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	unpacked, err := gzip.NewReader(file)
	expect.NoError(t, err)
	documents, runs := yaml.NewYAMLOrJSONDecoder(unpacked, 4096), 0
	for {
		run := v1alpha1.PerfRun{}
		err := documents.Decode(&run)
		if errors.Is(err, io.EOF) {
			break
		}
		expect.NoError(t, err)
		if run.Kind == "PerfRun" {
			runs++
			bytes += jsonSize(t, run)
			observations += len(run.Status.Observations)
		}
	}
	if runs == 0 {
		t.Fatal("no runs are recorded")
	}
	return bytes / runs, observations / runs
}

// Measurements with objects that are too small are not valid.
func TestDemoRunsHaveRealSize(t *testing.T) {
	f, runs := filled(t, demoDeclaration, 4)
	wanted, observed := recordedSizes(t)
	for _, run := range runs {
		if size := jsonSize(t, run); size < wanted*8/10 || size > wanted*13/10 {
			t.Errorf("run %s takes %d bytes, a real one %d", run.Name, size, wanted)
		}
		if got := len(run.Status.Observations); got < observed*6/10 || got > observed*14/10 {
			t.Errorf("run %s has %d observations, a real one %d", run.Name, got, observed)
		}
	}
	checkComplete(t, f, len(runs), 4)
}

func TestFolioRunsHaveNinetyModules(t *testing.T) {
	f, runs := filled(t, folioDeclaration, 2)
	for _, run := range runs {
		if modules, observations := len(run.Status.Effective.Modules), len(run.Status.Observations); modules != 90 || observations != 1000 {
			t.Errorf("run %s has %d modules in %d observations, want 90 and as many as a status holds", run.Name, modules, observations)
		}
		if size := jsonSize(t, run); size < 150<<10 || size > 300<<10 {
			t.Errorf("run %s takes %d bytes", run.Name, size)
		}
	}
	kept := &corev1.ConfigMap{}
	expect.NoError(t, f.cluster.admin.Get(t.Context(), client.ObjectKey{Namespace: lab, Name: naming.RawResults(runs[0].Name)}, kept))
	if size := jsonSize(t, kept); size < 300<<10 || size > 1<<20 {
		t.Errorf("raw results take %d bytes", size)
	}
	checkComplete(t, f, len(runs), 2)
}

// checkComplete checks that the experiment is complete.
func checkComplete(t *testing.T, f *filler, runs, want int) {
	t.Helper()
	one := &v1alpha1.PerfExperiment{}
	key := client.ObjectKey{Namespace: lab, Name: f.declared.name + "-0001"}
	expect.NoError(t, f.cluster.admin.Get(t.Context(), key, one))
	if one.Status.Phase != v1alpha1.ExperimentComplete || one.Status.Evidence == nil || one.Status.Report == "" || runs != want {
		t.Errorf("experiment is %s with %d runs, report %q and evidence %v", one.Status.Phase, runs, one.Status.Report, one.Status.Evidence)
	}
	for _, warning := range one.Status.Warnings {
		if strings.Contains(warning, "report") {
			t.Errorf("the report lacks something: %s", warning)
		}
	}
	before := one.ResourceVersion
	expect.NoError(t, f.pass(t.Context(), f.reconciler(f.cluster.admin), key))
	if err := f.cluster.admin.Get(t.Context(), key, one); err != nil || one.ResourceVersion != before {
		t.Errorf("another pass still writes something (%v)", err)
	}
	left := &v1alpha1.PerfExperimentList{}
	if err := f.cluster.admin.List(t.Context(), left, client.InNamespace(templates)); err != nil || len(left.Items) != 0 {
		t.Errorf("%d templates are left (%v)", len(left.Items), err)
	}
}

func TestRunsMustBeWholeBlocks(t *testing.T) {
	declared, err := demoDeclaration()
	expect.NoError(t, err)
	if err := declared.plan(50); err != nil || declared.runs() != 50 {
		t.Errorf("50 runs: %d (%v)", declared.runs(), err)
	}
	for _, runs := range []int{0, 13} {
		if err := declared.plan(runs); err == nil {
			t.Errorf("%d runs are planned", runs)
		}
	}
}

func TestUnrelatedPodsHaveRealSize(t *testing.T) {
	if size := jsonSize(t, newPod(elsewhere, podName("service-01", 1), nil)); size < 4<<10 || size > 12<<10 {
		t.Errorf("a pod takes %d bytes", size)
	}
}

// Objects in etcd equal those that the API server stores.
func TestStoredObjectsMatchAPIServer(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	run.Namespace, run.Name, run.ResourceVersion = lab, "one", "7"
	run.Status.Phase = v1alpha1.RunSucceeded
	key, text, err := stored(run)
	if err != nil || key != "/registry/perflab.dev/perfruns/lab/one" {
		t.Errorf("a run is at %q (%v)", key, err)
	}
	found := &unstructured.Unstructured{}
	if err := found.UnmarshalJSON(text); err != nil || found.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("PerfRun") || found.GetResourceVersion() != "" {
		t.Errorf("a run is stored as %s (%v)", text, err)
	}
	raw := &corev1.ConfigMap{BinaryData: map[string][]byte{"main": {1, 2, 3}}}
	raw.Namespace, raw.Name = lab, "one-raw"
	key, text, err = stored(raw)
	if err != nil || key != "/registry/configmaps/lab/one-raw" {
		t.Errorf("a ConfigMap is at %q (%v)", key, err)
	}
	read, kind, err := protobuf.NewSerializer(clientgoscheme.Scheme, clientgoscheme.Scheme).Decode(text, nil, nil)
	if err != nil || *kind != corev1.SchemeGroupVersion.WithKind("ConfigMap") || string(read.(*corev1.ConfigMap).BinaryData["main"]) != "\x01\x02\x03" {
		t.Errorf("a ConfigMap is read as %v %v (%v)", kind, read, err)
	}
	if _, _, err := stored(&corev1.Pod{}); err == nil {
		t.Error("an unsupported pod is stored")
	}
}
