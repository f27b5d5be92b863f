// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

func request(declared *v1alpha1.Postgres) environment.Request {
	return environment.Request{
		Namespace:  "lab",
		Experiment: "demo",
		System:     v1alpha1.System{Postgres: declared},
		Owner:      metav1.OwnerReference{APIVersion: "perflab.dev/v1alpha1", Kind: "PerfExperiment", Name: "demo", UID: "1"},
	}
}

func large() *v1alpha1.Postgres {
	return &v1alpha1.Postgres{
		Instances:      3,
		Image:          "postgresql:15.4",
		ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true, Exclude: []string{"mod-users"}},
		Parameters:     map[string]string{"max_connections": "300", "pg_stat_statements.max": "500"},
		Storage:        &v1alpha1.Storage{Size: resource.MustParse("10Gi"), Class: "fast"},
		Resources:      corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}},
	}
}

func TestBuildSmall(t *testing.T) {
	intents := postgres.Build(request(&v1alpha1.Postgres{}))
	if len(intents) != 1 {
		t.Fatalf("%d intents, want a Cluster", len(intents))
	}
	yamlcmp.Equal(t, intents[0], `
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: demo-pg
  namespace: lab
  annotations: {perflab.dev/fingerprint: "`+environment.FingerprintOf(intents[0])+`"}
  labels:
    app.kubernetes.io/managed-by: perflab
    perflab.dev/component: postgres
    perflab.dev/experiment: demo
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, name: demo, uid: "1"}]
spec:
  instances: 1
  storage: {size: 1Gi}
  enableSuperuserAccess: false
  smartShutdownTimeout: 5
  bootstrap: {initdb: {database: app, owner: app}}
  postgresql:
    parameters: {pg_stat_statements.max: "10000", pg_stat_statements.track: all}
`)
}

func TestBuildLarge(t *testing.T) {
	yamlcmp.Equal(t, postgres.Build(request(large()))[0].Object["spec"], `
instances: 3
imageName: postgresql:15.4
storage: {size: 10Gi, storageClass: fast}
resources: {requests: {cpu: "2"}}
enableSuperuserAccess: false
smartShutdownTimeout: 5
bootstrap: {initdb: {database: app, owner: app}}
postgresql:
  parameters:
    max_connections: "300"
    pg_stat_statements.max: "500"
    pg_stat_statements.track: all
    synchronous_commit: remote_apply
  synchronous: {method: any, number: 2, dataDurability: required}
`)
}

func TestSynchronous(t *testing.T) {
	cases := map[string]struct {
		reason    string
		instances int32
		split     *v1alpha1.ReadWriteSplit
		// want is the number of replicas a commit waits for.
		want any
	}{
		"NoSplit":      {instances: 2},
		"Asynchronous": {instances: 2, split: &v1alpha1.ReadWriteSplit{Enabled: true}},
		"Synchronous":  {instances: 2, split: &v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true}, want: int64(1)},
		"ReadsOff":     {reason: "a baseline may differ in the reads alone", instances: 2, split: &v1alpha1.ReadWriteSplit{Synchronous: true}, want: int64(1)},
		"Alone":        {reason: "CloudNativePG refuses to wait for more replicas than there are", instances: 1, split: &v1alpha1.ReadWriteSplit{Synchronous: true}},
		"Undeclared":   {reason: "no number of instances is one instance", split: &v1alpha1.ReadWriteSplit{Synchronous: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := postgres.Build(request(&v1alpha1.Postgres{Instances: tc.instances, ReadWriteSplit: tc.split}))[0]
			server := cluster.Object["spec"].(map[string]any)["postgresql"].(map[string]any)
			var number any
			if synchronous, found := server["synchronous"].(map[string]any); found {
				number = synchronous["number"]
			}
			if number != tc.want {
				t.Errorf("waits for %v, want %v: %s", number, tc.want, tc.reason)
			}
			commit := server["parameters"].(map[string]any)["synchronous_commit"]
			if (commit == "remote_apply") != (tc.want != nil) {
				t.Errorf("synchronous_commit is %v", commit)
			}
		})
	}
}

// Which arms share a database and which need one of their own.
func TestFingerprint(t *testing.T) {
	cases := map[string]struct {
		edit    func(*v1alpha1.Postgres)
		changed bool
	}{
		"Nothing":      {edit: func(*v1alpha1.Postgres) {}},
		"ReadsOff":     {edit: func(p *v1alpha1.Postgres) { p.ReadWriteSplit.Enabled = false }},
		"Exclude":      {edit: func(p *v1alpha1.Postgres) { p.ReadWriteSplit.Exclude = nil }},
		"Asynchronous": {edit: func(p *v1alpha1.Postgres) { p.ReadWriteSplit.Synchronous = false }, changed: true},
		"NoSplit":      {edit: func(p *v1alpha1.Postgres) { p.ReadWriteSplit = nil }, changed: true},
		"Instances":    {edit: func(p *v1alpha1.Postgres) { p.Instances = 2 }, changed: true},
		"Parameters":   {edit: func(p *v1alpha1.Postgres) { p.Parameters["work_mem"] = "8MB" }, changed: true},
		"Image":        {edit: func(p *v1alpha1.Postgres) { p.Image = "postgresql:16" }, changed: true},
		"Storage":      {edit: func(p *v1alpha1.Postgres) { p.Storage = nil }, changed: true},
		"Resources":    {edit: func(p *v1alpha1.Postgres) { p.Resources = corev1.ResourceRequirements{} }, changed: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			edited := large()
			tc.edit(edited)
			before := environment.FingerprintOf(postgres.Build(request(large()))[0])
			after := environment.FingerprintOf(postgres.Build(request(edited))[0])
			if (before != after) != tc.changed {
				t.Errorf("the fingerprint changed: %t, want %t", before != after, tc.changed)
			}
		})
	}
	plain := environment.FingerprintOf(postgres.Build(request(&v1alpha1.Postgres{Instances: 2}))[0])
	split := environment.FingerprintOf(postgres.Build(request(&v1alpha1.Postgres{Instances: 2, ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: true}}))[0])
	if plain != split {
		t.Error("turning the split on rebuilds the database")
	}
}

func TestBuildTwiceAndEditNothing(t *testing.T) {
	req := request(large())
	first := postgres.Build(req)
	if diff := cmp.Diff(first, postgres.Build(req)); diff != "" {
		t.Errorf("built twice is not the same:\n%s", diff)
	}
	// It panics on anything but the values of plain JSON.
	first[0].DeepCopy()
	if diff := cmp.Diff(request(large()), req); diff != "" {
		t.Errorf("the request was edited:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	req := request(large())
	writer, reader := postgres.Hosts(req)
	if writer != "demo-pg-rw" || reader != "demo-pg-ro" || postgres.SecretName(req) != "demo-pg-app" {
		t.Errorf("writer %q, reader %q, secret %q", writer, reader, postgres.SecretName(req))
	}
	if intents := postgres.Build(request(nil)); len(intents) != 0 {
		t.Errorf("%d intents for a system without PostgreSQL", len(intents))
	}
}
