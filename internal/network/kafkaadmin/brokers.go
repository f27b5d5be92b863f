// SPDX-License-Identifier: Apache-2.0

// Package kafkaadmin queries Kafka's brokers and creates topics with Kafka's admin API. Each
// call connects again, has a timeout, and can be repeated: the operator may be killed during
// any of them.
package kafkaadmin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/allowedhosts"
	"perflab.dev/perflab/internal/network/egress"
)

// timeout of one request to the brokers; callers retry.
const timeout = 5 * time.Second

// maxAnswer limits a response, in bytes, because a named broker may send anything. The
// metadata of a hundred thousand partitions takes half of it.
const maxAnswer = 8 << 20

// Brokers describe how to connect to a Kafka.
type Brokers struct {
	// Servers are host:port.
	Servers []string
	// TLS encrypts the connection; CA, in PEM, is the trusted authority. Empty:
	// those of the operating system.
	TLS bool
	CA  []byte
	// Mechanism of the login. Empty: no login.
	Mechanism          v1alpha1.SASLMechanism
	Username, Password string
	// Hosts that the login may be sent to: brokers name further brokers.
	Hosts allowedhosts.List
	// InsecurePlaintext allows PLAIN without TLS.
	InsecurePlaintext bool
}

// String names the brokers. It contains no secret.
func (b Brokers) String() string { return strings.Join(b.Servers, ",") }

// GoString is the output of %#v. It contains no secret either.
func (b Brokers) GoString() string { return b.String() }

// Admin queries and changes brokers over the network.
type Admin struct {
	// Egress has the rules for addresses, also for those of brokers that other brokers
	// describe.
	Egress egress.Rules
	// Hooks are called for every request; usually there are none.
	Hooks []kgo.Hook
}

// connect returns a client, which connects on its first request.
func (a Admin) connect(b Brokers) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.WithHooks(a.Hooks...),
		kgo.ClientID("perflab"),
		kgo.SeedBrokers(b.Servers...),
		kgo.RequestTimeoutOverhead(timeout),
		kgo.RetryTimeout(timeout),
		kgo.BrokerMaxReadBytes(maxAnswer),
		kgo.FetchMaxBytes(maxAnswer),
	}
	dial, err := b.dialer(a.Egress)
	if err != nil {
		return nil, err
	}
	options = append(options, kgo.Dialer(dial))
	if b.Mechanism != "" {
		login, err := b.login()
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.SASL(login))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to Kafka at %q: %w", b, err)
	}
	return client, nil
}

// dialer connects only to the hosts that the login may be sent to, because one broker's
// response names the others.
func (b Brokers) dialer(rules egress.Rules) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	direct := rules.Dialer(timeout)
	connect := direct.DialContext
	if b.TLS {
		encryption, err := b.encryption()
		if err != nil {
			return nil, err
		}
		// The certificate must be for the name in the address.
		connect = (&tls.Dialer{NetDialer: direct, Config: encryption}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := b.Hosts.Allow(address); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return connect(ctx, network, address)
	}, nil
}

func (b Brokers) encryption() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(b.CA) == 0 {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(b.CA) {
		return nil, errors.New("kafka.external.tls.ca does not refer to a PEM certificate: it must begin with -----BEGIN CERTIFICATE-----")
	}
	return config, nil
}

func (b Brokers) login() (sasl.Mechanism, error) {
	auth := scram.Auth{User: b.Username, Pass: b.Password}
	switch b.Mechanism {
	case v1alpha1.SASLPlain:
		if !b.TLS && !b.InsecurePlaintext {
			return nil, errors.New(kafka.PlaintextRefused)
		}
		return plain.Auth{User: b.Username, Pass: b.Password}.AsMechanism(), nil
	case v1alpha1.SASLScramSHA256:
		return auth.AsSha256Mechanism(), nil
	case v1alpha1.SASLScramSHA512:
		return auth.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("the mechanism %q in kafka.external.sasl is unknown", b.Mechanism)
	}
}

// explain adds an explanation for users to an error of the client.
func explain(err error) error {
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return fmt.Errorf("the brokers reject the user name or the password of kafka.external.sasl.credentialsSecret: %w", err)
	case errors.As(err, &authority):
		return fmt.Errorf("the brokers' certificate is not signed by kafka.external.tls.ca: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no response within %s: %w", timeout, err)
	default:
		return err
	}
}
