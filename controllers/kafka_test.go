// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/network/allowedhosts"
	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

func manyTopics(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Kafka.Topics = []v1alpha1.TopicGroup{{Group: "many", Prefix: "p", Count: ptr.To[int32](30), Partitions: 2}}
}

func TestProgressOfTopicsIsShown(t *testing.T) {
	l := newLab(t, complete)
	l.brokers.atOnce = 10
	l.create(login(), smallExperiment(t, oneArm, manyTopics))
	l.until("the first topics", func() bool {
		if len(l.brokers.names()) == 0 {
			l.play()
			l.pass()
		}
		return len(l.brokers.names()) > 0
	})
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if got := len(l.brokers.names()); got != 30 {
		t.Errorf("%d topics were made, want 30", got)
	}
	reported := strings.Join(l.line.journal, "\n")
	if strings.Contains(reported, "KafkaTopic") {
		t.Error("KafkaTopics were written: topics are made over Kafka's own API")
	}
}

// The brokers have the topics of one arm at a time: with the partitions of all arms, an arm's
// number would have no effect.
func TestTopicsOfOtherArmsAreDeleted(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.brokers.put("made-by-a-module", kafka.TopicState{Partitions: 1, Replicas: 1})
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if names := l.brokers.names(); len(names) != 2 {
		t.Errorf("topics %v, want that of the last arm and the module's", names)
	}
}

func TestPartialTopicsAreReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, manyTopics))
	l.brokers.err = &kafkaadmin.TopicError{Topic: "p-1", Code: "INVALID_CONFIG", Message: "Unknown topic config name: retention"}
	l.until("brokers", func() bool { return len(l.foreign(contract.KafkaKind("v1"))) > 0 })
	l.play()
	l.settle()
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonRefused, "INVALID_CONFIG", `"p-1"`)
	l.brokers.err = nil
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestWrongMetadataModeInvalidatesRun(t *testing.T) {
	l := newLab(t, complete)
	l.brokers.state = kafka.ClusterState{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: 2}
	l.brokers.config = []string{`topic "x" has retention.ms set to "1" in Kafka, "2" is declared`}
	l.create(login(), smallExperiment(t, oneArm))
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration,
		"Kafka runs with ZooKeeper, but KRaft is declared", "Kafka has 2 brokers, but 1 is declared", "retention.ms")
}

func TestUnsupportedZooKeeperIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Kafka.Mode = v1alpha1.KafkaModeZooKeeper
	}))
	l.until("a pull of the images", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunProvisioning })
	l.play()
	l.settle()
	for _, conditions := range [][]metav1.Condition{l.run().Status.Conditions, l.experiment("small").Status.Conditions} {
		l.expect(conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonModeNotServed,
			"kafka.strimzi.io/v1", "Strimzi 0.45.2", "in a separate Kubernetes cluster")
	}
	if kafkas := l.foreign(contract.KafkaKind("v1")); len(kafkas) != 0 {
		t.Error("a Kafka was made though its mode is not served")
	}
}

// msk replaces the experiment's Kafka by external brokers.
func msk(e *v1alpha1.PerfExperiment) {
	kafka := e.Spec.System.Kafka
	e.Spec.System.Kafka = &v1alpha1.Kafka{
		Provider: v1alpha1.KafkaProviderExternal,
		Topics:   kafka.Topics,
		External: &v1alpha1.ExternalKafka{
			BootstrapServers: []string{"b-1.msk.example.org:9096"},
			TLS:              &v1alpha1.KafkaTLS{CA: &v1alpha1.SecretKey{Name: "msk-ca", Key: "ca.crt"}},
			SASL:             &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "msk-login"}},
		},
	}
}

func mskSecrets() []client.Object {
	return []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "msk-ca"}, StringData: map[string]string{"ca.crt": "PEM"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "msk-login", Annotations: map[string]string{v1alpha1.AnnotationHosts: "*.msk.example.org"}}, StringData: map[string]string{"username": "perflab", "password": "s3cret-word"}},
	}
}

func TestExternalKafkaLifecycle(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutStrimzi = true
	l.brokers.put("theirs", kafka.TopicState{Partitions: 1, Replicas: 1})
	l.create(login())
	l.create(mskSecrets()...)
	l.create(smallExperiment(t, oneArm, msk))
	run := l.untilRun(v1alpha1.RunSucceeded)
	want := kafkaadmin.Brokers{
		Servers: []string{"b-1.msk.example.org:9096"}, TLS: true, CA: []byte("PEM"),
		Mechanism: v1alpha1.SASLScramSHA512, Username: "perflab", Password: "s3cret-word",
	}
	if got := l.brokers.asked; !slices.Equal(got.Servers, want.Servers) || string(got.CA) != "PEM" || got.Mechanism != want.Mechanism || got.Username != want.Username || got.Password != want.Password || !got.TLS {
		t.Errorf("brokers %v were called, want %v with the credentials of the Secrets", got, want)
	}
	if got := run.Status.Effective; got.KafkaMode != "KRaft" || !strings.Contains(got.KafkaVersion, "inferred") || got.Topics[0].Topics != 1 {
		t.Errorf("the effective configuration is %+v", got)
	}
	if len(l.foreign(contract.KafkaKind("v1"))) != 0 {
		t.Error("a Kafka was made beside the external one")
	}
	if len(l.brokers.names()) != 2 {
		t.Errorf("topics %v, want theirs and one of ours", l.brokers.names())
	}
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if got := l.brokers.names(); len(got) != 1 || got[0] != "theirs" {
		t.Errorf("topics %v are left, want theirs alone", got)
	}
	ledgers := &corev1.ConfigMapList{}
	if l.list(ledgers, client.MatchingLabels{v1alpha1.LabelComponent: "topic"}); len(ledgers.Items) != 0 {
		t.Errorf("%d notes are left", len(ledgers.Items))
	}
}

