// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// installed is an API server with the objects of config/webhook. It calls no webhook: its
// tests only maintain the certificate.
var installed = &apiserver.Server{}

const home = "perflab-system"

// operator returns a client with the permissions that config grants the operator.
func operator(t *testing.T) client.Client {
	t.Helper()
	config := rest.CopyConfig(installed.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + home + ":perflab-operator"}
	return apiserver.Client(t, config)
}

func administrator(t *testing.T) client.Client {
	t.Helper()
	return apiserver.Client(t, installed.Config(t))
}

// install deletes and recreates the objects of config/webhook.
func install(t *testing.T) client.Client {
	t.Helper()
	admin := administrator(t)
	namespace := &corev1.Namespace{}
	namespace.Name = home
	objects := []client.Object{
		read(t, &admissionregistrationv1.ValidatingWebhookConfiguration{}, "configuration.yaml", 0),
		read(t, &corev1.Secret{}, "secret.yaml", 0),
		read(t, &rbacv1.Role{}, "rbac.yaml", 0),
		read(t, &rbacv1.RoleBinding{}, "rbac.yaml", 1),
		read(t, &rbacv1.ClusterRole{}, "rbac.yaml", 2),
		read(t, &rbacv1.ClusterRoleBinding{}, "rbac.yaml", 3),
	}
	if err := admin.Create(t.Context(), namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("making the namespace: %v", err)
	}
	for _, object := range objects {
		expect.NoError(t, client.IgnoreNotFound(admin.Delete(t.Context(), object.DeepCopyObject().(client.Object))), "taking %s away", object.GetName())
		expect.NoError(t, admin.Create(t.Context(), object), "making %s", object.GetName())
	}
	return admin
}

func read(t *testing.T, into client.Object, file string, document int) client.Object {
	t.Helper()
	content, err := os.ReadFile(apiserver.Root("config", "webhook", file))
	expect.NoError(t, err)
	expect.NoError(t, yaml.UnmarshalStrict(bytes.Split(content, []byte("\n---\n"))[document], into), "reading %s", file)
	return into
}

// certificate returns the certificate of an operator that has just started.
func certificate(t *testing.T, now func() time.Time) *admission.Certificate {
	t.Helper()
	c := operator(t)
	return &admission.Certificate{Client: c, Live: c, Namespace: home, Configuration: "perflab", Now: now}
}

// ensure maintains the certificate with only the rights in config, which take effect after
// a moment.
func ensure(t *testing.T, certificate *admission.Certificate) {
	t.Helper()
	await.Until(t.Context(), t, 20*time.Second, "the right to keep the certificate", func() (bool, string) {
		err := certificate.Ensure(t.Context())
		if err != nil && !apierrors.IsForbidden(err) {
			t.Fatalf("keeping the certificate: %v", err)
		}
		return err == nil, fmt.Sprint(err)
	})
}

// trusted returns what the API server trusts, and the Secret.
func trusted(t *testing.T, admin client.Client) ([]byte, *corev1.Secret) {
	t.Helper()
	configuration, secret := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &corev1.Secret{}
	expect.NoError(t, admin.Get(t.Context(), client.ObjectKey{Name: "perflab"}, configuration))
	expect.NoError(t, admin.Get(t.Context(), client.ObjectKey{Namespace: home, Name: "perflab-webhook"}, secret))
	for _, webhook := range configuration.Webhooks[1:] {
		if !bytes.Equal(webhook.ClientConfig.CABundle, configuration.Webhooks[0].ClientConfig.CABundle) {
			t.Errorf("webhook %s has another authority", webhook.Name)
		}
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, secret
}

// handshake connects as the API server does.
func handshake(t *testing.T, certificate *admission.Certificate, authorities []byte) error {
	t.Helper()
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	certificate.Serve(config)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	ours, theirs := net.Pipe()
	defer ours.Close()   //nolint:errcheck // A pipe.
	defer theirs.Close() //nolint:errcheck // A pipe.
	go func() { _ = tls.Server(ours, config).HandshakeContext(t.Context()) }()
	return tls.Client(theirs, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: "perflab-webhook." + home + ".svc"}).HandshakeContext(t.Context())
}

