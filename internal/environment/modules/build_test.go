// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// env is the prefix from the Kafka part of the environment.
const env = "demo-abcdef"

func request(system v1alpha1.System) environment.Request {
	return environment.Request{
		Namespace:  "lab",
		Experiment: "demo",
		Run:        "demo-1-a-b",
		Reset:      v1alpha1.ResetRestartModules,
		System:     system,
		Owner:      metav1.OwnerReference{APIVersion: "perflab.dev/v1alpha1", Kind: "PerfExperiment", Name: "demo", UID: "1"},
	}
}

func system() v1alpha1.System {
	return v1alpha1.System{
		Target: v1alpha1.Target{Module: "gateway", Tenant: "diku"},
		Kafka: &v1alpha1.Kafka{
			Brokers: v1alpha1.KafkaNodes{Replicas: 2},
			Topics:  []v1alpha1.TopicGroup{{Group: "g", Names: []string{"a"}, Partitions: 1, Replicas: 3}},
		},
		Postgres: &v1alpha1.Postgres{Instances: 2},
		Modules: []v1alpha1.Module{
			{
				Name: "mod-inventory", Image: "inventory:1", Port: 8081, HealthPath: "/admin/health", Replicas: ptr.To[int32](2),
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")}},
				JVM:       &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("768Mi"))}},
				// FOLIO's module has no database; this one does.
				ReadsFromReplica: ptr.To(true),
				Env:              []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "10"}},
			},
			{Name: "gateway", Image: "gateway:1", Port: 9130, HealthPath: "/health"},
		},
	}
}

func TestBuild(t *testing.T) {
	intents := modules.Build(request(system()), env)
	if len(intents) != 4 {
		t.Fatalf("%d intents, want a Deployment and a Service for each of two modules", len(intents))
	}
	fingerprint := environment.ReadFingerprint(intents[0])
	const metadata = `
metadata:
  name: demo-mod-inventory
  namespace: lab
  labels:
    app.kubernetes.io/managed-by: perflab
    perflab.dev/component: module
    perflab.dev/experiment: demo
    perflab.dev/module: mod-inventory
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, name: demo, uid: "1"}]
  annotations: {perflab.dev/fingerprint: `
	yamlcmp.Equal(t, intents[0], `
apiVersion: apps/v1
kind: Deployment`+metadata+`"`+fingerprint+`"}
spec:
  replicas: 2
  selector: {matchLabels: {perflab.dev/experiment: demo, perflab.dev/module: mod-inventory}}
  strategy: {type: Recreate}
  revisionHistoryLimit: 1
  progressDeadlineSeconds: 86400
  template:
    metadata:
      annotations: {perflab.dev/fingerprint: "`+fingerprint+`"}
      labels:
        app.kubernetes.io/managed-by: perflab
        perflab.dev/component: module
        perflab.dev/experiment: demo
        perflab.dev/module: mod-inventory
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: 5
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: mod-inventory
        image: inventory:1
        imagePullPolicy: IfNotPresent
        ports: [{name: http, containerPort: 8081, protocol: TCP}]
        env:
        - {name: DB_HOST, value: demo-pg-rw}
        - {name: DB_PORT, value: "5432"}
        - {name: DB_DATABASE, valueFrom: {secretKeyRef: {name: demo-pg-app, key: dbname}}}
        - {name: DB_USERNAME, valueFrom: {secretKeyRef: {name: demo-pg-app, key: username}}}
        - {name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: demo-pg-app, key: password}}}
        - {name: KAFKA_HOST, value: demo-kafka-bootstrap}
        - {name: KAFKA_PORT, value: "9092"}
        - {name: ENV, value: demo-abcdef}
        - {name: REPLICATION_FACTOR, value: "2"}
        - {name: TARGET_URL, value: "http://demo-gateway:9130"}
        - {name: TENANT, value: diku}
        - {name: OKAPI_URL, value: "http://demo-gateway:9130"}
        - {name: MOD_INVENTORY_URL, value: "http://demo-mod-inventory:8081"}
        - {name: GATEWAY_URL, value: "http://demo-gateway:9130"}
        - {name: JAVA_OPTIONS, value: "-Xlog:gc+init:stdout -Xmx768m"}
        - {name: PERFLAB_RUN, value: demo-1-a-b}
        - {name: DB_MAXPOOLSIZE, value: "10"}
        resources: {limits: {memory: 1Gi}}
        startupProbe: {httpGet: {path: /admin/health, port: http, scheme: HTTP}, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 600}
        readinessProbe: {httpGet: {path: /admin/health, port: http, scheme: HTTP}, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3}
        livenessProbe: {tcpSocket: {port: http}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        terminationMessagePolicy: FallbackToLogsOnError
`)
	yamlcmp.Equal(t, intents[1], `
apiVersion: v1
kind: Service`+metadata+`"`+environment.ReadFingerprint(intents[1])+`"}
spec:
  selector: {perflab.dev/experiment: demo, perflab.dev/module: mod-inventory}
  ports: [{name: http, port: 8081, protocol: TCP, targetPort: http}]
`)
}