func TestDeletionGivesUpOnUnreachableBrokers(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	l.create(mskSecrets()...)
	l.create(smallExperiment(t, oneArm, msk))
	l.untilRun(v1alpha1.RunLoading)
	l.brokers.err = errors.New("no route to host")
	// Deletion is timed by the API server's clock.
	l.now = time.Now()
	begun := l.now
	l.remove(l.experiment("small"))
	l.until("a message with the cause", func() bool {
		experiments := l.experiments()
		return len(experiments) == 1 && strings.Contains(experiments[0].Status.WaitingFor, "no route to host")
	})
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if took := l.now.Sub(begun); took < time.Minute || took > 3*time.Minute {
		t.Errorf("the topics were given up after %s, want it after a minute", took)
	}
	reported := slices.ContainsFunc(l.events.reported, func(event string) bool {
		return strings.Contains(event, "TopicsLeft") && strings.Contains(event, "no route to host")
	})
	if !reported {
		t.Errorf("no event reports the remaining topics: %q", l.events.reported)
	}
}

// secretsAs reads Secrets as a ServiceAccount, with its rights at the API server.
type secretsAs struct {
	client.Reader
	author client.Reader
}

func (r secretsAs) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, isSecret := object.(*corev1.Secret); isSecret {
		return r.author.Get(ctx, key, object, options...)
	}
	return r.Reader.Get(ctx, key, object, options...)
}

func (l *lab) asServiceAccount(server *apiserver.Server, account string) client.Reader {
	l.t.Helper()
	config := rest.CopyConfig(server.Config(l.t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + account}
	author, err := client.New(config, client.Options{Scheme: l.admin.Scheme()})
	expect.NoError(l.t, err, "making a client")
	return secretsAs{Reader: l.admin, author: author}
}

func TestForbiddenSecretsAreReported(t *testing.T) {
	l := newLab(t, complete)
	l.live = l.asServiceAccount(complete, "perflab-system:perflab")
	l.create(login())
	l.create(mskSecrets()...)
	l.create(smallExperiment(t, oneArm, msk))
	l.until("a pull of the images", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunProvisioning })
	l.play()
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonSecretForbidden,
		"kubectl create role perflab-kafka-credentials -n "+l.namespace+" --verb=get --resource=secrets --resource-name=msk-ca --resource-name=msk-login",
		"kubectl create rolebinding perflab-kafka-credentials -n "+l.namespace+" --role=perflab-kafka-credentials --serviceaccount=perflab-system:perflab")

	// The commands' rights suffice.
	l.create(
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "perflab-kafka-credentials"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: []string{"msk-ca", "msk-login"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "perflab-kafka-credentials"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "perflab-kafka-credentials"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "perflab-system", Name: "perflab"}},
		},
	)
	l.untilRun(v1alpha1.RunSucceeded)
}

func TestMissingSecretsAreReported(t *testing.T) {
	l := newLab(t, complete)
	secrets := mskSecrets()
	delete(secrets[1].(*corev1.Secret).StringData, "password")
	l.create(login(), secrets[1], smallExperiment(t, oneArm, msk))
	l.until("a pull of the images", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunProvisioning })
	l.play()
	l.settle()
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonSecretMissing, `Secret "msk-ca" not found in namespace`)
	l.create(secrets[0])
	l.until("the next thing that is missing", func() bool {
		return slices.ContainsFunc(l.run().Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == v1alpha1.ConditionKafkaReady && strings.Contains(c.Message, `Secret "msk-login"`) && strings.Contains(c.Message, "has no key password")
		})
	})
}

// The Secret determines the hosts that its login may be sent to.
func TestLoginRequiresAllowedHosts(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		message     []string
	}{
		"no annotation": {nil, []string{`Secret "msk-login" does not name the hosts that its login may be sent to`, "'perflab.dev/hosts=b-1.msk.example.org:9096'"}},
		"other hosts": {
			map[string]string{v1alpha1.AnnotationHosts: "*.example.net"},
			[]string{`the login of Secret "msk-login" may not be sent to "b-1.msk.example.org:9096"`, "'perflab.dev/hosts=*.example.net,b-1.msk.example.org:9096'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			secrets := mskSecrets()
			secrets[1].SetAnnotations(c.annotations)
			l.create(login())
			l.create(secrets...)
			l.create(smallExperiment(t, oneArm, msk))
			l.until("a pull of the images", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunProvisioning })
			l.play()
			l.settle()
			message := append(c.message, "run: kubectl annotate secret msk-login -n "+l.namespace+" --overwrite")
			l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonHostNotAllowed, message...)
			if len(l.brokers.asked.Servers) != 0 {
				t.Errorf("brokers %v were called", l.brokers.asked)
			}
			secrets[1].SetAnnotations(map[string]string{v1alpha1.AnnotationHosts: "b-1.msk.example.org:9096"})
			l.update(secrets[1])
			l.untilRun(v1alpha1.RunSucceeded)
		})
	}
}

func TestForbiddenAdvertisedHostsAreReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login())
	l.create(mskSecrets()...)
	l.brokers.err = fmt.Errorf("unable to dial: %w", &allowedhosts.NotAllowed{Address: "evil.net:9096", Secret: "msk-login", Command: "kubectl annotate"})
	l.create(smallExperiment(t, oneArm, msk))
	l.until("a pull of the images", func() bool { return l.run() != nil && l.run().Status.Phase == v1alpha1.RunProvisioning })
	l.play()
	l.settle()
	l.expect(l.experiment("small").Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonHostNotAllowed,
		`the brokers advertise another address, and the login of Secret "msk-login" may not be sent to "evil.net:9096"`)
}
