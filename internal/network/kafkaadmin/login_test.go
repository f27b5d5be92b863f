// SPDX-License-Identifier: Apache-2.0

package kafkaadmin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/network/allowedhosts"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestLogin(t *testing.T) {
	const password = "s3cret-word"
	served, authority := certificate(t)
	_, other := certificate(t)
	cases := map[string]struct {
		options []kfake.Opt
		edit    func(*kafkaadmin.Brokers)
		// refuse makes the brokers report that the login is wrong, as Kafka
		// does: kfake closes the connection instead.
		refuse bool
		// want is part of the error; empty: the login succeeds.
		want string
	}{
		"Scram512": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "perflab", password)},
			edit:    func(b *kafkaadmin.Brokers) { b.Mechanism = v1alpha1.SASLScramSHA512 },
		},
		"Scram256": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "perflab", password)},
			edit:    func(b *kafkaadmin.Brokers) { b.Mechanism = v1alpha1.SASLScramSHA256 },
		},
		"PlainOverTLS": {
			options: []kfake.Opt{kfake.TLS(served), kfake.EnableSASL(), kfake.Superuser("PLAIN", "perflab", password)},
			edit: func(b *kafkaadmin.Brokers) {
				b.Mechanism, b.TLS, b.CA = v1alpha1.SASLPlain, true, authority
			},
		},
		"WrongPassword": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "perflab", "other")},
			edit:    func(b *kafkaadmin.Brokers) { b.Mechanism, b.InsecurePlaintext = v1alpha1.SASLPlain, true },
			refuse:  true,
			want:    "kafka.external.sasl.credentialsSecret",
		},
		"PlainInPlaintext": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "perflab", password)},
			edit:    func(b *kafkaadmin.Brokers) { b.Mechanism = v1alpha1.SASLPlain },
			want:    "in clear text: write kafka.external.tls: {}",
		},
		"PlainInPlaintextAsDeclared": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "perflab", password)},
			edit:    func(b *kafkaadmin.Brokers) { b.Mechanism, b.InsecurePlaintext = v1alpha1.SASLPlain, true },
		},
		"AHostThatIsAllowed": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "perflab", password)},
			edit: func(b *kafkaadmin.Brokers) {
				b.Mechanism, b.Hosts = v1alpha1.SASLScramSHA512, allowed(t, "127.0.0.1")
			},
		},
		"AHostThatIsNot": {
			options: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "perflab", password)},
			edit: func(b *kafkaadmin.Brokers) {
				b.Mechanism, b.Hosts = v1alpha1.SASLScramSHA512, allowed(t, "*.example.org")
			},
			want: `the login of Secret "msk" may not be sent to "127.0.0.1:`,
		},
		"WrongAuthority": {
			options: []kfake.Opt{kfake.TLS(served)},
			edit:    func(b *kafkaadmin.Brokers) { b.TLS, b.CA = true, other },
			want:    "not signed by kafka.external.tls.ca",
		},
		"NoCertificate": {
			edit: func(b *kafkaadmin.Brokers) { b.TLS, b.CA = true, []byte("-----") },
			want: "not refer to a PEM certificate",
		},
		"TLSMissing": {
			options: []kfake.Opt{kfake.TLS(served)},
			edit:    func(*kafkaadmin.Brokers) {},
			want:    "TLS",
		},
		"UnknownMechanism": {
			edit: func(b *kafkaadmin.Brokers) { b.Mechanism = "GSSAPI" },
			want: "GSSAPI",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, brokers := start(t, tc.options...)
			if tc.refuse {
				cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
					cluster.KeepControl()
					response := request.(*kmsg.SASLAuthenticateRequest).ResponseKind().(*kmsg.SASLAuthenticateResponse)
					response.ErrorCode = kerr.SaslAuthenticationFailed.Code
					return response, nil, true
				})
			}
			brokers.Username, brokers.Password = "perflab", password
			tc.edit(&brokers)
			_, err := admin.EnsureTopics(t.Context(), brokers, numbered(1, 1), 0)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("gave %v, want %q", err, tc.want)
			}
			for _, said := range []string{fmt.Sprint(err), fmt.Sprintf("%v %+v %#v %s", brokers, brokers, brokers, brokers)} {
				if strings.Contains(said, password) {
					t.Errorf("the password is told: %s", said)
				}
			}
		})
	}
}

// certificate returns a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (served *tls.Config, authority []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brokers"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	expect.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
}

// allowed returns the hosts that a Secret's annotation names.
func allowed(t *testing.T, annotation string) allowedhosts.List {
	t.Helper()
	secret := &corev1.Secret{}
	secret.Name, secret.Annotations = "msk", map[string]string{v1alpha1.AnnotationHosts: annotation}
	list, err := allowedhosts.ParseSecret(secret, nil)
	expect.NoError(t, err)
	return list
}

// Brokers describe further addresses. The login is not sent to those that the Secret does not
// allow.
func TestLoginIsSentOnlyToAllowedHosts(t *testing.T) {
	cluster, brokers := start(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "perflab", "s3cret-word"))
	addresses := cluster.ListenAddrs()
	asked := count(cluster, kmsg.SASLHandshake)
	brokers.Servers, brokers.Mechanism, brokers.Username, brokers.Password = addresses[:1], v1alpha1.SASLScramSHA512, "perflab", "s3cret-word"
	brokers.Hosts = allowed(t, addresses[0])
	_, err := admin.Describe(t.Context(), brokers)
	var elsewhere *allowedhosts.NotAllowed
	if !errors.As(err, &elsewhere) || elsewhere.Address != addresses[1] && elsewhere.Address != addresses[2] {
		t.Fatalf("%v, want a word about one of %q", err, addresses[1:])
	}
	if strings.Contains(err.Error(), "s3cret-word") {
		t.Errorf("the password is told: %v", err)
	}
	before := *asked
	brokers.Hosts = allowed(t, strings.Join(addresses, ","))
	if _, err := admin.Describe(t.Context(), brokers); err != nil || *asked-before <= before {
		t.Errorf("with all of them allowed: %v, %d logins, before %d", err, *asked-before, before)
	}
}