func TestTheCertificateIsTrustedBeforeItIsServed(t *testing.T) {
	admin := install(t)
	first := certificate(t, time.Now)
	if first.Check(nil) == nil || handshake(t, first, nil) == nil {
		t.Error("the operator is ready without a certificate")
	}
	ensure(t, first)
	authorities, secret := trusted(t, admin)
	if err := handshake(t, first, authorities); err != nil {
		t.Errorf("the API server does not trust the certificate: %v", err)
	}
	if err := first.Check(nil); err != nil {
		t.Errorf("the operator is not ready: %v", err)
	}

	second := certificate(t, time.Now)
	ensure(t, second)
	if _, same := trusted(t, admin); cmp.Diff(secret.Data, same.Data) != "" || secret.ResourceVersion != same.ResourceVersion {
		t.Error("a second operator made another certificate")
	}
	if err := handshake(t, second, authorities); err != nil {
		t.Errorf("the second operator serves an untrusted certificate: %v", err)
	}
}

func TestTheCertificateIsRenewedInTime(t *testing.T) {
	admin := install(t)
	before := certificate(t, time.Now)
	ensure(t, before)
	_, first := trusted(t, admin)

	ensure(t, certificate(t, func() time.Time { return time.Now().Add(300 * 24 * time.Hour) }))
	if _, kept := trusted(t, admin); kept.ResourceVersion != first.ResourceVersion {
		t.Error("the certificate was renewed two months before its end")
	}
	// The test breaks the certificate instead of moving the clock: new
	// certificates always start at the real time.
	expire(t, admin)
	after := certificate(t, time.Now)
	ensure(t, after)
	authorities, renewed := trusted(t, admin)
	if bytes.Equal(renewed.Data["tls.crt"], first.Data["tls.crt"]) {
		t.Fatal("the certificate was not renewed")
	}
	for who, operator := range map[string]*admission.Certificate{"that has renewed it": after, "that serves the one before": before} {
		if err := handshake(t, operator, authorities); err != nil {
			t.Errorf("the operator %s is not trusted: %v", who, err)
		}
	}
}

// expire breaks the certificate and leaves its authority.
func expire(t *testing.T, admin client.Client) {
	t.Helper()
	_, secret := trusted(t, admin)
	secret.Data["tls.crt"] = []byte("worn out")
	expect.NoError(t, admin.Update(t.Context(), secret))
}

// An installation under another name has other Services, and another Secret.
func TestCertificateUnderAnotherName(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "lab-webhook"}}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "lab"}}
	there := fake.NewClientBuilder().WithScheme(apiserver.Scheme()).WithObjects(secret, configuration).Build()
	certificate := &admission.Certificate{Client: there, Live: there, Namespace: home, Prefix: "lab", Configuration: "lab", Now: time.Now}
	expect.NoError(t, certificate.Ensure(t.Context()))
	expect.NoError(t, there.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	expect.NoError(t, err)
	expect.Equal(t, []string{"lab-webhook." + home + ".svc", "lab-metrics." + home + ".svc"}, pair.Leaf.DNSNames, "names in the certificate")
}

func TestTheAuthorityIsAnnouncedAgain(t *testing.T) {
	admin := install(t)
	kept := certificate(t, time.Now)
	ensure(t, kept)
	fresh := read(t, &admissionregistrationv1.ValidatingWebhookConfiguration{}, "configuration.yaml", 0)
	expect.NoError(t, admin.Delete(t.Context(), fresh.DeepCopyObject().(client.Object)))
	err := kept.Ensure(t.Context())
	if err == nil || !strings.Contains(err.Error(), "apply config/webhook if it does not exist") {
		t.Errorf("it is not said what is missing: %v", err)
	}
	expect.NoError(t, admin.Create(t.Context(), fresh))
	ensure(t, kept)
	authorities, _ := trusted(t, admin)
	if err := handshake(t, kept, authorities); err != nil {
		t.Errorf("the API server does not trust the certificate: %v", err)
	}
}

func TestOperatorReadsOnlyItsSecret(t *testing.T) {
	admin := install(t)
	ensure(t, certificate(t, time.Now))
	other := &corev1.Secret{}
	other.Namespace, other.GenerateName = home, "other-"
	expect.NoError(t, admin.Create(t.Context(), other))
	c := operator(t)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(other), &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Errorf("it may read another Secret: %v", err)
	}
	if err := c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(home)); !apierrors.IsForbidden(err) {
		t.Errorf("it may list Secrets: %v", err)
	}
}
