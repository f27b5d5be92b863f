// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// ledgerBrokers is the entry of a ledger with the brokers.
const ledgerBrokers = "brokers.json"

// Ledger returns the ConfigMap with the external brokers in which the experiment has
// topics. It is created before the first topic, and its finalizer keeps it until the last
// is deleted, even if the runs are deleted. It holds no secret. Other users may change it:
// see [ReadLedger].
func Ledger(req environment.Request) *corev1.ConfigMap {
	external := req.System.Kafka.External
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       req.Namespace,
			Name:            req.Names.TopicLedger(req.Experiment, external),
			Labels:          naming.ComponentLabels(req.Experiment, environment.ComponentTopic),
			OwnerReferences: []metav1.OwnerReference{req.Owner},
			Finalizers:      []string{v1alpha1.Finalizer},
		},
		Data: map[string]string{ledgerBrokers: encoded(external)},
	}
}

// NewLedgerRef returns the reference to a run's ledger; nil if PerfLab runs the brokers.
func NewLedgerRef(run *v1alpha1.PerfRun) *v1alpha1.TopicLedger {
	kafka := run.Spec.System.Kafka
	if kafka == nil || !IsExternal(kafka) {
		return nil
	}
	return &v1alpha1.TopicLedger{
		Name:   naming.RunScheme(run).TopicLedger(run.Spec.Experiment, kafka.External),
		Digest: naming.Hash(encoded(kafka.External)),
	}
}

// ReadLedger parses the brokers in a ledger. It fails unless a known reference has the
// ledger's exact digest, because the operator sends a login to these brokers.
func ReadLedger(ledger *corev1.ConfigMap, known []v1alpha1.TopicLedger) (*v1alpha1.ExternalKafka, error) {
	text := ledger.Data[ledgerBrokers]
	if !slices.Contains(known, v1alpha1.TopicLedger{Name: ledger.Name, Digest: naming.Hash(text)}) {
		return nil, fmt.Errorf("ConfigMap %q has changed since the operator wrote it, so the operator ignores it", ledger.Name)
	}
	brokers := &v1alpha1.ExternalKafka{}
	if err := json.Unmarshal([]byte(text), brokers); err != nil {
		return nil, fmt.Errorf("reading ConfigMap %q: %w", ledger.Name, err)
	}
	return brokers, nil
}

// IsExperimentTopic reports whether a topic in external brokers was created for the
// experiment, in any layout and by any version.
func IsExperimentTopic(experiment metav1.Object, topic string) bool {
	for _, names := range []naming.Scheme{naming.Long, naming.Short} {
		if hasLayout(topic, externalPrefix(names, experiment.GetName(), experiment.GetUID())) {
			return true
		}
	}
	return false
}

// hasLayout reports whether a topic's name is the prefix, the digest of a layout and a name.
func hasLayout(topic, prefix string) bool {
	rest, found := strings.CutPrefix(topic, prefix)
	digest, _, isLayout := strings.Cut(rest, ".")
	return found && isLayout && layoutDigest.MatchString(digest)
}

// layoutDigest is the digest of a layout; those of earlier versions have six digits.
var layoutDigest = regexp.MustCompile(`^[0-9a-f]{6}([0-9a-f]{4})?$`)

func encoded(external *v1alpha1.ExternalKafka) string {
	text, err := json.Marshal(external)
	if err != nil {
		// API values always marshal.
		panic(fmt.Sprintf("encoding %T: %v", external, err))
	}
	return string(text)
}
