// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/ports"
)

const home = "perflab-system"

var server = &apiserver.Server{Paths: []string{"config/crd"}}

func TestMain(m *testing.M) { apiserver.Main(m) }

func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(1 << 30)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	limitMemory()
	if limit := debug.SetMemoryLimit(-1); limit > 900<<20 || limit < 800<<20 {
		t.Errorf("of 1 GiB the runtime may take %d MiB", limit>>20)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory()
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("without a limit, %d bytes are one", limit)
	}
}

func TestNumberOfRuns(t *testing.T) {
	for text, want := range map[string]*int32{"12": ptr.To[int32](12), "0": ptr.To[int32](0), "-1": nil, "all": nil, "": nil, "3000000000": nil} {
		var got *int32
		err := numberOfRuns(&got)(text)
		if !ptr.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v (%v), want %v", text, got, err, want)
		}
	}
}

// The manager works with only the rights in config/.
func TestMetricsRequireAuthorization(t *testing.T) {
	admin, err := kubernetes.NewForConfig(server.Config(t))
	expect.NoError(t, err)
	apply(t, "manager/namespace.yaml", "rbac/role.yaml", "rbac/role_binding.yaml", "rbac/service_account.yaml",
		"webhook/configuration.yaml", "webhook/secret.yaml", "webhook/rbac.yaml", "metrics/rbac.yaml")
	o := options{
		k6Image: "example.org/k6:1", metricsAddress: free(t), metricsSecure: true, probeAddress: "0",
		webhook: true, webhookPort: ports.For(t), ownNamespace: home, webhookConfiguration: "perflab",
	}
	start(t, o)

	reader, stranger := token(t, admin, "prometheus"), token(t, admin, "stranger")
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "perflab-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "prometheus"}},
	}, metav1.CreateOptions{})
	expect.NoError(t, err)
	prometheus := scraper(t, admin)
	if status, _ := scrape(t, prometheus, o.metricsAddress, ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d, want 401", status)
	}
	if status, _ := scrape(t, prometheus, o.metricsAddress, stranger); status != http.StatusForbidden {
		t.Errorf("with a stranger's token: %d, want 403", status)
	}
	status, body := scrape(t, prometheus, o.metricsAddress, reader)
	for _, name := range []string{`perflab_experiments{phase="Running"} 0`, "perflab_analysis_duration_seconds_count", "controller_runtime_reconcile_total"} {
		if status != http.StatusOK || !strings.Contains(body, name) {
			t.Errorf("with a reader's token: %d without %s", status, name)
		}
	}
}

// start runs the manager as the service account until the test ends.
func start(t *testing.T, o options) {
	t.Helper()
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + home + ":perflab-operator"}
	clientset, err := kubernetes.NewForConfig(config)
	expect.NoError(t, err)
	certificate := &admission.Certificate{Namespace: home, Configuration: o.webhookConfiguration, Now: time.Now}
	managed, err := managerOptions(o, config, certificate)
	expect.NoError(t, err)
	// One process runs several managers, one after the other.
	managed.Controller.SkipNameValidation = ptr.To(true)
	manager, err := ctrl.NewManager(config, managed)
	expect.NoError(t, err, "building the manager")
	expect.NoError(t, setUp(manager, clientset, outside{}, o))
	expect.NoError(t, setUpWebhook(manager, certificate, o))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
	})
}

func apply(t *testing.T, files ...string) {
	t.Helper()
	admin := apiserver.Client(t, server.Config(t))
	for _, file := range files {
		content, err := os.ReadFile(apiserver.Root("config", file))
		expect.NoError(t, err)
		for _, document := range bytes.Split(content, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			expect.NoError(t, yaml.Unmarshal(document, &object.Object), "reading %s", file)
			expect.NoError(t, admin.Create(t.Context(), object), "making %s", object.GetName())
			if object.GetKind() == "ValidatingWebhookConfiguration" {
				// It uses a service that other tests lack.
				t.Cleanup(func() { _ = admin.Delete(context.Background(), object) })
			}
		}
	}
}

// token creates a token of a new service account.
func token(t *testing.T, admin kubernetes.Interface, name string) string {
	t.Helper()
	accounts := admin.CoreV1().ServiceAccounts(home)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	given, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	expect.NoError(t, err)
	return given.Status.Token
}

// scraper trusts only the operator's authority, as the ServiceMonitor does.
func scraper(t *testing.T, admin kubernetes.Interface) *http.Client {
	t.Helper()
	authorities := x509.NewCertPool()
	eventually(t, "an authority", func() bool {
		secret, err := admin.CoreV1().Secrets(home).Get(t.Context(), "perflab-webhook", metav1.GetOptions{})
		return err == nil && authorities.AppendCertsFromPEM(secret.Data["ca.crt"])
	})
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: authorities, ServerName: "perflab-metrics." + home + ".svc",
	}}}
}

// scrape reads the metrics. Rights take effect after a moment, and the manager
// needs a moment to serve.
func scrape(t *testing.T, from *http.Client, address, token string) (status int, body string) {
	t.Helper()
	eventually(t, "an answer", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
		expect.NoError(t, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := from.Do(request)
		if err != nil {
			return false
		}
		defer answer.Body.Close() //nolint:errcheck // It has been read.
		content, err := io.ReadAll(answer.Body)
		status, body = answer.StatusCode, string(content)
		return err == nil && status != http.StatusInternalServerError
	})
	return status, body
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	await.Until(t.Context(), t, 30*time.Second, what, func() (bool, string) { return done(), "nothing" })
}

// free is a loopback address without a listener.
func free(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", ports.For(t))
}
