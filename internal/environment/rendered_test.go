// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/images"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/systems"
)

var update = flag.Bool("update", false, "rewrite testdata")

// placed returns a system with external servers, whose modules use every declarable field of a pod.
func placed() v1alpha1.System {
	system := systems.Full()
	system.Kafka = &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderExternal, External: &v1alpha1.ExternalKafka{
		BootstrapServers: []string{"b-1.msk.example.org:9096"},
		SASL:             &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "kafka-login"}},
		TLS:              &v1alpha1.KafkaTLS{CA: &v1alpha1.SecretKey{Name: "kafka-ca", Key: "ca.crt"}},
	}}
	system.Postgres = &v1alpha1.Postgres{Provider: v1alpha1.PostgresProviderExternal, External: &v1alpha1.ExternalPostgres{
		Host: "db.example.org", ReaderHost: "db-ro.example.org", Database: "folio", CredentialsSecret: v1alpha1.SecretName{Name: "db-login"},
	}}
	module := &system.Modules[0]
	module.Placement = everything(1).Placement
	module.RunAsUser = ptr.To[int64](1000)
	module.Env = append(module.Env, corev1.EnvVar{Name: "DB_USERNAME", Value: "other"})
	module.Volumes = []v1alpha1.ModuleVolume{{Name: "cache", MountPath: "/cache"}}
	module.Ports = []v1alpha1.ModulePort{{Name: "admin", Port: 9000}}
	return system
}

// A changed rendering changes the fingerprint, so an updated operator rebuilds the environments of
// running experiments, in the middle of their blocks. If that is intended: go test
// ./internal/environment -update.
func TestRenderingMatchesGolden(t *testing.T) {
	all := declared()
	all["Placed"] = placed()
	var lines []string
	for name, system := range all {
		for _, intent := range rendered(request(system)) {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s\n", name, strings.TrimPrefix(intent.GetAPIVersion()+"/", "v1/")+intent.GetKind(), intent.GetName(),
				environment.ReadFingerprint(intent), naming.Hash(intent.Object)[:16]))
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	const golden = "testdata/rendered.golden"
	if *update {
		expect.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	expect.NoError(t, err)
	expect.Equal(t, string(want), got, "objects by fingerprint and digest")
}

func rendered(req environment.Request) []environment.Intent {
	intents := slices.Concat(postgres.Build(req), modules.Build(req, kafka.Env(req)), images.Build(req, "runner:1", "collector:1"))
	for _, apiVersion := range []string{contract.StrimziV1, contract.StrimziV1Beta2} {
		if kafka.AssessServed(req, apiVersion).Ready {
			intents = append(intents, kafka.Build(req, apiVersion)...)
		}
	}
	return intents
}
