// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/internal/kube"
)

// DefaultPrefix is the prefix of the names in config.
const DefaultPrefix = "perflab"

// authorityKey is the entry with the authorities of the current and the previous
// certificate.
const authorityKey = "ca.crt"

const (
	// renewal is how long before it expires a certificate is renewed.
	renewal = 30 * 24 * time.Hour
	// checkPause is the interval between checks of the certificate: applying the manifests
	// again may have removed the authority.
	checkPause = time.Minute
	retryPause = 2 * time.Second
)

var errNoCertificate = errors.New("there is no certificate for the webhook yet")

// Certificate is the operator's serving certificate, signed by a dedicated authority that
// is announced to the API server. It is in a Secret, so that all replicas serve the same
// one. The authority's key is discarded.
type Certificate struct {
	Client client.Client
	// Live reads from the API server without a cache: the Secret must not be watched.
	Live client.Reader
	// Namespace of the operator.
	Namespace string
	// Prefix of the names of the Services and of the Secret; empty: DefaultPrefix.
	Prefix string
	// Configuration is the name of the ValidatingWebhookConfiguration.
	Configuration string
	Now           func() time.Time

	serving atomic.Pointer[tls.Certificate]
}

// NeedLeaderElection is false: every replica serves the webhook.
func (*Certificate) NeedLeaderElection() bool { return false }

// Start keeps the certificate valid and trusted until the context ends.
func (c *Certificate) Start(ctx context.Context) error {
	for {
		pause := checkPause
		if err := c.Ensure(ctx); err != nil {
			log.FromContext(ctx).Error(err, "The webhook's certificate could not be checked or renewed", "retryAfter", retryPause)
			pause = retryPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Ensure creates, renews and announces the certificate if necessary. The API server trusts
// it before it is served.
func (c *Certificate) Ensure(ctx context.Context) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: c.webhookName()}
	if err := c.Live.Get(ctx, key, secret); err != nil {
		return fmt.Errorf("reading Secret %q (apply config/webhook if it does not exist): %w", key, err)
	}
	pair, valid := c.read(secret)
	if !valid {
		if err := c.renew(ctx, secret); err != nil {
			return err
		}
		if pair, valid = c.read(secret); !valid {
			return fmt.Errorf("the new certificate is not valid for %v", c.hosts())
		}
	}
	if err := c.announce(ctx, secret.Data[authorityKey]); err != nil {
		return err
	}
	c.serving.Store(&pair)
	return nil
}

// hosts returns the names that the API server and Prometheus use.
func (c *Certificate) hosts() []string {
	return []string{c.webhookName() + "." + c.Namespace + ".svc", c.name("metrics") + "." + c.Namespace + ".svc"}
}

// webhookName is the name of the webhook's Service, and of the Secret with the certificate.
func (c *Certificate) webhookName() string { return c.name("webhook") }

func (c *Certificate) name(part string) string { return cmp.Or(c.Prefix, DefaultPrefix) + "-" + part }

// read reports whether the Secret's certificate is still valid for a while.
func (c *Certificate) read(secret *corev1.Secret) (tls.Certificate, bool) {
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return tls.Certificate{}, false
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(secret.Data[authorityKey])
	for _, host := range c.hosts() {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: authorities, CurrentTime: c.Now().Add(renewal)})
		if err != nil {
			return pair, false
		}
	}
	return pair, true
}

// renew writes a new certificate into the Secret. If two replicas renew at once, the second
// one's write fails, and it uses the first one's certificate.
func (c *Certificate) renew(ctx context.Context, secret *corev1.Secret) error {
	hosts := c.hosts()
	chain, key, err := cert.GenerateSelfSignedCertKey(hosts[0], nil, hosts[1:])
	if err != nil {
		return fmt.Errorf("creating a certificate for %v: %w", hosts, err)
	}
	_, authority := pem.Decode(chain)
	// Another replica may still serve the previous certificate.
	before, _ := pem.Decode(secret.Data[authorityKey])
	authorities := bytes.Clone(authority)
	if before != nil {
		authorities = append(authorities, pem.EncodeToMemory(before)...)
	}
	secret.Data = map[string][]byte{corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key, authorityKey: authorities}
	if err := c.Client.Update(ctx, secret, kube.FieldOwner); err != nil {
		return fmt.Errorf("writing the certificate into Secret %q: %w", c.webhookName(), err)
	}
	return nil
}

// announce writes the authorities to the webhook configuration.
func (c *Certificate) announce(ctx context.Context, authorities []byte) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Live.Get(ctx, client.ObjectKey{Name: c.Configuration}, configuration); err != nil {
		return fmt.Errorf("reading ValidatingWebhookConfiguration %q (apply config/webhook if it does not exist): %w", c.Configuration, err)
	}
	before, changed := configuration.DeepCopy(), false
	for i := range configuration.Webhooks {
		settings := &configuration.Webhooks[i].ClientConfig
		if !bytes.Equal(settings.CABundle, authorities) {
			settings.CABundle, changed = authorities, true
		}
	}
	if !changed {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Patch(ctx, configuration, patch, kube.FieldOwner); err != nil {
		return fmt.Errorf("writing the authority into ValidatingWebhookConfiguration %q: %w", c.Configuration, err)
	}
	return nil
}

// Serve configures the TLS of the webhook and metrics servers.
func (c *Certificate) Serve(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if pair := c.serving.Load(); pair != nil {
			return pair, nil
		}
		return nil, errNoCertificate
	}
}

// Check is a readiness check: the API server must not call this replica before it trusts
// the certificate.
func (c *Certificate) Check(*http.Request) error {
	if c.serving.Load() == nil {
		return errNoCertificate
	}
	return nil
}
