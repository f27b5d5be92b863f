// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// importing is the name of the load that imports.
const importing = "create"

// password must never appear outside its Secret.
const password = "correct-horse-battery-staple"

// login is the Secret with the login of the load's users.
func login() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "login"},
		StringData: map[string]string{"username": "diku_admin", "password": password},
	}
}

const small = `
metadata: {name: small}
spec:
  system:
    target: {module: gateway, credentialsSecret: {name: login}}
    kafka:
      brokers: {replicas: 1}
      topics: [{group: data-import, names: [Default.diku.DI_COMPLETED], partitions: 1}]
    postgres: {instances: 1}
    modules: [{name: gateway, image: "example.org/gateway:1"}]
  arms:
  - {name: as-is, baseline: true}
  - {name: slow, set: {kafka: {topics: [{group: data-import, partitions: 2}]}}}
  scenarios:
  - name: cico
    loads: [{name: cico, checkInCheckOut: {users: 4}, duration: 10s, parallelism: 2}]
  design: {blocks: 1, seed: 7}
`

// smallExperiment is an experiment with two arms, one scenario and one block, with these edits.
func smallExperiment(t *testing.T, edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfExperiment {
	t.Helper()
	made := &v1alpha1.PerfExperiment{}
	expect.NoError(t, yaml.UnmarshalStrict([]byte(small), made), "reading the experiment")
	for _, edit := range edits {
		edit(made)
	}
	return made
}

// oneArm leaves only the baseline.
func oneArm(e *v1alpha1.PerfExperiment) { e.Spec.Arms = e.Spec.Arms[:1] }

// importUnderUsers replaces the loads by an import with users that run until it has ended.
func importUnderUsers(e *v1alpha1.PerfExperiment) {
	e.Spec.Scenarios[0].Loads = []v1alpha1.Load{
		{Name: "cico", Until: importing, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 4}},
		{Name: importing, DataImport: &v1alpha1.DataImport{Records: 500}},
	}
}

// Some tests have many cases. make test-whole tests all of them; otherwise the seed selects a third.
var (
	whole = os.Getenv("PERFLAB_TEST_WHOLE") != ""
	seed  = sampleSeed()
)

// sampleSeed is PERFLAB_TEST_SEED, or today's.
func sampleSeed() int {
	if reported, err := strconv.Atoi(os.Getenv("PERFLAB_TEST_SEED")); err == nil {
		return reported
	}
	return int(time.Now().Unix())
}

// isSampled reports whether the nth case is tested.
func isSampled(n int) bool { return whole || (n+seed)%3 == 0 }

// sample returns the cases to test.
func sample[Case any](t *testing.T, cases []Case) []Case {
	t.Helper()
	var chosen []Case
	for n, one := range cases {
		if isSampled(n) {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) < len(cases) {
		t.Logf("%d of %d cases: PERFLAB_TEST_SEED=%d draws them again, PERFLAB_TEST_WHOLE=1 tests all", len(chosen), len(cases), seed)
	}
	return chosen
}