func TestEnvironment(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*environment.Request)
		// want are variables of mod-inventory; "-" marks one that must be absent.
		want map[string]string
	}{
		"SplitOff": {
			reason: "no split was declared",
			edit:   func(*environment.Request) {},
			want:   map[string]string{"DB_HOST": "demo-pg-rw", "DB_HOST_READER": "-", "DB_PORT_READER": "-"},
		},
		"SplitOn": {
			reason: "modules ignore one of the two without the other",
			edit:   split(v1alpha1.ReadWriteSplit{Enabled: true}),
			want:   map[string]string{"DB_HOST": "demo-pg-rw", "DB_HOST_READER": "demo-pg-ro", "DB_PORT_READER": "5432"},
		},
		"Excluded": {
			edit: split(v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"mod-inventory"}}),
			want: map[string]string{"DB_HOST_READER": "-", "DB_PORT_READER": "-"},
		},
		"OtherExcluded": {
			edit: split(v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"gateway"}}),
			want: map[string]string{"DB_HOST_READER": "demo-pg-ro", "DB_PORT_READER": "5432"},
		},
		"Disabled": {
			edit: split(v1alpha1.ReadWriteSplit{Synchronous: true}),
			want: map[string]string{"DB_HOST_READER": "-", "DB_PORT_READER": "-"},
		},
		"NoData": {
			edit: func(r *environment.Request) { r.System.Kafka, r.System.Postgres = nil, nil },
			want: map[string]string{"DB_HOST": "-", "DB_PASSWORD": "-", "KAFKA_HOST": "-", "ENV": "-", "OKAPI_URL": "http://demo-gateway:9130"},
		},
		"OutsideTarget": {
			edit: func(r *environment.Request) { r.System.Target = v1alpha1.Target{URL: "http://okapi.folio.svc:9130"} },
			want: map[string]string{"TARGET_URL": "http://okapi.folio.svc:9130", "GATEWAY_URL": "http://demo-gateway:9130"},
		},
		"NoTenant": {
			reason: "a system without a tenant is not FOLIO",
			edit:   func(r *environment.Request) { r.System.Target.Tenant = "" },
			want:   map[string]string{"TARGET_URL": "http://demo-gateway:9130", "TENANT": "-", "OKAPI_URL": "-"},
		},
		"AnotherVariable": {
			reason: "each image's start script reads its own variable",
			edit: func(r *environment.Request) {
				r.System.Modules[0].JVM = &v1alpha1.JVM{Variable: "JAVA_OPTS_APPEND", Options: []string{"-Dx=y"}}
			},
			want: map[string]string{"JAVA_OPTS_APPEND": "-Xlog:gc+init:stdout -Dx=y", "JAVA_OPTIONS": "-"},
		},
		"NoReset": {
			reason: "without a reset, modules keep running between runs",
			edit:   func(r *environment.Request) { r.Reset = v1alpha1.ResetNone },
			want:   map[string]string{"PERFLAB_RUN": "-"},
		},
		"OwnValue": {
			reason: "the module's own declaration takes precedence, and appears once",
			edit: func(r *environment.Request) {
				r.System.Modules[0].Env = []corev1.EnvVar{{Name: "DB_HOST", Value: "mine"}, {Name: "JAVA_OPTIONS", Value: "-Xint"}}
			},
			want: map[string]string{"DB_HOST": "mine", "JAVA_OPTIONS": "-Xint"},
		},
		"NoJVM": {
			edit: func(r *environment.Request) { r.System.Modules[0].JVM = nil },
			want: map[string]string{"JAVA_OPTIONS": "-"},
		},
		"NoReader": {
			reason: "the module can't use it",
			edit: func(r *environment.Request) {
				split(v1alpha1.ReadWriteSplit{Enabled: true})(r)
				r.System.Modules[0].ReadsFromReplica = ptr.To(false)
			},
			want: map[string]string{"DB_HOST": "demo-pg-rw", "DB_HOST_READER": "-", "DB_PORT_READER": "-"},
		},
		"KnownNoReader": {
			reason: "FOLIO's mod-inventory is known to have no database",
			edit: func(r *environment.Request) {
				split(v1alpha1.ReadWriteSplit{Enabled: true})(r)
				r.System.Modules[0].ReadsFromReplica = nil
			},
			want: map[string]string{"DB_HOST_READER": "-", "DB_PORT_READER": "-"},
		},
		"Pooler": {
			edit: func(r *environment.Request) {
				split(v1alpha1.ReadWriteSplit{Enabled: true})(r)
				r.System.Postgres.Pooler = &v1alpha1.Pooler{}
			},
			want: map[string]string{"DB_HOST": "demo-pg-pooler-rw", "DB_PORT": "5432", "DB_HOST_READER": "demo-pg-pooler-ro", "DB_PORT_READER": "5432"},
		},
		"ExternalPostgres": {
			edit: func(r *environment.Request) {
				split(v1alpha1.ReadWriteSplit{Enabled: true})(r)
				r.System.Postgres.Provider = v1alpha1.PostgresProviderExternal
				r.System.Postgres.External = &v1alpha1.ExternalPostgres{
					Host: "rds", Port: 5433, ReaderHost: "rds-ro", Database: "folio", CredentialsSecret: v1alpha1.SecretName{Name: "rds-login"},
				}
			},
			want: map[string]string{
				"DB_HOST": "rds", "DB_PORT": "5433", "DB_DATABASE": "folio", "DB_USERNAME": "rds-login/username", "DB_PASSWORD": "rds-login/password",
				"DB_HOST_READER": "rds-ro", "DB_PORT_READER": "5432",
			},
		},
		"ExternalKafka": {
			edit: externalKafka(v1alpha1.ExternalKafka{BootstrapServers: []string{"b-2.msk:9096", "b-1.msk:9094"}}),
			want: map[string]string{
				"KAFKA_HOST": "b-2.msk", "KAFKA_PORT": "9096", "ENV": env, "REPLICATION_FACTOR": "3",
				"security.protocol": "-", "KAFKA_SECURITY_PROTOCOL": "-", "ssl.truststore.type": "-",
			},
		},
		"KafkaLogin": {
			reason: "modules on folio-kafka-wrapper and on Spring read other names",
			edit: externalKafka(v1alpha1.ExternalKafka{
				BootstrapServers: []string{"b-1.msk:9096"}, TLS: &v1alpha1.KafkaTLS{CA: &v1alpha1.SecretKey{Name: "msk-ca", Key: "ca.crt"}},
				SASL: &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "msk-login"}},
			}),
			want: map[string]string{
				"security.protocol": "SASL_SSL", "KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512",
				"sasl.jaas.config": `org.apache.kafka.common.security.scram.ScramLoginModule required username="$(KAFKA_USERNAME)" password="$(KAFKA_PASSWORD)";`,
				"KAFKA_USERNAME":   "msk-login/username", "KAFKA_PASSWORD": "msk-login/password",
				"ssl.truststore.type": "PEM", "ssl.truststore.location": "/etc/perflab/kafka/ca.pem",
			},
		},
		"KafkaPlainLogin": {
			edit: externalKafka(v1alpha1.ExternalKafka{
				BootstrapServers: []string{"b-1:9092"},
				SASL:             &v1alpha1.KafkaSASL{Mechanism: v1alpha1.SASLPlain, CredentialsSecret: v1alpha1.SecretName{Name: "login"}},
			}),
			want: map[string]string{
				"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
				"sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required username="$(KAFKA_USERNAME)" password="$(KAFKA_PASSWORD)";`,
			},
		},
		"KafkaTLS": {
			edit: externalKafka(v1alpha1.ExternalKafka{BootstrapServers: []string{"b-1:9094"}, TLS: &v1alpha1.KafkaTLS{}}),
			want: map[string]string{"security.protocol": "SSL", "ssl.truststore.type": "-", "sasl.mechanism": "-"},
		},
		"Reschedule": {
			edit: func(r *environment.Request) { r.Reset = v1alpha1.ResetReschedule },
			want: map[string]string{"PERFLAB_RUN": "demo-1-a-b"},
		},
		"OneReplica": {
			reason: "the replication factor of the topics",
			edit:   func(r *environment.Request) { r.System.Kafka.Topics[0].Replicas = 1 },
			want:   map[string]string{"REPLICATION_FACTOR": "1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(system())
			tc.edit(&req)
			got := variables(t, req)
			for variable, want := range tc.want {
				value, found := got[variable]
				if !found {
					value = "-"
				}
				if value != want {
					t.Errorf("%s is %q, want %q: %s", variable, value, want, tc.reason)
				}
			}
		})
	}
}

