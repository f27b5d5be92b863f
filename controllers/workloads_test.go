// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// inventory is a module as a Helm chart installs it.
const inventory = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mod-inventory
  labels: {app.kubernetes.io/name: mod-inventory, app.kubernetes.io/managed-by: Helm, helm.sh/chart: mod-inventory-1.0.0}
  annotations: {meta.helm.sh/release-name: folio, meta.helm.sh/release-namespace: folio}
spec:
  replicas: 1
  revisionHistoryLimit: 2
  strategy: {type: Recreate}
  selector: {matchLabels: {app.kubernetes.io/name: mod-inventory}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: mod-inventory}
      annotations: {checksum/config: "5d41402abc4b2a76"}
    spec:
      serviceAccountName: default
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 50
            podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app.kubernetes.io/name: mod-inventory}}}
      tolerations: [{key: folio, operator: Exists}]
      volumes: [{name: tmp, emptyDir: {}}]
      containers:
      - name: mod-inventory
        image: example.org/mod-inventory:21.1.0
        ports: [{name: http, containerPort: 9403}]
        envFrom: [{secretRef: {name: kafka-credentials}}]
        env:
        - {name: DB_MAXPOOLSIZE, value: "5"}
        - {name: JAVA_OPTIONS, value: "-XX:MaxRAMPercentage=75.0 -XX:+UseG1GC -Dfile.encoding=UTF-8"}
        - {name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db-credentials, key: DB_PASSWORD}}}
        - {name: OKAPI_URL, value: "http://okapi:9130"}
        resources: {requests: {memory: 600Mi}, limits: {memory: 768Mi, cpu: "2"}}
        livenessProbe: {httpGet: {path: /admin/health, port: http}, periodSeconds: 20}
        readinessProbe: {httpGet: {path: /admin/health, port: http}, periodSeconds: 5}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      - name: sidecar
        image: example.org/sidecar:3.0.7
        env: [{name: JAVA_OPTS, value: -Xmx64m}]
        resources: {limits: {memory: 256Mi}}
