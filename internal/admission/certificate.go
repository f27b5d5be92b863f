// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
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

// Names of the objects in config/webhook and config/metrics.
const (
	// serviceName leads the API server to the operator.
	serviceName = "perflab-webhook"
	// secretName holds the certificate.
	secretName = "perflab-webhook"
	// metricsServiceName leads Prometheus to the operator.
	metricsServiceName = "perflab-metrics"
	// authorityKey is the entry with the authorities that signed the
	// certificate and the one before it.
	authorityKey = "ca.crt"
)

const (
	// renewal is how long before its end a certificate is renewed.
	renewal = 30 * 24 * time.Hour
	// checkPause is the time between two looks at the certificate: whoever
	// applies the manifests anew may have taken the authority away.
	checkPause = time.Minute
	retryPause = 2 * time.Second
)

var errNoCertificate = errors.New("there is no certificate for the webhook yet")

// Certificate is the operator's own, signed by an authority made for it alone
// and told to the API server. It lives in a Secret, so that every operator
// serves the same one. The authority's key is thrown away.
type Certificate struct {
	Client client.Client
	// Live reads from the API server, past the cache: the Secret must not be
	// watched.
	Live client.Reader
	// Namespace the operator runs in.
	Namespace string
	// Configuration is the name of the ValidatingWebhookConfiguration that tells
	// the API server whom to ask.
	Configuration string
	Now           func() time.Time

	serving atomic.Pointer[tls.Certificate]
}

// NeedLeaderElection says that every operator answers, not only the leader.
func (*Certificate) NeedLeaderElection() bool { return false }

// Start keeps the certificate valid and trusted until the context ends.
func (c *Certificate) Start(ctx context.Context) error {
	for {
		pause := checkPause
		if err := c.Ensure(ctx); err != nil {
			log.FromContext(ctx).Error(err, "The webhook's certificate is not in order", "retryAfter", retryPause)
			pause = retryPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Ensure makes, renews and announces the certificate where need be. The API
// server trusts it before it is served.
func (c *Certificate) Ensure(ctx context.Context) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: secretName}
	if err := c.Live.Get(ctx, key, secret); err != nil {
		return fmt.Errorf("reading Secret %q (apply config/webhook if it is not there): %w", key, err)
	}
	pair, valid := c.read(secret)
	if !valid {
		if err := c.renew(ctx, secret); err != nil {
			return err
		}
		if pair, valid = c.read(secret); !valid {
			return fmt.Errorf("the certificate just made is not valid for %v", c.hosts())
		}
	}
	if err := c.announce(ctx, secret.Data[authorityKey]); err != nil {
		return err
	}
	c.serving.Store(&pair)
	return nil
}

// hosts are the names under which the API server and Prometheus call.
func (c *Certificate) hosts() []string {
	return []string{serviceName + "." + c.Namespace + ".svc", metricsServiceName + "." + c.Namespace + ".svc"}
}

// read says whether the Secret's certificate can serve for a while.
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

// renew writes a new certificate into the Secret. Where two operators do so at
// once, the second one's write fails and it takes the first one's.
func (c *Certificate) renew(ctx context.Context, secret *corev1.Secret) error {
	hosts := c.hosts()
	chain, key, err := cert.GenerateSelfSignedCertKey(hosts[0], nil, hosts[1:])
	if err != nil {
		return fmt.Errorf("making a certificate for %v: %w", hosts, err)
	}
	_, authority := pem.Decode(chain)
	// Another operator may still serve the certificate of the one before.
	before, _ := pem.Decode(secret.Data[authorityKey])
	authorities := bytes.Clone(authority)
	if before != nil {
		authorities = append(authorities, pem.EncodeToMemory(before)...)
	}
	secret.Data = map[string][]byte{corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key, authorityKey: authorities}
	if err := c.Client.Update(ctx, secret, kube.FieldOwner); err != nil {
		return fmt.Errorf("writing the certificate into Secret %q: %w", secretName, err)
	}
	return nil
}

// announce tells the API server which authorities to trust.
func (c *Certificate) announce(ctx context.Context, authorities []byte) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Live.Get(ctx, client.ObjectKey{Name: c.Configuration}, configuration); err != nil {
		return fmt.Errorf("reading ValidatingWebhookConfiguration %q (apply config/webhook if it is not there): %w", c.Configuration, err)
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

// Serve is the TLS setting of the servers of the webhook and of the metrics.
func (c *Certificate) Serve(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if pair := c.serving.Load(); pair != nil {
			return pair, nil
		}
		return nil, errNoCertificate
	}
}

// Check is a readiness check: the API server must not be sent here before it
// trusts what it finds.
func (c *Certificate) Check(*http.Request) error {
	if c.serving.Load() == nil {
		return errNoCertificate
	}
	return nil
}
