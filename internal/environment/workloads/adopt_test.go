// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/workloads"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

const installed = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: mod-circulation, namespace: lab, resourceVersion: "7", annotations: {owner: helm}}
spec:
  replicas: 2
  selector: {matchLabels: {app: mod-circulation}}
  template:
    spec:
      containers:
      - name: mod-circulation
        image: circulation:1
        env:
        - {name: A, value: "1"}
        - {name: JAVA_OPTIONS, value: "-XX:MaxRAMPercentage=75.0 -Dx=y"}
        - {name: FROM_SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}
        - {name: Z, value: "26"}
        - {name: USES, value: "-server $(OPTS)"}
      - {name: sidecar, image: sidecar:1}
`

func request(patches ...v1alpha1.Patch) environment.Request {
	return environment.Request{
		Namespace: "lab", Experiment: "demo", Run: "demo-1-a-b", Reset: v1alpha1.ResetNone,
		System: v1alpha1.System{Patches: patches},
	}
}

func module(edits ...func(*v1alpha1.Module)) v1alpha1.Module {
	made := v1alpha1.Module{Name: "mod-circulation", WorkloadRef: &v1alpha1.WorkloadRef{Kind: "Deployment", Name: "mod-circulation"}}
	for _, edit := range edits {
		edit(&made)
	}
	return made
}

func TestAdoptChangesOnlyDeclaredFields(t *testing.T) {
	cases := map[string]struct {
		module  v1alpha1.Module
		env     []corev1.EnvVar
		reset   v1alpha1.ResetPolicy
		patches []v1alpha1.Patch
		want    string
	}{
		"nothing": {module: module(), want: `{template: {}}`},
		"a restart": {
			module: module(), reset: v1alpha1.ResetRestartModules,
			want: `{template: {metadata: {annotations: {perflab.dev/run: demo-1-a-b}}}}`,
		},
		"a heap by size takes the percentage's place": {
			module: module(func(m *v1alpha1.Module) {
				m.JVM = &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("1Gi"))}}
			}),
			want: `{template: {spec: {containers: [{name: mod-circulation, env: [{name: JAVA_OPTIONS, value: "-Xlog:gc+init:stdout -Dx=y -Xmx1024m"}]}]}}}`,
		},
		"variables keep the order they had, new ones follow": {
			module: module(func(m *v1alpha1.Module) {
				m.Env = []corev1.EnvVar{{Name: "NEW", Value: ""}, {Name: "Z", Value: "z"}, {Name: "A", Value: "a"}}
			}),
			env:  []corev1.EnvVar{{Name: "Z", Value: "of the system"}, {Name: "DB_HOST_READER", Value: "ro"}},
			want: `{template: {spec: {containers: [{name: mod-circulation, env: [{name: A, value: a}, {name: Z, value: z}, {name: DB_HOST_READER, value: ro}, {name: NEW, value: ""}]}]}}}`,
		},
		"a variable that uses what is added": {
			module: module(func(m *v1alpha1.Module) {
				m.JVM = &v1alpha1.JVM{Variable: "OPTS", Options: []string{"-Dx=y"}}
			}),
			want: `{template: {spec: {containers: [{name: mod-circulation, env: [{name: USES, value: "-server -Xlog:gc+init:stdout -Dx=y"}, {name: OPTS, value: "-Xlog:gc+init:stdout -Dx=y"}]}]}}}`,
		},
		"resources, replicas and placement": {
			module: module(func(m *v1alpha1.Module) {
				m.Replicas = ptr.To[int32](0)
				m.Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("2048Mi")}}
				m.Placement = &v1alpha1.Placement{NodeSelector: map[string]string{"pool": "perf"}, TopologySpread: []v1alpha1.Spread{{TopologyKey: "zone"}}}
			}),
			want: `