func split(split v1alpha1.ReadWriteSplit) func(*environment.Request) {
	return func(r *environment.Request) { r.System.Postgres.ReadWriteSplit = &split }
}

// variables returns those of the first module. A duplicate name fails the test, because server-side
// apply rejects it.
func variables(t *testing.T, req environment.Request) map[string]string {
	t.Helper()
	spec := modules.Build(req, env)[0].Object["spec"].(map[string]any)
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	found := map[string]string{}
	for _, entry := range pod["containers"].([]any)[0].(map[string]any)["env"].([]any) {
		variable := entry.(map[string]any)
		name := variable["name"].(string)
		if _, twice := found[name]; twice {
			t.Errorf("%s appears twice", name)
		}
		found[name], _ = variable["value"].(string)
		if secret, key := secretOf(variable); secret != "" && !strings.HasPrefix(secret, "demo-") {
			found[name] = secret + "/" + key
		}
	}
	return found
}

func secretOf(variable map[string]any) (secret, key string) {
	secret, _, _ = unstructured.NestedString(variable, "valueFrom", "secretKeyRef", "name")
	key, _, _ = unstructured.NestedString(variable, "valueFrom", "secretKeyRef", "key")
	return secret, key
}

func externalKafka(external v1alpha1.ExternalKafka) func(*environment.Request) {
	return func(r *environment.Request) {
		r.System.Kafka.Provider, r.System.Kafka.External, r.System.Kafka.Brokers = v1alpha1.KafkaProviderExternal, &external, v1alpha1.KafkaNodes{}
	}
}

