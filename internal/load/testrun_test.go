// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

func seconds(n int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(n) * time.Second}
}

func users() v1alpha1.Load {
	return v1alpha1.Load{Name: "cico", Duration: seconds(90), CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}
}

func imports() v1alpha1.Load {
	return v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{
		RecordType: "Bibliographic", Operation: "Create", JobProfile: "PTF - Create 2", Records: 500, Imports: 1,
	}}
}

func run() *v1alpha1.PerfRun {
	run := &v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "demo-1-a-s", UID: "42"}}
	run.Spec = v1alpha1.PerfRunSpec{
		Experiment: "demo", Arm: "a", Seed: 8, Scenario: v1alpha1.Scenario{Name: "s"},
		System: v1alpha1.System{Target: v1alpha1.Target{Tenant: "diku", CredentialsSecret: v1alpha1.SecretName{Name: "login"}}},
	}
	return run
}

func testRun(t *testing.T, wanted v1alpha1.Load) map[string]any {
	t.Helper()
	object, err := load.TestRun(run(), wanted, "http://demo-gateway.lab.svc:8081",
		load.Settings{RunnerImage: "example.org/k6:1", StarterImage: "example.org/starter:1"})
	expect.NoError(t, err)
	return object.Object
}

func TestTestRunOfUsers(t *testing.T) {
	wanted := users()
	wanted.Parallelism = ptr.To[int32](2)
	wanted.CheckInCheckOut.Data = &v1alpha1.CirculationData{ConfigMap: &v1alpha1.ConfigMapName{Name: "library"}}
	wanted.Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("256Mi")}
	yamlcmp.Equal(t, testRun(t, wanted), `
apiVersion: k6.io/v1alpha1
kind: TestRun
metadata:
  name: demo-1-a-s-cico-3f58113445
  namespace: lab
  labels: &labels
    app.kubernetes.io/managed-by: perflab
    perflab.dev/arm: a
    perflab.dev/experiment: demo
    perflab.dev/load: cico
    perflab.dev/run: demo-1-a-s
    perflab.dev/scenario: s
  ownerReferences:
  - {apiVersion: perflab.dev/v1alpha1, kind: PerfRun, name: demo-1-a-s, uid: "42", controller: true, blockOwnerDeletion: true}
spec:
  parallelism: 2
  script: {localFile: /scripts/cico.js}
  arguments: --out perflab --summary-mode=disabled --no-thresholds --no-color --log-output=stderr
  initializer: {disabled: true}
  runner:
    image: example.org/k6:1
    livenessProbe:
      httpGet: {path: /v1/status, port: 6565, scheme: HTTP}
      periodSeconds: 30
      timeoutSeconds: 30
      failureThreshold: 20
    readinessProbe:
      httpGet: {path: /v1/status, port: 6565, scheme: HTTP}
      periodSeconds: 5
      timeoutSeconds: 30
      failureThreshold: 20
    automountServiceAccountToken: "false"
    metadata: {labels: *labels}
    env:
    - {name: PERFLAB_LOAD, value: cico}
    - {name: PERFLAB_RUN, value: demo-1-a-s}
    - {name: PERFLAB_RUNNER, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: BASE_URL, value: "http://demo-gateway.lab.svc:8081"}
    - {name: TENANT, value: diku}
    - {name: LOGIN, value: Okapi}
    - {name: USERNAME, valueFrom: {secretKeyRef: {name: login, key: username}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: login, key: password}}}
    - {name: OKAPI_USERNAME, valueFrom: {secretKeyRef: {name: login, key: username}}}
    - {name: OKAPI_PASSWORD, valueFrom: {secretKeyRef: {name: login, key: password}}}
    - {name: SEED, value: "8"}
    - {name: K6_AUTO_EXTENSION_RESOLUTION, value: "false"}
    - {name: K6_NO_USAGE_REPORT, value: "true"}
    - {name: USERS, value: "8"}
    - {name: RAMP_UP_SECONDS, value: "0"}
    - {name: DURATION_SECONDS, value: "90"}
    - {name: DATA_DIR, value: /perflab/data}
    - {name: PERFLAB_SECRETS, value: "USERNAME,PASSWORD,OKAPI_USERNAME,OKAPI_PASSWORD"}
    resources: {limits: {memory: 256Mi}}
    volumes: [{name: data, configMap: {name: library}}]
    volumeMounts: [{name: data, mountPath: /perflab/data, readOnly: true}]
    securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
    containerSecurityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}
  starter:
    image: example.org/starter:1
    automountServiceAccountToken: "false"
    metadata: {labels: *labels}
    securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
    containerSecurityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, readOnlyRootFilesystem: true}
`)
}

