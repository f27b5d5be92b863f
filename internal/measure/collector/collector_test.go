// SPDX-License-Identifier: Apache-2.0

package collector_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// library is a system that PerfLab deploys.
func library() v1alpha1.System {
	return v1alpha1.System{
		Kafka:    &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 1}, Controllers: &v1alpha1.KafkaNodes{Replicas: 1}},
		Postgres: &v1alpha1.Postgres{Instances: 2, Pooler: &v1alpha1.Pooler{Instances: 1}},
		Modules:  []v1alpha1.Module{{Name: "mod-users"}, {Name: "mod-old", WorkloadRef: &v1alpha1.WorkloadRef{Name: "old"}}},
	}
}

// cloud is an existing system.
func cloud() v1alpha1.System {
	return v1alpha1.System{
		Kafka: &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderExternal, External: &v1alpha1.ExternalKafka{
			BootstrapServers: []string{"b-1.example.org:9096"},
			TLS:              &v1alpha1.KafkaTLS{CA: &v1alpha1.SecretKey{Name: "msk", Key: "ca.crt"}},
			SASL:             &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "msk-login"}},
		}},
		Postgres: &v1alpha1.Postgres{Provider: v1alpha1.PostgresProviderExternal, External: &v1alpha1.ExternalPostgres{
			Host: "db.example.org", ReaderHost: "ro.example.org", ReaderPort: 5433, Database: "folio",
			CredentialsSecret: v1alpha1.SecretName{Name: "rds"},
		}},
	}
}

func newRequest(system v1alpha1.System) (*v1alpha1.PerfRun, environment.Request) {
	run := &v1alpha1.PerfRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "demo-1-a-b-123456", UID: "7"},
		Spec: v1alpha1.PerfRunSpec{
			Experiment: "demo", Arm: "a", System: system,
			Scenario: v1alpha1.Scenario{Name: "b", Loads: []v1alpha1.Load{{Name: "cico", Duration: &metav1.Duration{Duration: 30 * time.Minute}}}},
			Measurement: v1alpha1.Measurement{Interval: &metav1.Duration{Duration: 5 * time.Second}, Prometheus: &v1alpha1.Prometheus{
				URL: "http://prometheus:9090", TokenSecret: &v1alpha1.SecretName{Name: "token"},
				Metrics: []v1alpha1.CustomMetric{{Name: "queue", Query: `sum(queue{namespace="$namespace"}) + $(x)`, Label: "pod", Unit: "1"}},
			}},
		},
	}
	return run, environment.Request{Namespace: "lab", Experiment: "demo", Run: run.Name, System: system, Owner: metav1.OwnerReference{Name: "demo"}}
}

func TestConfigForProvisionedSystem(t *testing.T) {
	run, request := newRequest(library())
	config := collector.ConfigFor(run, request, map[string]string{"mod-old": "app=old"})
	var got []string
	for _, component := range config.Components {
		got = append(got, fmt.Sprintf("%s%s: %s", component.Name, component.Numbered, component.Selector))
	}
	want := []string{
		"generator/cico: k6_cr=demo-1-a-b-123456-cico-",
		"module/mod-users: app.kubernetes.io/managed-by=perflab,perflab.dev/component=module,perflab.dev/experiment=demo,perflab.dev/module=mod-users",
		"module/mod-old: app=old",
		"kafka/broker-Ordinal: strimzi.io/cluster=demo,strimzi.io/pool-name=broker-",
		"kafka/controller-Ordinal: strimzi.io/cluster=demo,strimzi.io/pool-name=kraft-",
		"postgres/primary: cnpg.io/cluster=demo-pg,cnpg.io/instanceRole=primary,cnpg.io/podRole=instance",
		"postgres/replica-Rank: cnpg.io/cluster=demo-pg,cnpg.io/instanceRole=replica,cnpg.io/podRole=instance",
		"postgres/pooler-rw: cnpg.io/poolerName=demo-pg-pooler-rw",
		"postgres/pooler-ro: cnpg.io/poolerName=demo-pg-pooler-ro",
	}
	for i := range got {
		if i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("component %d is %s", i, got[i])
		}
	}
	expect.Equal(t, &collector.Kafka{Servers: []string{"demo-kafka-bootstrap:9092"}}, config.Kafka, "Kafka")
	expect.Equal(t, &collector.Postgres{}, config.Postgres, "PostgreSQL")
	if config.Interval != 5*time.Second || config.Longest < 30*time.Minute || config.Namespace != "lab" {
		t.Errorf("every %s for %s in %s", config.Interval, config.Longest, config.Namespace)
	}
	if query := config.Prometheus.Metrics[0].Query; query != `sum(queue{namespace="lab"}) + $(x)` {
		t.Errorf("the query is %s", query)
	}
}