func TestJavaOptions(t *testing.T) {
	cases := map[string]struct {
		jvm  v1alpha1.JVM
		want string
	}{
		"Size":           {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("3076Mi"))}}, want: "-Xmx3076m"},
		"SizeInGi":       {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("2Gi"))}}, want: "-Xmx2048m"},
		"SizeInBytes":    {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("500M"))}}, want: "-Xmx500000000"},
		"Share":          {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}, want: "-XX:MaxRAMPercentage=66.0"},
		"ShareInTenths":  {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "70.1"}}, want: "-XX:MaxRAMPercentage=70.1"},
		"NeverBoth":      {jvm: v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("1Gi")), MaxRAMPercentage: "66"}}, want: "-Xmx1024m"},
		"Metaspace":      {jvm: v1alpha1.JVM{Metaspace: &v1alpha1.Metaspace{Initial: ptr.To(resource.MustParse("384Mi")), Max: ptr.To(resource.MustParse("512Mi"))}}, want: "-XX:MetaspaceSize=384m -XX:MaxMetaspaceSize=512m"},
		"OptionsInOrder": {jvm: v1alpha1.JVM{Options: []string{"-XX:+UseG1GC", "-XX:MaxGCPauseMillis=50"}}, want: "-XX:+UseG1GC -XX:MaxGCPauseMillis=50"},
		"Empty":          {want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(system())
			req.System.Modules[0].JVM = &tc.jvm
			want := strings.TrimSpace("-Xlog:gc+init:stdout " + tc.want)
			expect.Equal(t, want, variables(t, req)["JAVA_OPTIONS"])
		})
	}
}

