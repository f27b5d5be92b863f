// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/testing/expect"
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
	if len(intents) != 2 || intents[1].GetKind() != "ConfigMap" {
		t.Fatalf("%d intents, want a Cluster and its queries", len(intents))
	}
	yamlcmp.Equal(t, intents[0], `
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: demo-pg
  namespace: lab
  annotations: {perflab.dev/fingerprint: "`+environment.ReadFingerprint(intents[0])+`"}
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
  bootstrap: {initdb: {database: app, owner: app, postInitSQL: [GRANT pg_monitor TO app]}}
  postgresql:
    parameters: {pg_stat_statements.max: "10000", pg_stat_statements.track: all}
  monitoring:
    metricsQueriesTTL: 1s
    customQueriesConfigMap: [{name: demo-pg-queries, key: queries}]
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
bootstrap: {initdb: {database: app, owner: app, postInitSQL: [GRANT pg_monitor TO app]}}
postgresql:
  parameters:
    max_connections: "300"
    pg_stat_statements.max: "500"
    pg_stat_statements.track: all
    synchronous_commit: remote_apply
  synchronous: {method: any, number: 2, dataDurability: required}
monitoring:
  metricsQueriesTTL: 1s
  customQueriesConfigMap: [{name: demo-pg-queries, key: queries}]
`)
}

func TestSynchronous(t *testing.T) {
	cases := map[string]struct {
		reason    string
		instances int32
		split     *v1alpha1.ReadWriteSplit
		// want is the number of replicas that a commit waits for.
		want any
	}{
		"NoSplit":      {instances: 2},
		"Asynchronous": {instances: 2, split: &v1alpha1.ReadWriteSplit{Enabled: true}},
		"Synchronous":  {instances: 2, split: &v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true}, want: int64(1)},
		"ReadsOff":     {reason: "a baseline may differ only in reads", instances: 2, split: &v1alpha1.ReadWriteSplit{Synchronous: true}, want: int64(1)},
		"Alone":        {reason: "CloudNativePG refuses to wait for more replicas than there are", instances: 1, split: &v1alpha1.ReadWriteSplit{Synchronous: true}},
		"Undeclared":   {reason: "the default is one instance", split: &v1alpha1.ReadWriteSplit{Synchronous: true}},
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

// Fingerprints determine which arms share a database.
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
			before := environment.ReadFingerprint(postgres.Build(request(large()))[0])
			after := environment.ReadFingerprint(postgres.Build(request(edited))[0])
			if (before != after) != tc.changed {
				t.Errorf("the fingerprint changed: %t, want %t", before != after, tc.changed)
			}
		})
	}
	plain := environment.ReadFingerprint(postgres.Build(request(&v1alpha1.Postgres{Instances: 2}))[0])
	split := environment.ReadFingerprint(postgres.Build(request(&v1alpha1.Postgres{Instances: 2, ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: true}}))[0])
	if plain != split {
		t.Error("turning the split on rebuilds the database")
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	req := request(large())
	first := postgres.Build(req)
	if diff := cmp.Diff(first, postgres.Build(req)); diff != "" {
		t.Errorf("built twice is not the same:\n%s", diff)
	}
	// It panics on values that are not plain JSON.
	first[0].DeepCopy()
	if diff := cmp.Diff(request(large()), req); diff != "" {
		t.Errorf("the request was edited:\n%s", diff)
	}
}

func TestAccessAndAddresses(t *testing.T) {
	split := &v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"mod-users"}}
	cases := map[string]struct {
		declared  *v1alpha1.Postgres
		access    postgres.Access
		addresses []string
	}{
		"CloudNativePG": {declared: large(), access: postgres.Access{Host: "demo-pg-rw", Port: 5432, Secret: "demo-pg-app"}},
		"External": {
			declared: &v1alpha1.Postgres{Provider: v1alpha1.PostgresProviderExternal, External: rds()},
			access:   postgres.Access{Host: "db.example.org", Port: 5432, Database: "folio", Secret: "rds"}, addresses: []string{"db.example.org:5432"},
		},
		"Reader": {
			declared: &v1alpha1.Postgres{Provider: v1alpha1.PostgresProviderExternal, External: rds(), ReadWriteSplit: split},
			access:   postgres.Access{Host: "db.example.org", Port: 5432, Database: "folio", Secret: "rds"}, addresses: []string{"db.example.org:5432", "ro.example.org:5433"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request(tc.declared)
			expect.Equal(t, tc.access, postgres.AccessTo(req), "access")
			expect.Equal(t, tc.addresses, postgres.ExternalAddresses(req), "addresses")
			external := tc.declared.External != nil
			if built := len(postgres.Build(req)); (built == 0) != external {
				t.Errorf("%d intents; PerfLab builds what is not already there and nothing else", built)
			}
			if readiness := postgres.Assess(req, environment.Observed{}); readiness.Ready != external {
				t.Errorf("with nothing observed it is %+v", readiness)
			}
		})
	}
	if intents := postgres.Build(request(nil)); len(intents) != 0 || postgres.ExternalAddresses(request(nil)) != nil {
		t.Errorf("%d intents for a system without PostgreSQL", len(intents))
	}
}

func rds() *v1alpha1.ExternalPostgres {
	return &v1alpha1.ExternalPostgres{
		Host: "db.example.org", ReaderHost: "ro.example.org", ReaderPort: 5433,
		Database: "folio", CredentialsSecret: v1alpha1.SecretName{Name: "rds"},
	}
}