func TestConfigForExistingSystem(t *testing.T) {
	run, request := newRequest(cloud())
	config := collector.ConfigFor(run, request, nil)
	if len(config.Components) != 1 {
		t.Errorf("components %+v, want only the load's own pods", config.Components)
	}
	want := collector.Config{
		Kafka: &collector.Kafka{Servers: []string{"b-1.example.org:9096"}, TLS: true, Mechanism: v1alpha1.SASLScramSHA512},
		Postgres: &collector.Postgres{Servers: []collector.Server{
			{Component: "postgres/primary", Host: "db.example.org", Port: 5432},
			{Component: "postgres/replica-1", Host: "ro.example.org", Port: 5433},
		}},
	}
	expect.Equal(t, want, collector.Config{Kafka: config.Kafka, Postgres: config.Postgres}, "asked of")
}

// Amazon's services are queried by their names there, or by their host names.
func TestConfigForManagedServices(t *testing.T) {
	ask := func(system v1alpha1.System) (*collector.Prometheus, time.Duration) {
		run, request := newRequest(system)
		asked := collector.ConfigFor(run, request, nil).Prometheus
		asked.URL, asked.Metrics = "", nil
		return asked, collector.CatchUpTime(run)
	}
	named := cloud()
	named.Postgres.External.Prometheus = &v1alpha1.PostgresInPrometheus{Instance: "writer", ReaderInstances: []v1alpha1.DBInstance{"b", "a"}}
	named.Kafka.External.Prometheus = &v1alpha1.KafkaInPrometheus{Source: v1alpha1.BrokerSourceCloudWatch, Cluster: "perf"}
	hosts := cloud()
	hosts.Kafka.External.BootstrapServers = []string{"kafka.example.org:9096", "b-2-public.perf.x1.c2.kafka.eu-west-1.amazonaws.com:9196"}
	hosts.Kafka.External.Prometheus = &v1alpha1.KafkaInPrometheus{Source: v1alpha1.BrokerSourceOpenMonitoring}
	cases := map[string]struct {
		system v1alpha1.System
		want   collector.Prometheus
		late   time.Duration
	}{
		"nothing":    {cloud(), collector.Prometheus{}, 0},
		"CloudWatch": {named, collector.Prometheus{Databases: []collector.Database{{Component: "postgres/primary", Instance: "writer"}, {Component: "postgres/replica-1", Instance: "b"}, {Component: "postgres/replica-2", Instance: "a"}}, Cluster: "perf"}, collector.CatchUp},
		"hosts":      {hosts, collector.Prometheus{BrokerDomain: "perf.x1.c2.kafka.eu-west-1.amazonaws.com"}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, late := ask(tc.system)
			expect.Equal(t, &tc.want, got, "asked")
			if late != tc.late {
				t.Errorf("it may take %s longer to end, want %s", late, tc.late)
			}
		})
	}
}

func TestConfigForZooKeeper(t *testing.T) {
	system := library()
	system.Kafka.Mode = v1alpha1.KafkaModeZooKeeper
	run, request := newRequest(system)
	got := map[string]string{}
	for _, component := range collector.ConfigFor(run, request, nil).Components {
		got[component.Name] = component.Selector
	}
	for name, want := range map[string]string{
		"kafka/broker-":    "strimzi.io/cluster=demo,strimzi.io/name=demo-kafka",
		"kafka/zookeeper-": "strimzi.io/cluster=demo,strimzi.io/name=demo-zookeeper",
	} {
		expect.Equal(t, want, got[name], "%s", name)
	}
}