`

// storage is the same module as a StatefulSet.
var storage = strings.NewReplacer(
	"kind: Deployment", "kind: StatefulSet",
	"strategy: {type: Recreate}", "serviceName: mod-inventory\n  updateStrategy: {type: RollingUpdate}",
).Replace(inventory)

// installer creates a workload as its owner does.
type installer func(l *lab, workload *unstructured.Unstructured)

// byHelm creates it; a user then edits it.
func byHelm(l *lab, workload *unstructured.Unstructured) {
	l.t.Helper()
	expect.NoError(l.t, l.admin.Create(l.t.Context(), workload, client.FieldOwner("helm")), "installing")
	before := workload.DeepCopy()
	expect.NoError(l.t, unstructured.SetNestedField(workload.Object, int64(2), "spec", "replicas"))
	expect.NoError(l.t, l.admin.Patch(l.t.Context(), workload, client.MergeFrom(before), client.FieldOwner("kubectl-edit")), "editing")
}

// byArgoCD applies it server-side.
func byArgoCD(l *lab, workload *unstructured.Unstructured) {
	l.t.Helper()
	expect.NoError(l.t, l.admin.Apply(l.t.Context(), client.ApplyConfigurationFromUnstructured(workload), client.FieldOwner("argocd-controller")), "installing")
}

func (l *lab) install(text string, how installer) {
	l.t.Helper()
	workload := &unstructured.Unstructured{}
	expect.NoError(l.t, yaml.Unmarshal([]byte(text), &workload.Object))
	encoded, err := json.Marshal(workload.Object)
	if err == nil {
		err = workload.UnmarshalJSON(encoded)
	}
	expect.NoError(l.t, err)
	workload.SetNamespace(l.namespace)
	how(l, workload)
}

// workload is the adopted object in the API server.
func (l *lab) workload(kind string) *unstructured.Unstructured {
	l.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind))
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "mod-inventory"}, object), "reading the workload")
	return object
}

// storedBytes is an object without the fields that its controller writes.
func storedBytes(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	object = object.DeepCopy()
	object.SetResourceVersion("")
	object.SetGeneration(0)
	delete(object.Object, "status")
	object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
	text, err := json.MarshalIndent(object.Object, "", " ")
	expect.NoError(t, err)
	return string(text)
}

// borrowing makes the experiment adopt the module, with these settings, and in the other arm with a
// heap of a size.
func borrowing(kind v1alpha1.WorkloadKind, module v1alpha1.Module) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) {
		module.Name = "mod-inventory"
		module.WorkloadRef = &v1alpha1.WorkloadRef{Kind: kind, Name: "mod-inventory"}
		e.Spec.System.Target = v1alpha1.Target{Module: "mod-inventory", CredentialsSecret: e.Spec.System.Target.CredentialsSecret}
		e.Spec.System.Kafka, e.Spec.System.Postgres = nil, nil
		e.Spec.System.Modules = []v1alpha1.Module{module}
		e.Spec.Arms[1].Set = &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{
			Name: "*", Env: []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "20"}, {Name: "NUMBER_OF_PARTITIONS", Value: "50"}},
			Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": quantity("1Gi")}},
		}}}
	}
}

// placed is a module with another placement and more pods.
func placed() v1alpha1.Module {
	return v1alpha1.Module{
		Replicas: ptr.To[int32](3),
		Placement: &v1alpha1.Placement{
			NodeSelector:   map[string]string{"pool": "perf"},
			Tolerations:    []corev1.Toleration{{Key: "perf", Operator: corev1.TolerationOpExists}},
			TopologySpread: []v1alpha1.Spread{{TopologyKey: "kubernetes.io/hostname", MaxSkew: 1}},
		},
	}
}

func TestAdoptedWorkloadIsRestoredExactly(t *testing.T) {
	cases := map[string]struct {
		kind    v1alpha1.WorkloadKind
		text    string
		install installer
		retain  bool
	}{
		"a Deployment of Helm":         {kind: "Deployment", text: inventory, install: byHelm},
		"a Deployment of Argo CD":      {kind: "Deployment", text: inventory, install: byArgoCD},
		"a StatefulSet":                {kind: "StatefulSet", text: storage, install: byHelm},
		"a retained one, when deleted": {kind: "Deployment", text: inventory, install: byHelm, retain: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.install(c.text, c.install)
			l.play()
			before := storedBytes(t, l.workload(string(c.kind)))
			l.create(login(), smallExperiment(t, borrowing(c.kind, placed()), func(e *v1alpha1.PerfExperiment) {
				if c.retain {
					e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain
				}
			}))
			seen := map[string]bool{}
			l.until("a complete experiment", func() bool {
				l.noteEnv(string(c.kind), seen)
				return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
			})
			for _, want := range []string{"DB_MAXPOOLSIZE=5", "DB_MAXPOOLSIZE=20", "NUMBER_OF_PARTITIONS=50"} {
				if !seen[want] {
					t.Errorf("no run had %s, only %v", want, slices.Sorted(maps.Keys(seen)))
				}
			}
			if c.retain {
				if borrower := l.workload(string(c.kind)).GetAnnotations()[v1alpha1.AnnotationBorrowedBy]; borrower != l.namespace+"/small" {
					t.Errorf("a retained workload is adopted by %q", borrower)
				}
				l.remove(l.experiment("small"))
				l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
			}
			l.settle()
			if diff := cmp.Diff(before, storedBytes(t, l.workload(string(c.kind)))); diff != "" {
				t.Errorf("the workload is not as it was (-was +is):\n%s", diff)
			}
			if status := l.findStatus("small"); status != nil && (status.Runs.Invalid != 0 || status.Progress != "2/2") {
				t.Errorf("%d invalid runs, %s done: %+v", status.Runs.Invalid, status.Progress, status.InvalidRuns)
			}
		})
	}
}

// findStatus is the status of an experiment, nil if it does not exist.
func (l *lab) findStatus(name string) *v1alpha1.PerfExperimentStatus {
	l.t.Helper()
	for _, experiment := range l.experiments() {
		if experiment.Name == name {
			return &experiment.Status
		}
	}
	return nil
}

// noteEnv records the variables of the workload's pods.
func (l *lab) noteEnv(kind string, seen map[string]bool) {
	l.t.Helper()
	if l.workload(kind).GetAnnotations()[v1alpha1.AnnotationBorrowedBy] == "" {
		return
	}
	for _, item := range firstContainer(l.t, l.workload(kind))["env"].([]any) {
		variable := item.(map[string]any)
		value, _ := variable["value"].(string)
		seen[variable["name"].(string)+"="+value] = true
	}
}

func firstContainer(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) == 0 {
		t.Fatalf("containers %v, error %v", containers, err)
	}
	return containers[0].(map[string]any)
}

func quantity(size string) resource.Quantity { return resource.MustParse(size) }