func TestReplicaReaders(t *testing.T) {
	for name, tc := range map[string]struct {
		split *v1alpha1.ReadWriteSplit
		want  []string
	}{
		"NoSplit":  {},
		"Off":      {split: &v1alpha1.ReadWriteSplit{}},
		"On":       {split: &v1alpha1.ReadWriteSplit{Enabled: true}, want: []string{"mod-users", "mod-feesfines"}},
		"Excluded": {split: &v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"mod-users"}}, want: []string{"mod-feesfines"}},
		"None":     {split: &v1alpha1.ReadWriteSplit{Enabled: true, Exclude: []string{"mod-users", "mod-feesfines"}}},
	} {
		req := request(&v1alpha1.Postgres{Instances: 2, ReadWriteSplit: tc.split})
		req.System.Modules = []v1alpha1.Module{{Name: "mod-users"}, {Name: "mod-feesfines"}}
		expect.Equal(t, tc.want, postgres.ReplicaReaders(req), "%s", name)
	}
}

func TestStatementsOff(t *testing.T) {
	parameters := func(declared *v1alpha1.Postgres) any {
		return postgres.Build(request(declared))[0].Object["spec"].(map[string]any)["postgresql"].(map[string]any)["parameters"]
	}
	yamlcmp.Equal(t, parameters(&v1alpha1.Postgres{Statements: ptr.To(false), Parameters: map[string]string{"work_mem": "8MB"}}), `work_mem: 8MB`)
	yamlcmp.Equal(t, parameters(&v1alpha1.Postgres{Statements: ptr.To(true)}), `{pg_stat_statements.max: "10000", pg_stat_statements.track: all}`)
}

func TestPoolers(t *testing.T) {
	pooled := func(edit func(*v1alpha1.Postgres)) []environment.Intent {
		declared := large()
		declared.Pooler = &v1alpha1.Pooler{}
		edit(declared)
		return postgres.Build(request(declared))[2:]
	}
	both := pooled(func(p *v1alpha1.Postgres) {
		p.Pooler = &v1alpha1.Pooler{Instances: 2, Mode: "transaction", Parameters: map[string]string{"default_pool_size": "50"}}
	})
	if len(both) != 2 || both[0].GetName() != "demo-pg-pooler-rw" || both[1].GetName() != "demo-pg-pooler-ro" {
		t.Fatalf("Poolers %v, want one each for the primary and the replicas", both)
	}
	yamlcmp.Equal(t, both[1].Object["spec"], `
cluster: {name: demo-pg}
type: ro
instances: 2
pgbouncer: {poolMode: transaction, parameters: {default_pool_size: "50"}}
`)
	alone := pooled(func(p *v1alpha1.Postgres) { p.ReadWriteSplit.Enabled = false })
	if len(alone) != 1 {
		t.Fatalf("%d Poolers without reads from replicas, want 1", len(alone))
	}
	yamlcmp.Equal(t, alone[0].Object["spec"], `{cluster: {name: demo-pg}, type: rw, instances: 1, pgbouncer: {poolMode: session}}`)
}

func TestPlacement(t *testing.T) {
	declared := &v1alpha1.Postgres{Instances: 2, Placement: &v1alpha1.Placement{
		NodeSelector:   map[string]string{"node.kubernetes.io/instance-type": "r7g.xlarge"},
		Tolerations:    []corev1.Toleration{{Key: "lab", Operator: corev1.TolerationOpExists}},
		TopologySpread: []v1alpha1.Spread{{TopologyKey: "topology.kubernetes.io/zone"}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: "Exists"}}}},
		}}},
	}}
	spec := postgres.Build(request(declared))[0].Object["spec"].(map[string]any)
	yamlcmp.Equal(t, spec["affinity"], `
nodeSelector: {node.kubernetes.io/instance-type: r7g.xlarge}
tolerations: [{key: lab, operator: Exists}]
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}
`)
	yamlcmp.Equal(t, spec["topologySpreadConstraints"], `
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {cnpg.io/cluster: demo-pg, cnpg.io/podRole: instance}}
`)
}

func TestPatchesApplyToClusterAndPoolers(t *testing.T) {
	declared := large()
	declared.Pooler = &v1alpha1.Pooler{}
	req := request(declared)
	merge := func(kind v1alpha1.PatchKind, text string) v1alpha1.Patch {
		return v1alpha1.Patch{Kind: kind, Merge: runtime.RawExtension{Raw: []byte(text)}}
	}
	plain := environment.ReadFingerprint(postgres.Build(req)[0])
	req.System.Patches = []v1alpha1.Patch{
		merge("Cluster", `{"spec": {"logLevel": "debug"}}`),
		merge("Pooler", `{"spec": {"pgbouncer": {"image": "pgbouncer:1"}}}`),
	}
	intents := postgres.Build(req)
	if level := intents[0].Object["spec"].(map[string]any)["logLevel"]; level != "debug" {
		t.Errorf("the Cluster's logLevel is %v", level)
	}
	yamlcmp.Equal(t, intents[2].Object["spec"].(map[string]any)["pgbouncer"], `{poolMode: session, image: "pgbouncer:1"}`)
	if environment.ReadFingerprint(intents[0]) == plain {
		t.Error("a patched Cluster has the fingerprint of the plain one: it would not be rebuilt")
	}
}
