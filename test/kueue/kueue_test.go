//go:build kueue

// SPDX-License-Identifier: Apache-2.0

package kueue

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/ports"
)

const (
	namespace      = "lab"
	kueueNamespace = "kueue-system"
)

// lab is an API server with Kueue and the operator.
type lab struct {
	*testing.T
	admin      client.Client
	kubeconfig string
}

// TestKueueAdmitsBlocks: two experiments' blocks don't fit together. The second one
// waits, with Kueue's own reason, until the first one is deleted.
func TestKueueAdmitsBlocks(t *testing.T) {
	l := newLab(t)
	l.createAll("testdata/queues.yaml", "")
	l.createAll("testdata/experiment.yaml", "first")
	l.until("the first block", func() (bool, string) { return l.countRuns("first") == 1, l.waitMessage("first") })

	l.createAll("testdata/experiment.yaml", "second")
	l.until("Kueue's reason", func() (bool, string) {
		says := l.waitMessage("second")
		return strings.Contains(says, "waiting for Kueue's queue team-a: ") && strings.Contains(says, "insufficient unused quota for cpu"), says
	})
	if runs := l.countRuns("second"); runs != 0 {
		t.Errorf("the second one has %d runs beside the first", runs)
	}
	first := &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"}}
	expect.NoError(t, l.admin.Delete(t.Context(), first))
	l.until("the second one's block", func() (bool, string) { return l.countRuns("second") == 1, l.waitMessage("second") })
}

// TestMissingQueueIsReported with Kueue's message.
func TestMissingQueueIsReported(t *testing.T) {
	l := newLab(t)
	l.createAll("testdata/experiment.yaml", "lost")
	l.until("Kueue's reason", func() (bool, string) {
		says := l.waitMessage("lost")
		return strings.Contains(says, "team-a doesn't exist"), says
	})
	l.createAll("testdata/queues.yaml", "")
	l.until("its block", func() (bool, string) { return l.countRuns("lost") == 1, l.waitMessage("lost") })
}

func newLab(t *testing.T) *lab {
	t.Helper()
	server := &apiserver.Server{Paths: []string{"config/crd", filepath.Join(required(t, "KUEUE_SOURCE"), "config", "components", "crd", "bases")}}
	t.Cleanup(func() { must(t, server.Stop()) })
	l := &lab{T: t, admin: apiserver.Client(t, server.Config(t), apiextensionsv1.AddToScheme), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	must(t, os.WriteFile(l.kubeconfig, server.Kubeconfig(t), 0o600))
	for _, name := range []string{namespace, "perflab-system", kueueNamespace} {
		must(t, l.admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	l.startKueue()
	l.start(required(t, "MANAGER"), "--webhook=false", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--own-namespace=perflab-system",
		"--k6-image=example.org/k6:1", "--collector-image=example.org/collector:1")
	return l
}

// addConversion adds a conversion webhook to each of Kueue's kinds. It is never called,
// since all objects have the stored version, but Kueue sets its certificate there.
func (l *lab) addConversion(port int) {
	kinds := &apiextensionsv1.CustomResourceDefinitionList{}
	must(l.T, l.admin.List(l.Context(), kinds))
	for i := range kinds.Items {
		if kinds.Items[i].Spec.Group != queue.WorkloadKind.Group {
			continue
		}
		kinds.Items[i].Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(fmt.Sprintf("https://127.0.0.1:%d/convert", port))},
			},
		}
		must(l.T, l.admin.Update(l.Context(), &kinds.Items[i]))
	}
}

// startKueue starts Kueue without registering its webhooks.
func (l *lab) startKueue() {
	port, dir := ports.For(l), l.TempDir()
	l.addConversion(port)
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	must(l.T, err, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	// Its certificates are stored in these.
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: kueueNamespace, Name: "kueue-webhook-server-cert"}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kueue-validating-webhook-configuration"}},
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kueue-mutating-webhook-configuration"}},
	} {
		must(l.T, l.admin.Create(l.Context(), object))
	}
	path := filepath.Join(dir, "kueue.yaml")
	must(l.T, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: %s
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
integrations: {frameworks: [batch/job]}
leaderElection: {leaderElect: false}
`, kueueNamespace, ports.For(l), port, dir), 0o600))
	l.start(required(l.T, "KUEUE"), "--config="+path, "--feature-gates=VisibilityOnDemand=false")
}

// start runs a program until the test ends. If the test failed, it prints the log.
func (l *lab) start(program string, arguments ...string) {
	l.Helper()
	said := &strings.Builder{}
	command := exec.CommandContext(context.Background(), program, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig)
	command.Stdout, command.Stderr = said, said
	must(l.T, command.Start())
	l.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		force := time.AfterFunc(15*time.Second, func() { _ = command.Process.Kill() })
		_ = command.Wait()
		force.Stop()
		if l.Failed() {
			text := said.String()
			l.Logf("log of %s:\n%s", filepath.Base(program), text[max(0, len(text)-20000):])
		}
	})
}

// createAll creates the objects of a file, with another name.
func (l *lab) createAll(path, name string) {
	l.Helper()
	text, err := os.ReadFile(path)
	must(l.T, err)
	for _, part := range strings.Split(strings.ReplaceAll(string(text), "NAME", name), "\n---\n") {
		object := &unstructured.Unstructured{}
		must(l.T, yaml.Unmarshal([]byte(part), &object.Object), l.admin.Create(l.Context(), object))
	}
}

func (l *lab) countRuns(experiment string) int {
	l.Helper()
	runs := &v1alpha1.PerfRunList{}
	must(l.T, l.admin.List(l.Context(), runs, client.InNamespace(namespace)))
	count := 0
	for i := range runs.Items {
		if runs.Items[i].Spec.Experiment == experiment {
			count++
		}
	}
	return count
}

func (l *lab) waitMessage(experiment string) string {
	l.Helper()
	found := &v1alpha1.PerfExperiment{}
	must(l.T, l.admin.Get(l.Context(), client.ObjectKey{Namespace: namespace, Name: experiment}, found))
	return found.Status.WaitingFor
}

// until waits for a condition, and reports the last state on a timeout.
func (l *lab) until(what string, holds func() (bool, string)) {
	l.Helper()
	await.Until(l.Context(), l.T, 2*time.Minute, what, holds)
}

func required(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run this by make test-kueue", name)
	}
	return value
}

func must(t *testing.T, faults ...error) {
	t.Helper()
	for _, err := range faults {
		expect.NoError(t, err)
	}
}