// environment returns the script's variables, except those of every load.
func environment(t *testing.T, wanted v1alpha1.Load) map[string]string {
	t.Helper()
	common := map[string]bool{
		"PERFLAB_LOAD": true, "PERFLAB_RUN": true, "PERFLAB_RUNNER": true, "BASE_URL": true, "TENANT": true, "LOGIN": true, "USERNAME": true, "PASSWORD": true, "OKAPI_USERNAME": true, "OKAPI_PASSWORD": true,
		"SEED": true, "PERFLAB_SECRETS": true, "K6_AUTO_EXTENSION_RESOLUTION": true, "K6_NO_USAGE_REPORT": true,
	}
	values := map[string]string{}
	runner := testRun(t, wanted)["spec"].(map[string]any)["runner"].(map[string]any)
	for _, entry := range runner["env"].([]any) {
		variable := entry.(map[string]any)
		if name := variable["name"].(string); !common[name] {
			values[name], _ = variable["value"].(string)
		}
	}
	return values
}

func script(own v1alpha1.Script) v1alpha1.Load {
	return v1alpha1.Load{Name: "search", Script: &own}
}

// The script is used from its declared location, with the results that its image's k6 supports.
func TestTestRunOfAScript(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"in a ConfigMap, by groups": {
			`{configMap: {name: search, key: main.js}, arguments: [--vus, "8", --duration, 30m]}`,
			`
script: {configMap: {name: search, file: main.js}}
arguments: --out perflab --summary-mode=disabled --no-thresholds --no-color --log-output=stderr --vus 8 --duration 30m
image: example.org/k6:1
env: {PERFLAB_TRANSACTIONS: group}`,
		},
		"on a volume, by a tag, with variables": {
			`{persistentVolumeClaim: {claimName: scripts, file: search/main.js}, transactions: {by: Tag, tag: name}, env: [{name: A, value: b}]}`,
			`
script: {volumeClaim: {name: scripts, file: search/main.js, readOnly: true}}
arguments: --out perflab --summary-mode=disabled --no-thresholds --no-color --log-output=stderr
image: example.org/k6:1
env: {PERFLAB_TRANSACTIONS: "tag:name", A: b}`,
		},
		"by its own trend": {
			`{configMap: {name: search, key: main.js}, transactions: {by: Trend}}`,
			`
script: {configMap: {name: search, file: main.js}}
arguments: --out perflab --summary-mode=disabled --no-thresholds --no-color --log-output=stderr
image: example.org/k6:1
env: {}`,
		},
		"in an image without our output": {
			`{path: /scripts/search.js, image: "example.org/upstream:1"}`,
			`
script: {localFile: /scripts/search.js}
arguments: --no-thresholds --no-color --log-output=stderr
image: example.org/upstream:1
env: {K6_SUMMARY_EXPORT: /dev/stdout, K6_SUMMARY_TREND_STATS: "avg,min,med,max,p(75),p(95),p(99),count"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var own v1alpha1.Script
			expect.NoError(t, yaml.Unmarshal([]byte(test.script), &own))
			spec := testRun(t, script(own))["spec"].(map[string]any)
			yamlcmp.Equal(t, map[string]any{
				"script": spec["script"], "arguments": spec["arguments"], "env": environment(t, script(own)),
				"image": spec["runner"].(map[string]any)["image"],
			}, test.want)
		})
	}
}

// A user's script may write files; PerfLab's scripts write none.
func TestOnlyUserScriptsWriteFiles(t *testing.T) {
	for name, test := range map[string]struct {
		load     v1alpha1.Load
		readOnly bool
	}{
		"users":   {users(), true},
		"imports": {imports(), true},
		"script":  {script(v1alpha1.Script{Path: "/scripts/own.js"}), false},
	} {
		spec := testRun(t, test.load)["spec"].(map[string]any)
		runner := spec["runner"].(map[string]any)["containerSecurityContext"].(map[string]any)
		starter := spec["starter"].(map[string]any)["containerSecurityContext"].(map[string]any)
		if is, _ := runner["readOnlyRootFilesystem"].(bool); is != test.readOnly {
			t.Errorf("%s: a root file system that is only read: %v, want %v", name, is, test.readOnly)
		}
		if is, _ := starter["readOnlyRootFilesystem"].(bool); !is {
			t.Errorf("%s: the starter may write files", name)
		}
	}
}

func TestTestRunListsSecretVariables(t *testing.T) {
	own := v1alpha1.Script{Path: "/a.js", Env: []corev1.EnvVar{
		{Name: "PLAIN", Value: "a"},
		{Name: "STORAGE_LOGIN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "login"}}},
	}}
	spec := testRun(t, script(own))["spec"].(map[string]any)
	for _, one := range spec["runner"].(map[string]any)["env"].([]any) {
		if variable := one.(map[string]any); variable["name"] == "PERFLAB_SECRETS" {
			if want := "USERNAME,PASSWORD,OKAPI_USERNAME,OKAPI_PASSWORD,STORAGE_LOGIN"; variable["value"] != want {
				t.Errorf("the secrets are %q, want %q", variable["value"], want)
			}
			return
		}
	}
	t.Error("k6 is not told which variables are secret")
}