// The changed fingerprints determine which pods restart between two runs.
func TestFingerprint(t *testing.T) {
	cases := map[string]struct {
		reason             string
		edit               func(*environment.Request)
		inventory, gateway bool
	}{
		"Nothing": {edit: func(*environment.Request) {}},
		"NextRun": {
			reason: "every run starts with fresh modules",
			edit:   func(r *environment.Request) { r.Run = "demo-2-a-b" }, inventory: true, gateway: true,
		},
		"Heap": {
			edit:      func(r *environment.Request) { r.System.Modules[0].JVM.Heap.Max = ptr.To(resource.MustParse("1Gi")) },
			inventory: true,
		},
		"Image":    {edit: func(r *environment.Request) { r.System.Modules[1].Image = "gateway:2" }, gateway: true},
		"User":     {edit: func(r *environment.Request) { r.System.Modules[1].RunAsUser = ptr.To[int64](1000) }, gateway: true},
		"Replicas": {reason: "more replicas do not change the template", edit: func(r *environment.Request) { r.System.Modules[0].Replicas = ptr.To[int32](3) }},
		"Split": {
			edit:      split(v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"gateway"}}),
			inventory: true,
		},
		"Topics": {
			reason: "modules depend on ENV",
			edit:   func(r *environment.Request) { r.System.Kafka.Topics[0].Partitions = 2 }, inventory: true, gateway: true,
		},
		"Placement": {
			edit: func(r *environment.Request) {
				r.System.Modules[0].Placement = &v1alpha1.Placement{NodeSelector: map[string]string{"a": "b"}}
			},
			inventory: true,
		},
		"Patch": {
			reason: "what a patch changes may be in the pods",
			edit:   patched("gateway", `{"spec": {"template": {"spec": {"priorityClassName": "high"}}}}`), gateway: true,
		},
		"PatchOfAll": {edit: patched("", `{"spec": {"paused": false}}`), inventory: true, gateway: true},
		"Brokers":    {edit: func(r *environment.Request) { r.System.Kafka.Brokers.Heap = ptr.To(resource.MustParse("1Gi")) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(system())
			tc.edit(&req)
			before, after := modules.Build(request(system()), env), modules.Build(req, env)
			if changed := environment.ReadFingerprint(before[0]) != environment.ReadFingerprint(after[0]); changed != tc.inventory {
				t.Errorf("mod-inventory changed: %t, want %t: %s", changed, tc.inventory, tc.reason)
			}
			if diff := cmp.Diff(before[1], after[1]); diff != "" {
				t.Errorf("a Service is the same whatever its pods are:\n%s", diff)
			}
			if changed := environment.ReadFingerprint(before[2]) != environment.ReadFingerprint(after[2]); changed != tc.gateway {
				t.Errorf("gateway changed: %t, want %t: %s", changed, tc.gateway, tc.reason)
			}
		})
	}
	idle := request(system())
	idle.Reset = v1alpha1.ResetNone
	later := idle
	later.Run = "demo-2-a-b"
	if diff := cmp.Diff(modules.Build(idle, env), modules.Build(later, env)); diff != "" {
		t.Errorf("without a reset the next run changes modules:\n%s", diff)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	req := request(system())
	req.System.Modules[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
	before := *req.System.DeepCopy()
	first := modules.Build(req, env)
	if diff := cmp.Diff(first, modules.Build(req, env)); diff != "" {
		t.Errorf("built twice is not the same:\n%s", diff)
	}
	for _, intent := range first {
		// It panics on values that are not plain JSON.
		intent.DeepCopy()
	}
	if diff := cmp.Diff(before, req.System); diff != "" {
		t.Errorf("the request was edited:\n%s", diff)
	}
}

func patched(module, merge string) func(*environment.Request) {
	return func(r *environment.Request) {
		r.System.Patches = []v1alpha1.Patch{{Kind: "Deployment", Name: module, Merge: runtime.RawExtension{Raw: []byte(merge)}}}
	}
}