func newJob(t *testing.T, system v1alpha1.System) batchv1.Job {
	t.Helper()
	run, request := newRequest(system)
	intent, err := collector.Job(run, request, collector.ConfigFor(run, request, nil), "collector:1")
	expect.NoError(t, err)
	job := batchv1.Job{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(intent.Object, &job))
	return job
}

// Logins come from Secrets by reference; plain variables contain none, and no text that the kubelet
// would replace.
func TestJobEnvironment(t *testing.T) {
	job := newJob(t, cloud())
	var got []string
	for _, variable := range job.Spec.Template.Spec.Containers[0].Env {
		switch {
		case variable.Name == collector.EnvConfig:
			config := collector.Config{}
			expect.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(variable.Value, "$$(", "$(")), &config))
			if strings.Contains(strings.ReplaceAll(variable.Value, "$$(", ""), "$(") {
				t.Errorf("the kubelet would replace a part of %s", variable.Value)
			}
			if config.Run != "demo-1-a-b-123456" || len(config.Prometheus.Metrics) != 1 {
				t.Errorf("the configuration is %+v", config)
			}
		case variable.ValueFrom == nil:
			got = append(got, variable.Name+"="+variable.Value)
		case variable.ValueFrom.FieldRef != nil:
			got = append(got, variable.Name+" from "+variable.ValueFrom.FieldRef.FieldPath)
		case variable.ValueFrom.SecretKeyRef != nil:
			got = append(got, variable.Name+" from "+variable.ValueFrom.SecretKeyRef.Name+"/"+variable.ValueFrom.SecretKeyRef.Key)
		}
	}
	want := []string{
		"POD_NAME from metadata.name", "NODE_NAME from spec.nodeName",
		"PGDATABASE=folio", "PGUSER from rds/username", "PGPASSWORD from rds/password",
		"KAFKA_USERNAME from msk-login/username", "KAFKA_PASSWORD from msk-login/password", "KAFKA_CA from msk/ca.crt",
		"PROMETHEUS_TOKEN from token/token",
	}
	expect.Equal(t, want, got, "environment")
	ours := newJob(t, library()).Spec.Template.Spec.Containers[0].Env
	if ref := ours[3].ValueFrom.SecretKeyRef; ours[3].Name != "PGDATABASE" || ref.Name != "demo-pg-app" || ref.Key != "dbname" {
		t.Errorf("the database's name is %+v", ours[3])
	}
}

func TestJobIsRestricted(t *testing.T) {
	job := newJob(t, library())
	yamlcmp.Equal(t, job.Spec.Template.Spec.SecurityContext, `
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}`)
	yamlcmp.Equal(t, job.Spec.Template.Spec.Containers[0].SecurityContext, `
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}`)
	yamlcmp.Equal(t, job.OwnerReferences, `
[{apiVersion: perflab.dev/v1alpha1, kind: PerfRun, name: demo-1-a-b-123456, uid: "7", controller: true, blockOwnerDeletion: true}]`)
	if job.Spec.Template.Spec.ServiceAccountName != "demo-collector" || job.Name != "demo-1-a-b-123456-collector" {
		t.Errorf("Job %s works as %s", job.Name, job.Spec.Template.Spec.ServiceAccountName)
	}
}

func TestAccessAllowsOnlyPods(t *testing.T) {
	yamlcmp.Equal(t, apiserver.ClusterRole(t, "rbac", "collector.yaml").Rules, `
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
- {apiGroups: [metrics.k8s.io], resources: [pods], verbs: [get, list]}`)
	_, request := newRequest(library())
	access := collector.Access(request, "perflab-collector")
	yamlcmp.Equal(t, access[1].Object["roleRef"], `{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: perflab-collector}`)
	yamlcmp.Equal(t, access[1].Object["subjects"], `[{kind: ServiceAccount, name: demo-collector, namespace: lab}]`)
	for _, intent := range access {
		if intent.GetNamespace() != "lab" || len(intent.GetOwnerReferences()) != 1 {
			t.Errorf("%s is in %q and belongs to %v", intent.GetKind(), intent.GetNamespace(), intent.GetOwnerReferences())
		}
	}
}