replicas: 0
template:
  spec:
    nodeSelector: {pool: perf}
    topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: mod-circulation}}}]
    containers: [{name: mod-circulation, resources: {limits: {memory: 2Gi}}}]`,
		},
		"another container": {
			module: module(func(m *v1alpha1.Module) {
				m.WorkloadRef.Container, m.Env = "sidecar", []corev1.EnvVar{{Name: "A", Value: "1"}}
			}),
			want: `{template: {spec: {containers: [{name: sidecar, env: [{name: A, value: "1"}]}]}}}`,
		},
		"a patch": {
			module:  module(),
			patches: []v1alpha1.Patch{{Kind: "Deployment", Name: "mod-circulation", Merge: runtime.RawExtension{Raw: []byte(`{"spec":{"minReadySeconds":5}}`)}}},
			want:    `{minReadySeconds: 5, template: {}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(c.patches...)
			if c.reset != "" {
				req.Reset = c.reset
			}
			loan := workloads.Adopt(req, c.module, c.env, yamlcmp.Object(t, installed))
			if loan.Refusal != nil {
				t.Fatalf("refused: %s", loan.Refusal.Message)
			}
			intent := loan.ApplyIntent("perflab")
			for _, key := range []string{v1alpha1.AnnotationBorrowedBy, v1alpha1.AnnotationOriginal, v1alpha1.AnnotationFingerprint} {
				if intent.GetAnnotations()[key] == "" {
					t.Errorf("no annotation %s", key)
				}
			}
			if intent.GetResourceVersion() != "7" || intent.GetLabels() != nil {
				t.Errorf("resource version %q, labels %v, want that of the workload that was read, and none", intent.GetResourceVersion(), intent.GetLabels())
			}
			spec := intent.Object["spec"].(map[string]any)
			unstructured.RemoveNestedField(spec, "template", "metadata", "annotations", v1alpha1.AnnotationFingerprint)
			if annotations, _, _ := unstructured.NestedMap(spec, "template", "metadata", "annotations"); len(annotations) == 0 {
				unstructured.RemoveNestedField(spec, "template", "metadata")
			}
			yamlcmp.Equal(t, spec, c.want)
		})
	}
}

func TestAdoptWithoutChangesKeepsPods(t *testing.T) {
	loan := workloads.Adopt(request(), module(), nil, yamlcmp.Object(t, installed))
	yamlcmp.Equal(t, loan.ApplyIntent("perflab").Object["spec"], `{template: {}}`)
	loan.Pods = []corev1.Pod{{}}
	if current := loan.CurrentPods(); len(current) != 1 {
		t.Errorf("%d of its pods are as the run wants them, want the one there is", len(current))
	}
}

func TestAdoptRestartsPodsOnlyForChangedTemplate(t *testing.T) {
	stamp := func(run string, reset v1alpha1.ResetPolicy, replicas int32, heap string) string {
		req := request()
		req.Run, req.Reset = run, reset
		loan := workloads.Adopt(req, module(func(m *v1alpha1.Module) {
			m.Replicas = &replicas
			m.JVM = &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse(heap))}}
		}), nil, yamlcmp.Object(t, installed))
		found, _, _ := unstructured.NestedString(loan.Intent.Object, "spec", "template", "metadata", "annotations", v1alpha1.AnnotationFingerprint)
		return found
	}
	first := stamp("one", v1alpha1.ResetNone, 1, "1Gi")
	for name, c := range map[string]struct {
		got  string
		same bool
	}{
		"another run":              {stamp("two", v1alpha1.ResetNone, 1, "1Gi"), true},
		"more pods":                {stamp("one", v1alpha1.ResetNone, 3, "1Gi"), true},
		"another heap":             {stamp("one", v1alpha1.ResetNone, 1, "2Gi"), false},
		"a run that restarts them": {stamp("one", v1alpha1.ResetRestartModules, 1, "1Gi"), false},
	} {
		expect.Equal(t, c.same, c.got == first, "%s: the template stays the same", name)
	}
}

func TestAdoptRefusesUnsuitableWorkload(t *testing.T) {
	cases := map[string]struct {
		edit   func(string) string
		module v1alpha1.Module
		wants  string
	}{
		"OnDelete": {
			edit: func(s string) string {
				return strings.Replace(s, "  replicas: 2", "  updateStrategy: {type: OnDelete}\n  replicas: 2", 1)
			},
			module: module(), wants: "updateStrategy OnDelete",
		},
		"a partition": {
			edit: func(s string) string {
				return strings.Replace(s, "  replicas: 2", "  updateStrategy: {rollingUpdate: {partition: 1}}\n  replicas: 2", 1)
			},
			module: module(), wants: "set it to 0",
		},
		"no pods": {
			edit:   func(s string) string { return strings.Replace(s, "replicas: 2", "replicas: 0", 1) },
			module: module(), wants: "declare replicas of module mod-circulation",
		},
		"a literal that the run takes from a Secret": {
			edit: func(s string) string { return s },
			module: module(func(m *v1alpha1.Module) {
				m.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}}}
			}),
			wants: "variable A",
		},
		"a damaged record": {
			edit: func(s string) string {
				return strings.Replace(s, "{owner: helm}", "{perflab.dev/borrowed-by: lab/demo, perflab.dev/original: nonsense}", 1)
			},
			module: module(), wants: "can't be read",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			loan := workloads.Adopt(request(), c.module, nil, yamlcmp.Object(t, c.edit(installed)))
			if loan.Refusal == nil || loan.Intent != nil || !strings.Contains(loan.Refusal.Message, c.wants) {
				t.Errorf("refusal %+v, intent %v; want a sentence with %q and no intent", loan.Refusal, loan.Intent, c.wants)
			}
		})
	}
}
