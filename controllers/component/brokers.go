// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/allowedhosts"
	"perflab.dev/perflab/internal/network/kafkaadmin"
)

// KafkaAdmin reads the state of Kafka brokers, and creates and deletes topics.
type KafkaAdmin interface {
	Describe(ctx context.Context, brokers kafkaadmin.Brokers) (kafka.ClusterState, error)
	Topics(ctx context.Context, brokers kafkaadmin.Brokers, wanted []kafka.Topic) (map[string]kafka.TopicState, error)
	EnsureTopics(ctx context.Context, brokers kafkaadmin.Brokers, wanted []kafka.Topic, budget time.Duration) (map[string]kafka.TopicState, error)
	RaisePartitions(ctx context.Context, brokers kafkaadmin.Brokers, topics []kafka.Topic, count int32) (changed int, err error)
	ConfigDifferences(ctx context.Context, brokers kafkaadmin.Brokers, wanted []kafka.Topic) ([]string, error)
	DeleteTopics(ctx context.Context, brokers kafkaadmin.Brokers, ours func(name string) bool) (left int, err error)
}

// ExternalBrokers reads the credentials of brokers from the Secrets that the spec names. It
// reads from the API server: the operator may get these Secrets only, so it cannot watch
// Secrets.
func ExternalBrokers(ctx context.Context, live client.Reader, namespace string, external *v1alpha1.ExternalKafka) (kafkaadmin.Brokers, *environment.Readiness, error) {
	brokers := kafkaadmin.Brokers{Servers: external.BootstrapServers, TLS: external.TLS != nil}
	secrets := secretReader{live: live, namespace: namespace, names: secretNames(external)}
	if external.TLS != nil && external.TLS.CA != nil {
		brokers.CA = secrets.read(ctx, external.TLS.CA.Name, external.TLS.CA.Key)
	}
	if external.SASL != nil {
		brokers.Mechanism = external.SASL.MechanismOrDefault()
		brokers.Username = string(secrets.read(ctx, external.SASL.CredentialsSecret.Name, corev1.BasicAuthUsernameKey))
		brokers.Password = string(secrets.read(ctx, external.SASL.CredentialsSecret.Name, corev1.BasicAuthPasswordKey))
		brokers.InsecurePlaintext = external.SASL.InsecurePlaintext
		brokers.Hosts = secrets.allowedHosts(external.BootstrapServers)
	}
	return brokers, secrets.problem, secrets.err
}

func secretNames(external *v1alpha1.ExternalKafka) []string {
	var names []string
	if external.TLS != nil && external.TLS.CA != nil {
		names = append(names, external.TLS.CA.Name)
	}
	if external.SASL != nil {
		names = append(names, external.SASL.CredentialsSecret.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// secretReader reads keys of Secrets until one cannot be read.
type secretReader struct {
	live      client.Reader
	namespace string
	// names are all Secrets that are to be read, for the advice.
	names   []string
	problem *environment.Readiness
	err     error
	// lastSecret is the Secret that was read last.
	lastSecret *corev1.Secret
}

// allowedHosts returns the hosts to which the credentials that were read last may be sent.
func (r *secretReader) allowedHosts(addresses []string) allowedhosts.List {
	if r.problem != nil || r.err != nil {
		return allowedhosts.List{}
	}
	list, err := allowedhosts.ParseSecret(r.lastSecret, addresses)
	if err != nil {
		r.setProblem(v1alpha1.ReasonHostNotAllowed, err.Error())
	}
	return list
}

func (r *secretReader) read(ctx context.Context, name, key string) []byte {
	if r.problem != nil || r.err != nil {
		return nil
	}
	secret := &corev1.Secret{}
	err := r.live.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, secret)
	switch {
	case apierrors.IsForbidden(err):
		r.setProblem(v1alpha1.ReasonSecretForbidden, secretForbiddenMessage(err, r.namespace, name, r.names))
	case apierrors.IsNotFound(err):
		r.setProblem(v1alpha1.ReasonSecretMissing, fmt.Sprintf("Secret %q not found in namespace %q: create it with the key %s", name, r.namespace, key))
	case err != nil:
		r.err = fmt.Errorf("reading Secret %q: %w", name, err)
	case len(secret.Data[key]) == 0:
		r.setProblem(v1alpha1.ReasonSecretMissing, fmt.Sprintf("Secret %q in namespace %q has no key %s: add it", name, r.namespace, key))
	default:
		r.lastSecret = secret
		return secret.Data[key]
	}
	return nil
}

func (r *secretReader) setProblem(reason, message string) {
	problem := environment.NotReady(reason, message)
	r.problem = &problem
}

// deniedUser matches the user in a Forbidden error.
var deniedUser = regexp.MustCompile(`User "([^"]+)"`)

// secretForbiddenMessage has the commands that grant the operator read access to exactly the
// Secrets that it needs.
func secretForbiddenMessage(denied error, namespace, secret string, named []string) string {
	subject := "--serviceaccount=<namespace>:<name of the operator's service account>"
	if user := deniedUser.FindStringSubmatch(denied.Error()); user != nil {
		subject = "--user=" + user[1]
		if account, found := strings.CutPrefix(user[1], "system:serviceaccount:"); found {
			subject = "--serviceaccount=" + account
		}
	}
	const role = "perflab-kafka-credentials"
	return fmt.Sprintf("the operator is not allowed to read Secret %q; to grant access, run: kubectl create role %s -n %s --verb=get --resource=secrets --resource-name=%s"+
		" && kubectl create rolebinding %s -n %s --role=%s %s",
		secret, role, namespace, strings.Join(named, " --resource-name="), role, namespace, role, subject)
}
